#include "bench/valijson_peer.h"

#include <rapidjson/document.h>

#include <list>
#include <valijson/adapters/rapidjson_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

namespace assay::bench {

using valijson::adapters::RapidJsonAdapter;

struct ValijsonPeer::Parts {
  valijson::Schema schema;
  valijson::Validator validator;
  std::list<rapidjson::Document> kept;

  bool is_valid(const rapidjson::Document& document) {
    const RapidJsonAdapter adapter(document);
    return validator.validate(schema, adapter, nullptr);
  }
};

ValijsonPeer::ValijsonPeer(const std::string& schema) : parts_(std::make_unique<Parts>()) {
  rapidjson::Document document;
  document.Parse(schema.data(), schema.size());
  const RapidJsonAdapter adapter(document);
  valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
  parser.populateSchema(adapter, parts_->schema);
}

ValijsonPeer::~ValijsonPeer() = default;

bool ValijsonPeer::parse_and_validate(const std::string& text) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(text.data(), text.size());
  return !document.HasParseError() && parts_->is_valid(document);
}

void ValijsonPeer::keep(const std::vector<std::string>& documents) {
  for (const std::string& text : documents) parts_->kept.emplace_back().Parse(text.data(), text.size());
}

std::size_t ValijsonPeer::validate_kept() {
  std::size_t valid = 0;
  for (const rapidjson::Document& document : parts_->kept) valid += parts_->is_valid(document) ? 1 : 0;
  return valid;
}

}  // namespace assay::bench

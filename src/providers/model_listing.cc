#include "providers/model_listing.h"

#include <optional>
#include <utility>

#include "json/document.h"
#include "json/limits.h"

namespace assay::providers {
namespace {

constexpr json::Caps kListingCaps{.bytes_max = kModelListingBytesMax, .depth_max = 64, .values_max = 1'000'000};

std::optional<json::Value> entries_of(json::Value root) {
  if (root.is(json::Kind::Array)) return root;
  if (!root.is(json::Kind::Object)) return std::nullopt;
  for (const std::string_view key : {"data", "models"}) {
    const auto member = root.find(key);
    if (member && member->is(json::Kind::Array)) return member;
  }
  return std::nullopt;
}

std::string_view id_of(json::Value entry) {
  if (entry.is(json::Kind::String)) return entry.string();
  if (!entry.is(json::Kind::Object)) return {};
  for (const std::string_view key : {"id", "name"}) {
    const auto member = entry.find(key);
    if (member && member->is(json::Kind::String)) return member->string();
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>, Failure> parse_model_listing(std::string_view provider, std::string body) {
  const auto document = json::Document::parse(std::move(body), kListingCaps, json::Dialect::Lenient);
  if (!document) return fail(failure_from_protocol(provider, ProtocolFault::Malformed));
  const json::Value root = document->root();
  const auto entries = entries_of(root);
  if (!entries) {
    const auto error = root.is(json::Kind::Object) ? root.find("error") : std::nullopt;
    if (error && !error->is(json::Kind::Null)) return fail(failure_from_error_value(provider, *error));
    return fail(failure_from_protocol(provider, ProtocolFault::Malformed));
  }
  std::vector<std::string> ids;
  for (const json::Value entry : entries->elements()) {
    const std::string_view id = id_of(entry);
    if (id.empty() || id.size() > kModelIdBytesMax || (!ids.empty() && ids.back() == id)) continue;
    if (ids.size() == kListedModelsMax) break;
    ids.emplace_back(id);
  }
  return ids;
}

}  // namespace assay::providers

// Stored metadata as it may come back: whatever is not exactly what the server writes is corruption, and what is read
// is written and read again unchanged, also with its members in another order, as JSONB keeps them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "json/document.h"
#include "json/writer.h"
#include "structured/parts_codec.h"
#include "structured/response_format.h"

namespace json = assay::json;
namespace structured = assay::structured;

namespace {

// With the members of each object from the last to the first. Depth: of stored metadata, capped.
void print_reversed(const json::Value& value, json::Writer& writer) {
  if (value.is(json::Kind::Array)) {
    writer.begin_array();
    for (const json::Value element : value.elements()) print_reversed(element, writer);
    writer.end_array();
  } else if (value.is(json::Kind::Object)) {
    std::vector<json::Member> members;
    for (const json::Member& member : value.members()) members.push_back(member);
    std::ranges::reverse(members);
    writer.begin_object();
    for (const json::Member& member : members) print_reversed(member.value, writer.key(member.key));
    writer.end_object();
  } else {
    writer.raw(value.raw());
  }
}

json::Document reread(std::string text) {
  auto document = json::Document::parse(std::move(text), json::kMetadataCaps);
  ASSAY_CHECK(document.has_value(), "what is written can be read");
  return std::move(*document);
}

template <class Part, class Decode>
bool check_part(const json::Value& stored, Decode decode) {
  const assay::Result<Part, structured::Corruption> part = decode(stored);
  if (!part) {
    ASSAY_CHECK(!part.error().what.empty(), "corruption says what");
    return false;
  }
  json::Writer writer;
  structured::encode(*part, writer);
  ASSAY_CHECK(decode(reread(writer.take()).root()) == *part, "a part survives being stored");
  json::Writer reversed;
  print_reversed(stored, reversed);
  ASSAY_CHECK(decode(reread(reversed.take()).root()) == *part, "the order of members means nothing");
  return true;
}

bool is_output(const std::string& text) { return json::Document::parse(text, json::kOutputCaps).has_value(); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = json::Document::parse(std::string(text), json::kMetadataCaps);
  if (!document) return 0;
  const json::Value stored = document->root();
  const bool is_request = check_part<structured::RequestPart>(stored, structured::decode_request);
  const bool is_control = check_part<structured::ControlPart>(stored, structured::decode_control);
  const bool is_outcome = check_part<structured::OutcomePart>(stored, structured::decode_outcome);
  ASSAY_CHECK(is_request + is_control + is_outcome <= 1, "a part is of one kind");
  if (is_request) {
    const auto part = structured::decode_request(stored);
    ASSAY_CHECK(structured::is_format_name(part->name) && !part->schema.empty(), "a request is complete");
  }
  if (is_control) {
    const auto part = structured::decode_control(stored);
    const bool is_candidate = part->kind == structured::ControlKind::Candidate;
    ASSAY_CHECK(!is_candidate || (part->finish == structured::Finish::ToolUse && is_output(part->value)),
                "a candidate holds a value of a complete step");
  }
  if (is_outcome) {
    const auto part = structured::decode_outcome(stored);
    const bool has_succeeded = part->status == structured::OutcomeStatus::Succeeded;
    ASSAY_CHECK(has_succeeded != part->error.has_value(), "either a value or an error");
    ASSAY_CHECK(!has_succeeded || is_output(part->value), "a success holds a value");
  }
  return 0;
}

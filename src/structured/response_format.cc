#include "structured/response_format.h"

#include <algorithm>
#include <utility>

#include "json/document.h"
#include "json/error.h"
#include "json/limits.h"
#include "schema/cache.h"
#include "structured/plain_text.h"

namespace assay::structured {

namespace {

constexpr std::string_view kRoot = "response_format";
constexpr std::string_view kType = "response_format.type";
constexpr std::string_view kEnvelope = "response_format.json_schema";
constexpr std::string_view kName = "response_format.json_schema.name";
constexpr std::string_view kDescription = "response_format.json_schema.description";
constexpr std::string_view kSchema = "response_format.json_schema.schema";

constexpr std::size_t kQuotedNameBytesMax = 64;

class Faults {
 public:
  void add(std::string_view field, std::string_view detail) {
    if (faults_.size() == kFaultsMax) return;
    faults_.push_back({.field = std::string(field), .detail = plain_text(detail, kFaultDetailBytesMax)});
  }
  [[nodiscard]] bool has(std::string_view field) const {
    return std::any_of(faults_.begin(), faults_.end(), [&](const FieldFault& fault) { return fault.field == field; });
  }
  [[nodiscard]] bool empty() const { return faults_.empty(); }
  std::vector<FieldFault> take() { return std::move(faults_); }

 private:
  std::vector<FieldFault> faults_;
};

bool encloses(const json::Value& value, std::size_t offset) {
  return value.offset() <= offset && offset < value.offset() + value.raw().size();
}

// The field whose value holds the byte at `offset`; a key belongs to the object it stands in.
std::string_view field_at(const json::Value& root, std::size_t offset) {
  if (!root.is(json::Kind::Object)) return kRoot;
  for (const json::Member& member : root.members()) {
    if (!encloses(member.value, offset)) continue;
    if (member.key == "type") return kType;
    if (member.key != "json_schema") return kRoot;
    if (!member.value.is(json::Kind::Object)) return kEnvelope;
    for (const json::Member& inner : member.value.members()) {
      if (!encloses(inner.value, offset)) continue;
      if (inner.key == "name") return kName;
      if (inner.key == "description") return kDescription;
      if (inner.key == "schema") return kSchema;
    }
    return kEnvelope;
  }
  return kRoot;
}

std::string describe_raw(const json::Error& error) {
  std::string detail(json::code_name(error.code));
  detail += ": ";
  detail += json::describe(error);
  return detail;
}

std::string describe(const schema::Refusal& refusal) {
  std::string detail = refusal.code_name;
  detail += ": ";
  detail += refusal.detail;
  if (!refusal.pointer.empty()) {
    detail += " (at ";
    detail += refusal.pointer;
    detail += ")";
  }
  return detail;
}

void refuse_unknown_members(const json::Value& object, std::initializer_list<std::string_view> known,
                            std::string_view field, Faults& faults) {
  for (const json::Member& member : object.members()) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    std::string detail = "unknown member \"";
    detail += plain_text(member.key, kQuotedNameBytesMax);
    detail += "\"";
    if (member.key == "strict") detail += ": validation is always on, there is no relaxed mode";
    faults.add(field, detail);
  }
}

void read_name(const json::Value& envelope, JsonSchemaFormat& format, Faults& faults) {
  const auto name = envelope.find("name");
  if (!name) return faults.add(kName, "required");
  if (!name->is(json::Kind::String) || !is_format_name(name->string())) {
    return faults.add(kName, "must be a string of 1 to 64 characters out of A-Z, a-z, 0-9, _ and -");
  }
  format.name = std::string(name->string());
}

void read_description(const json::Value& envelope, JsonSchemaFormat& format, Faults& faults) {
  const auto description = envelope.find("description");
  if (!description) return;
  if (!description->is(json::Kind::String)) return faults.add(kDescription, "must be a string");
  if (description->string().size() > kFormatDescriptionBytesMax) {
    return faults.add(kDescription, "must be at most 1024 bytes of UTF-8");
  }
  format.description = std::string(description->string());
}

void read_schema(const json::Value& envelope, JsonSchemaFormat& format, Faults& faults) {
  const auto member = envelope.find("schema");
  if (!member) return faults.add(kSchema, "required");
  if (!member->is(json::Kind::Object)) return faults.add(kSchema, "must be a JSON object");
  auto compiled = schema::process_cache().compile(member->raw());
  if (!compiled) return faults.add(kSchema, describe(compiled.error()));
  format.schema = std::string(member->raw());
  format.compiled = std::move(*compiled);
}

std::optional<JsonSchemaFormat> read_json_schema(const json::Value& root, Faults& faults) {
  const auto envelope = root.find("json_schema");
  if (!envelope) {
    faults.add(kEnvelope, "required beside type json_schema");
    return std::nullopt;
  }
  if (!envelope->is(json::Kind::Object)) {
    faults.add(kEnvelope, "must be a JSON object");
    return std::nullopt;
  }
  refuse_unknown_members(*envelope, {"name", "description", "schema"}, kEnvelope, faults);
  JsonSchemaFormat format{.name = {}, .description = std::nullopt, .schema = {}, .compiled = std::nullopt};
  read_name(*envelope, format, faults);
  read_description(*envelope, format, faults);
  read_schema(*envelope, format, faults);
  return format;
}

// Whether what the root says about `json_schema` is to be read.
FormatKind read_type(const json::Value& root, Faults& faults) {
  const bool has_schema = root.find("json_schema").has_value();
  const auto type = root.find("type");
  if (!type) {
    faults.add(kType, "required: \"text\" or \"json_schema\"");
  } else if (type->is(json::Kind::String) && type->string() == "json_schema") {
    return FormatKind::JsonSchema;
  } else if (type->is(json::Kind::String) && type->string() == "text") {
    if (has_schema) faults.add(kRoot, "json_schema is not allowed beside type text");
    return FormatKind::Text;
  } else {
    faults.add(kType, "must be \"text\" or \"json_schema\"");
  }
  return has_schema ? FormatKind::JsonSchema : FormatKind::Text;
}

}  // namespace

bool is_format_name(std::string_view name) {
  if (name.empty() || name.size() > kFormatNameBytesMax) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Result<ResponseFormat, std::vector<FieldFault>> parse_response_format(std::string_view raw_member) {
  if (raw_member.empty()) return ResponseFormat{};
  Faults faults;
  // The lenient reading gives the structure even where the strict one stops, so that a fault finds its field.
  const auto document = json::Document::parse(std::string(raw_member), json::kBodyCaps, json::Dialect::Lenient);
  if (!document) {
    faults.add(kRoot, describe_raw(document.error()));
    return fail(faults.take());
  }
  const json::Value root = document->root();
  if (root.is(json::Kind::Null)) return ResponseFormat{};
  if (!root.is(json::Kind::Object)) {
    faults.add(kRoot, "must be a JSON object or null");
    return fail(faults.take());
  }

  const auto strict = json::Document::parse(std::string(raw_member), json::kBodyCaps);
  const std::string_view fault_field = strict ? std::string_view{} : field_at(root, strict.error().offset);
  if (!strict && fault_field != kSchema) {
    faults.add(fault_field, describe_raw(strict.error()));
    return fail(faults.take());
  }

  refuse_unknown_members(root, {"type", "json_schema"}, kRoot, faults);
  ResponseFormat format{.kind = read_type(root, faults), .json_schema = std::nullopt};
  if (format.kind == FormatKind::JsonSchema) format.json_schema = read_json_schema(root, faults);
  // Compiling reports what is wrong inside the schema, with offsets of its own text.
  if (!strict && !faults.has(kSchema)) faults.add(kSchema, describe_raw(strict.error()));
  if (!faults.empty()) return fail(faults.take());
  return format;
}

}  // namespace assay::structured

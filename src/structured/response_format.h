#pragma once
// The request field `response_format` (contract: "Requests"): what a client asks for, read strictly.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/schema.h"

namespace assay::structured {

inline constexpr std::size_t kFormatNameBytesMax = 64;
inline constexpr std::size_t kFormatDescriptionBytesMax = 1024;

// ^[A-Za-z0-9_-]{1,64}$
[[nodiscard]] bool is_format_name(std::string_view name);

struct JsonSchemaFormat {
  std::string name;
  std::optional<std::string> description;
  std::string schema;                      // exactly as sent
  std::optional<schema::Schema> compiled;  // of what parse_response_format accepted: always
};

enum class FormatKind {
  Unsaid,  // absent or null: ordinary text; an edit keeps the message's own format
  Text,    // said explicitly; an edit clears the format
  JsonSchema,
};

struct ResponseFormat {
  FormatKind kind = FormatKind::Unsaid;
  std::optional<JsonSchemaFormat> json_schema;  // of JsonSchema
};

// One entry of an error body's `validations`.
struct FieldFault {
  std::string field;   // exact path: response_format.json_schema.schema
  std::string detail;  // a sentence to act on: keyword, limit, JSON pointer, byte offset; at most kFaultDetailBytesMax
  friend bool operator==(const FieldFault&, const FieldFault&) = default;
};
inline constexpr std::size_t kFaultDetailBytesMax = 1024;
inline constexpr std::size_t kFaultsMax = 16;  // further ones are left out

// `raw_member` is the field's value byte for byte as sent (json::Value::raw); empty: the field was absent. Reports each
// independent fault once. Compiles the schema: no chat lock may be held around it.
Result<ResponseFormat, std::vector<FieldFault>> parse_response_format(std::string_view raw_member);

}  // namespace assay::structured

#pragma once
// Request bodies: one JSON object, read member by member. Unknown members are ignored, null counts as absent, and what
// has the wrong type is named. Pure.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.h"
#include "base/result.h"
#include "base/uuid.h"
#include "json/document.h"

namespace assay::api {

// The largest body that a route takes unless it says otherwise: twice the system prompt's 131 072 bytes, as on the
// public API. More is 413.
inline constexpr std::size_t kBodyBytesMax = 262'144;

class Body {
 public:
  // 400 with line, column and byte offset for what is no JSON, and with the member in which the fault lies; 413 over
  // kBodyBytesMax. A fault inside `response_format` is worded by that field's own strict reader.
  static Result<Body, ApiError> parse(std::string text);

  // Each reads one member. Empty: absent or null, or of the wrong type, which faults() then tells.
  std::optional<std::string> string(std::string_view name);
  std::optional<bool> boolean(std::string_view name);
  std::optional<std::int64_t> integer(std::string_view name);
  std::optional<Uuid> uuid(std::string_view name);
  std::vector<Uuid> uuids(std::string_view name);
  std::optional<std::map<std::string, std::string>> string_map(std::string_view name);
  std::optional<json::Value> array(std::string_view name);
  // The exact text as sent, null included; empty: absent. Named twice it is a fault: neither may win silently.
  std::string_view raw_once(std::string_view name);

  // 400 with every fault met so far; nothing: all members read had their types.
  [[nodiscard]] std::optional<ApiError> faults() const;

 private:
  explicit Body(json::Document document) : document_(std::move(document)) {}
  // The member's value, unless it is absent or null.
  std::optional<json::Value> find(std::string_view name) const;
  void fault(std::string_view name, std::string detail);

  json::Document document_;
  std::vector<Validation> faults_;
};

// What is to be said of a string that cannot be stored: it holds U+0000 or half a surrogate pair. Null: it can.
const char* unstorable(json::Value string);

// A number literal with no fraction and no exponent, within 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view literal);

// Without white space (Unicode's) at either end.
std::string_view trimmed(std::string_view text);

}  // namespace assay::api

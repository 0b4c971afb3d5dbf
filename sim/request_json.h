#pragma once
// Reading requests of any wire: what is absent or of another kind is not there.
#include <optional>
#include <string>
#include <string_view>

#include "json/decimal.h"
#include "json/document.h"
#include "json/member.h"

namespace assay::sim {

inline constexpr json::Caps kRequestCaps{.bytes_max = 64 * 1024 * 1024, .depth_max = 128};

inline std::optional<json::Value> member(json::Value object, std::string_view key, json::Kind kind) {
  if (!object.is(json::Kind::Object)) return std::nullopt;
  const auto found = object.find(key);
  if (!found || !found->is(kind)) return std::nullopt;
  return found;
}

inline std::string text_member(json::Value object, std::string_view key) {
  return std::string(json::string_member(object, key).value_or(std::string_view()));
}

inline bool is_true(json::Value object, std::string_view key) {
  const auto found = member(object, key, json::Kind::Boolean);
  return found && found->boolean();
}

// A string, or the texts of an array of parts.
inline std::string content_text(json::Value message, std::string_view key) {
  if (const auto text = member(message, key, json::Kind::String)) return std::string(text->string());
  std::string text;
  if (const auto parts = member(message, key, json::Kind::Array)) {
    for (const json::Value part : parts->elements()) {
      if (!text.empty()) text += '\n';
      text += text_member(part, "text");
    }
  }
  return text;
}

}  // namespace assay::sim

#include "providers/wire_json.h"

#include <algorithm>
#include <charconv>

namespace assay::providers {

std::string_view trim(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(kWhiteSpace), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);
}

std::optional<json::Value> present(json::Value object, std::string_view key) {
  if (!object.is(json::Kind::Object)) return std::nullopt;
  const auto member = object.find(key);
  if (!member || member->is(json::Kind::Null)) return std::nullopt;
  return member;
}

std::optional<json::Value> present(json::Value object, std::string_view key, json::Kind kind) {
  const auto member = present(object, key);
  if (!member || !member->is(kind)) return std::nullopt;
  return member;
}

std::string_view text_of(json::Value object, std::string_view key) {
  const auto member = present(object, key, json::Kind::String);
  return member ? member->string() : std::string_view();
}

std::optional<std::int64_t> count_of(json::Value object, std::string_view key) {
  constexpr double kCountMax = 1e15;
  const auto member = present(object, key, json::Kind::Number);
  if (!member) return std::nullopt;
  const std::string_view text = member->number();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || value > kCountMax) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace assay::providers

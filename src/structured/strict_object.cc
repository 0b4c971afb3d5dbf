#include "structured/strict_object.h"

#include "json/decimal.h"

namespace assay::structured {

StrictObject::StrictObject(const json::Value& value) {
  if (!value.is(json::Kind::Object)) {
    faulty_ = true;
    return;
  }
  value_ = value;
  size_ = value.size();
}

std::optional<json::Value> StrictObject::take(std::string_view key, json::Kind kind, bool required) {
  if (!value_) return std::nullopt;
  const std::optional<json::Value> member = value_->find(key);
  if (!member) {
    faulty_ = faulty_ || required;
    return std::nullopt;
  }
  ++taken_;
  if (!member->is(kind)) {
    faulty_ = true;
    return std::nullopt;
  }
  return member;
}

std::string_view StrictObject::string(std::string_view key) {
  const auto member = take(key, json::Kind::String, true);
  return member ? member->string() : std::string_view{};
}

std::optional<std::string_view> StrictObject::optional_string(std::string_view key) {
  const auto member = take(key, json::Kind::String, false);
  if (!member) return std::nullopt;
  return member->string();
}

bool StrictObject::boolean(std::string_view key) {
  const auto member = take(key, json::Kind::Boolean, true);
  return member && member->boolean();
}

bool StrictObject::optional_boolean(std::string_view key) {
  const auto member = take(key, json::Kind::Boolean, false);
  return member && member->boolean();
}

std::int64_t StrictObject::integer(std::string_view key) {
  const auto member = take(key, json::Kind::Number, true);
  if (!member) return 0;
  const std::optional<std::int64_t> number = json::to_int64(*member);
  faulty_ = faulty_ || !number;
  return number.value_or(0);
}

std::optional<json::Value> StrictObject::object(std::string_view key) { return take(key, json::Kind::Object, true); }

}  // namespace assay::structured

#pragma once
// Reads a stored JSON object whose members are known exactly: what is missing, of another kind or left over is a fault.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "json/document.h"

namespace assay::structured {

// Requires: a document without duplicate keys. Ask for each member once, then whether the object was `exact`; until
// then the answers are provisional. Lifetime: as the value's.
class StrictObject {
 public:
  explicit StrictObject(const json::Value& value);

  std::string_view string(std::string_view key);
  std::optional<std::string_view> optional_string(std::string_view key);
  bool boolean(std::string_view key);
  bool optional_boolean(std::string_view key);  // absent: false
  std::int64_t integer(std::string_view key);
  std::optional<json::Value> object(std::string_view key);

  // No fault, and no member that nobody asked for.
  [[nodiscard]] bool exact() const { return !faulty_ && taken_ == size_; }

 private:
  std::optional<json::Value> take(std::string_view key, json::Kind kind, bool required);

  std::optional<json::Value> value_;  // an object
  std::size_t size_ = 0;
  std::size_t taken_ = 0;
  bool faulty_ = false;
};

}  // namespace assay::structured

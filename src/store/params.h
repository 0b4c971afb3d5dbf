#pragma once
// The parameters of one statement, in text format. This is the one gate through which text reaches PostgreSQL: what its
// types cannot hold (U+0000, bytes that are no UTF-8, escapes of U+0000 and of lone surrogates in jsonb) becomes
// U+FFFD here, so that no stray byte of a tool or a provider can make a transaction fail.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.h"

namespace assay::store {

class Params {
 public:
  Params& null();
  Params& text(std::string_view value);
  // Requires: `value` is JSON text.
  Params& json(std::string_view value);
  Params& integer(std::int64_t value);
  Params& boolean(bool value);
  Params& uuid(const Uuid& value);
  Params& integers(std::span<const std::int64_t> values);  // bigint[]
  Params& uuids(std::span<const Uuid> values);             // uuid[]

  template <class Tag>
  Params& uuid(const UuidOf<Tag>& value) {
    return uuid(value.value);
  }
  template <class Tag>
  Params& uuid(const std::optional<UuidOf<Tag>>& value) {
    return value ? uuid(value->value) : null();
  }
  Params& text(const std::optional<std::string>& value) { return value ? text(std::string_view(*value)) : null(); }
  Params& text(const std::string& value) { return text(std::string_view(value)); }
  Params& text(const char* value) { return text(std::string_view(value)); }
  Params& integer(const std::optional<std::int64_t>& value) { return value ? integer(*value) : null(); }
  Params& boolean(const std::optional<bool>& value) { return value ? boolean(*value) : null(); }

  [[nodiscard]] std::size_t size() const { return values_.size(); }
  // Valid while this lives unchanged; nullptr means NULL.
  [[nodiscard]] std::vector<const char*> pointers() const;

 private:
  std::vector<std::optional<std::string>> values_;
};

// The JSON text with \ufffd for escapes of U+0000 and of lone surrogates in its strings, otherwise like
// chat::storable_text.
std::string storable_json(std::string_view json);

}  // namespace assay::store

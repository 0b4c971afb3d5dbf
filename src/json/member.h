#pragma once
// Reading one member of an object that may be of any shape.
#include <optional>
#include <string_view>

#include "json/document.h"

namespace assay::json {

// The string in that member; nothing where `value` is no object, lacks the member or has another kind of value there.
// Lifetime: the document's.
[[nodiscard]] inline std::optional<std::string_view> string_member(Value value, std::string_view name) {
  if (!value.is(Kind::Object)) return std::nullopt;
  const auto member = value.find(name);
  if (!member || !member->is(Kind::String)) return std::nullopt;
  return member->string();
}

}  // namespace assay::json

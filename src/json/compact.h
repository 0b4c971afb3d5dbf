#pragma once
// The same tokens without the white space between them; strings and numbers stay byte for byte as written.
#include <string>
#include <string_view>

#include "json/document.h"

namespace assay::json {

// Requires: `text` is one valid JSON value.
[[nodiscard]] std::string compact(std::string_view text);
[[nodiscard]] inline std::string compact(const Value& value) { return compact(value.raw()); }

}  // namespace assay::json

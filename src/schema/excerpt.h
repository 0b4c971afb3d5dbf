#pragma once
// Bounded quotations for messages: what is cut shows it.
#include <cstddef>
#include <string>
#include <string_view>

namespace assay::schema {

// `text`, or its beginning up to a whole UTF-8 character and an ellipsis: at most `bytes_max` bytes.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t bytes_max);

// The excerpt of `text` between double quotes, with control characters, quotes and backslashes escaped as in JSON. The
// limit holds for the whole.
[[nodiscard]] std::string quoted(std::string_view text, std::size_t bytes_max);

}  // namespace assay::schema

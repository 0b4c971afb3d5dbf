#pragma once
// Classes of single bytes.

namespace assay::json {

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace assay::json

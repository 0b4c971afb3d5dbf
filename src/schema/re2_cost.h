#pragma once
// What a search may cost RE2, for the patterns that are left to it.
#include <cstdint>
#include <string_view>

namespace assay::schema {

// How many characters, classes, groups and alternatives the expression holds once its counted repetitions are written
// out; a Unicode class (`\pL`) counts for several. One byte of text may cost RE2 a step for each. Requires: RE2 reads
// the expression.
[[nodiscard]] std::uint64_t re2_positions(std::string_view expression);

}  // namespace assay::schema

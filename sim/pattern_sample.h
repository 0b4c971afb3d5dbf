#pragma once
// Makes a string that a regular expression finds, for the part of RE2's syntax that schemas commonly use: literals,
// escapes, classes, groups, alternatives, repetition, anchors. Pure.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace assay::sim {

// A higher `extra` repeats more where the expression allows it, and adds letters where its end is not anchored. Nothing
// for syntax that is not understood, or where the sample fails to match after all.
[[nodiscard]] std::optional<std::string> pattern_sample(std::string_view pattern, std::size_t extra);

}  // namespace assay::sim

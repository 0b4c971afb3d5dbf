#pragma once
// The resource limits on a schema and on validating with it, all in one place (contract: "Schemas"). They are the first
// release's floor; raising one needs a measured worst case.
#include <cstddef>
#include <cstdint>

namespace assay::schema {

// Objects and booleans at schema positions.
inline constexpr std::size_t kNodesMax = 256;
// Members of allOf, anyOf and oneOf, and not, if, then, else and schema-form dependencies, in the whole document.
inline constexpr std::size_t kBranchesMax = 8;
// How many of those lie around one another.
inline constexpr std::size_t kBranchNestingMax = 4;
// `pattern` and names in `patternProperties`, unescaped.
inline constexpr std::size_t kPatternBytesMax = 256;
// Characters and classes of a pattern once its counted repetitions are written out, for patterns that need an automaton
// (simple_pattern.h): each may cost a step for each byte of text.
inline constexpr std::uint64_t kPatternPositionsMax = 256;
// RE2's budget for one pattern: its program and the states that matching adds. All patterns of a schema that need an
// automaton share kPatternsMemoryBytesMax.
inline constexpr std::int64_t kPatternMemoryBytesMax = 512 * 1024;
inline constexpr std::int64_t kPatternsMemoryBytesMax = 8 * 1024 * 1024;
// Names in `patternProperties` in the whole document.
inline constexpr std::size_t kPatternPropertiesMax = 4;

// Work of one validation; a unit is roughly one node applied to one value, one member looked at, 16 bytes compared, or
// two steps of a pattern's automaton at its worst: some 10 ns each.
inline constexpr std::uint64_t kWorkUnitsMax = 4'000'000;

}  // namespace assay::schema

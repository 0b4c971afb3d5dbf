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
// Characters and classes of a pattern once its counted repetitions are written out, for patterns that one pass over the
// text cannot decide (simple_pattern.h): each may cost a step for each byte of text. And of all such patterns together,
// which bounds the time and memory of compiling.
inline constexpr std::uint64_t kPatternPositionsMax = 256;
inline constexpr std::uint64_t kPatternsPositionsMax = 4096;
// For the few patterns that RE2 must match: its budget for one pattern's program and the states that matching adds, and
// what all of a schema share.
inline constexpr std::int64_t kPatternMemoryBytesMax = 256 * 1024;
inline constexpr std::int64_t kPatternsMemoryBytesMax = 512 * 1024;
// Names in `patternProperties` in the whole document.
inline constexpr std::size_t kPatternPropertiesMax = 4;

// Work of one validation; a unit is at most some 10 ns. Values at the caps under ordinary schemas take less than a
// tenth of it (bench/worst_case_bench.cc). Then, of saying what is wrong.
inline constexpr std::uint64_t kWorkUnitsMax = 250'000;
inline constexpr std::uint64_t kExplanationUnitsMax = 125'000;

}  // namespace assay::schema

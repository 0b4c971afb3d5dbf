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
// Instructions of one compiled RE2 program: what one byte can cost at worst.
inline constexpr int kPatternProgramMax = 2048;
// RE2's budget for one pattern: its program and the states that matching adds.
inline constexpr std::int64_t kPatternMemoryBytesMax = 512 * 1024;
// Names in `patternProperties` in the whole document.
inline constexpr std::size_t kPatternPropertiesMax = 4;

// Work of one validation; a unit is roughly one node applied to one value, one member looked at or 16 bytes compared.
inline constexpr std::uint64_t kWorkUnitsMax = 16'000'000;

}  // namespace assay::schema

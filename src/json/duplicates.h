#pragma once
// Equal keys in one object, found in near-linear time whatever the keys.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace assay::json {

inline constexpr std::size_t kNoDuplicate = static_cast<std::size_t>(-1);

// The index of the first key that equals an earlier one, or kNoDuplicate. A seeded table; a table that needs more than
// kProbesPerKeyMax probes a key gives way to sorting, so even known seeds cost no more than O(n log n) comparisons.
[[nodiscard]] std::size_t first_duplicate(std::span<const std::string_view> keys);

// The two ways it may take, for the tests.
using KeyHash = std::uint64_t (*)(std::string_view, std::uint64_t);
inline constexpr std::size_t kProbesPerKeyMax = 8;
struct TableSearch {
  bool gave_up;
  std::size_t duplicate;
};
[[nodiscard]] TableSearch first_duplicate_by_table(std::span<const std::string_view> keys, KeyHash hash);
[[nodiscard]] std::size_t first_duplicate_by_sorting(std::span<const std::string_view> keys);

}  // namespace assay::json

#include "json/duplicates.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "json/hash.h"

namespace assay::json {
TableSearch first_duplicate_by_table(std::span<const std::string_view> keys, KeyHash hash) {
  struct Slot {
    std::uint32_t ordinal;  // of the key, from 1; 0: free
    std::uint32_t check;    // more bits of its hash
  };
  const std::size_t mask = std::bit_ceil(keys.size() * 2) - 1;
  std::vector<Slot> slots(mask + 1, Slot{0, 0});
  std::size_t probes_left = keys.size() * kProbesPerKeyMax;
  const std::uint64_t seed = process_seed();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t h = hash(keys[i], seed);
    const auto check = static_cast<std::uint32_t>(h >> 32);
    std::size_t at = h & mask;
    for (; slots[at].ordinal != 0; at = (at + 1) & mask) {
      if (probes_left-- == 0) return {true, kNoDuplicate};
      if (slots[at].check == check && keys[slots[at].ordinal - 1] == keys[i]) return {false, i};
    }
    slots[at] = {static_cast<std::uint32_t>(i + 1), check};
  }
  return {false, kNoDuplicate};
}

std::size_t first_duplicate_by_sorting(std::span<const std::string_view> keys) {
  std::vector<std::uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t left, std::uint32_t right) {
    const int compared = keys[left].compare(keys[right]);
    return compared != 0 ? compared < 0 : left < right;
  });
  std::size_t first = kNoDuplicate;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (keys[order[i]] == keys[order[i - 1]]) first = std::min<std::size_t>(first, order[i]);
  }
  return first;
}

std::size_t first_duplicate(std::span<const std::string_view> keys) {
  const TableSearch search = first_duplicate_by_table(keys, hash_bytes);
  return search.gave_up ? first_duplicate_by_sorting(keys) : search.duplicate;
}

}  // namespace assay::json

#include "json/fingerprints.h"

#include <bit>

#include "json/duplicates.h"

namespace assay::json {

bool may_repeat(const std::vector<std::uint32_t>& prints) {
  std::vector<std::uint32_t> slots(std::bit_ceil(prints.size() * 4), 0);
  const std::size_t mask = slots.size() - 1;
  std::size_t probes_left = prints.size() * kProbesPerKeyMax;
  for (const std::uint32_t any_print : prints) {
    const std::uint32_t print = any_print | 1;  // 0 marks a free slot
    std::size_t at = print >> 1 & mask;
    for (; slots[at] != 0; at = (at + 1) & mask) {
      if (slots[at] == print || probes_left-- == 0) return true;
    }
    slots[at] = print;
  }
  return false;
}

}  // namespace assay::json

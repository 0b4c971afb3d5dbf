#include "schema/property_table.h"

#include <algorithm>
#include <utility>

namespace assay::schema {

PropertyTable::PropertyTable(std::vector<Entry> entries) : entries_(std::move(entries)) {
  constexpr int kSeedsTried = 16;
  if (entries_.empty()) return;
  std::uint64_t seed = kOdd1;
  for (int attempt = 0; attempt < kSeedsTried; ++attempt) {
    if (spread(seed)) return;
    seed = fold(seed + 1, kOdd2);
  }
  fast_sizes_end_ = 0;
  slots_.clear();
  for (std::uint32_t position = 0; position < entries_.size(); ++position) {
    slots_.push_back(match_of(entries_[position], position));
  }
  std::ranges::sort(slots_, {}, [&](const Match& slot) { return entries_[slot.position].key; });
}

bool PropertyTable::spread(std::uint64_t seed) {
  const std::size_t size = std::bit_ceil(entries_.size() * 2);
  seed_ = seed;
  mask_ = size - 1;
  fast_sizes_end_ = kReadableBytes + 1;
  slots_.assign(size + kProbesMax, Match{});
  for (std::uint32_t position = 0; position < entries_.size(); ++position) {
    const std::string_view key = entries_[position].key;
    Match match = match_of(entries_[position], position);
    std::uint64_t hash = 0;
    if (key.size() < fast_sizes_end_) {
      const ShortName name(key, seed);
      match.low = name.low;
      match.high = name.high;
      hash = name.hash;
    } else {
      match.low = hash = hash_of_long(key, seed);
    }
    std::size_t slot = hash & mask_;
    const std::size_t end = slot + kProbesMax;
    while (slot < end && slots_[slot].size != kFree) ++slot;
    if (slot == end) return false;
    slots_[slot] = match;
  }
  return true;
}

PropertyTable::Match PropertyTable::match_of(const Entry& entry, std::uint32_t position) {
  Match match;
  match.child = entry.child;
  match.size = static_cast<std::uint32_t>(entry.key.size());
  match.position = position & 0x7FFFFFFFU;
  match.required = entry.required ? 1U : 0U;
  return match;
}

// Requires: more than eight bytes. The last word may overlap the one before.
std::uint64_t PropertyTable::hash_of_long(std::string_view key, std::uint64_t seed) {
  std::uint64_t state = seed ^ key.size();
  for (std::size_t at = 0; at + 8 < key.size(); at += 8)
    state = fold(state ^ load8(key.data() + at), seed | 1U) + kOdd2;
  return fold(state ^ load8(key.data() + key.size() - 8), kOdd2);
}

const PropertyTable::Match* PropertyTable::find_otherwise(std::string_view key) const {
  if (fast_sizes_end_ == 0) return search(key);
  const std::uint64_t hash = hash_of_long(key, seed_);
  const Match* slot = slots_.data() + (hash & mask_);
  for (const Match* const end = slot + kProbesMax; slot != end && slot->size != kFree; ++slot) {
    if (slot->low == hash && slot->size == key.size() && entries_[slot->position].key == key) return slot;
  }
  return nullptr;
}

const PropertyTable::Match* PropertyTable::search(std::string_view key) const {
  const auto key_of = [&](const Match& slot) { return entries_[slot.position].key; };
  const auto found = std::ranges::lower_bound(slots_, key, {}, key_of);
  return found != slots_.end() && key_of(*found) == key ? &*found : nullptr;
}

}  // namespace assay::schema

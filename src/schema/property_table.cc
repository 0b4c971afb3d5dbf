#include "schema/property_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace assay::schema {
namespace {

constexpr std::uint64_t kFirstSeed = 0x9E3779B97F4A7C15;
constexpr int kSeedsTried = 16;

std::uint64_t load(const char* data, std::size_t bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, data, bytes);
  return word;
}

std::uint64_t mix(std::uint64_t left, std::uint64_t right) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(left) * right;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

// Every byte counts; whole words are read in steps of eight, the last one overlapping.
std::uint64_t hash_of(std::string_view key, std::uint64_t seed) {
  const std::size_t size = key.size();
  const char* data = key.data();
  std::uint64_t state = seed ^ size;
  if (size > 8) {
    for (std::size_t at = 0; at + 8 < size; at += 8) state = mix(state ^ load(data + at, 8), kFirstSeed | 1U);
    return mix(state ^ load(data + size - 8, 8), seed | 1U);
  }
  if (size >= 4) {
    const std::uint64_t word = load(data, 4) << 32U | load(data + size - 4, 4);
    return mix(state ^ word, seed | 1U);
  }
  std::uint64_t word = 0;
  if (size > 0) {
    const auto byte = [&](std::size_t at) { return static_cast<std::uint64_t>(static_cast<unsigned char>(data[at])); };
    word = byte(0) << 16U | byte(size / 2) << 8U | byte(size - 1);
  }
  return mix(state ^ word, seed | 1U);
}

}  // namespace

PropertyTable::PropertyTable(std::vector<Entry> entries) : entries_(std::move(entries)) {
  if (entries_.empty()) return;
  std::uint64_t seed = kFirstSeed;
  for (int attempt = 0; attempt < kSeedsTried; ++attempt) {
    if (spread(seed)) return;
    seed = mix(seed + 1, 0xD6E8FEB86659FD93);
  }
  slots_.clear();
  order_.resize(entries_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::ranges::sort(order_, {}, [&](std::uint32_t position) { return entries_[position].key; });
}

bool PropertyTable::spread(std::uint64_t seed) {
  const std::size_t size = std::bit_ceil(entries_.size() * 2);
  seed_ = seed;
  mask_ = size - 1;
  slots_.assign(size + kProbesMax, Slot{});
  for (std::uint32_t position = 0; position < entries_.size(); ++position) {
    const std::uint64_t hash = hash_of(entries_[position].key, seed);
    std::size_t slot = hash & mask_;
    const std::size_t end = slot + kProbesMax;
    while (slot < end && slots_[slot].position != kNone) ++slot;
    if (slot == end) return false;
    slots_[slot] = {static_cast<std::uint32_t>(hash >> 32U), position};
  }
  return true;
}

std::uint32_t PropertyTable::find(std::string_view key) const {
  if (slots_.empty()) return search(key);
  const std::uint64_t hash = hash_of(key, seed_);
  const auto tag = static_cast<std::uint32_t>(hash >> 32U);
  const Slot* slot = &slots_[hash & mask_];
  for (const Slot* end = slot + kProbesMax; slot != end && slot->position != kNone; ++slot) {
    if (slot->tag == tag && entries_[slot->position].key == key) return slot->position;
  }
  return kNone;
}

std::uint32_t PropertyTable::search(std::string_view key) const {
  const auto key_at = [&](std::uint32_t position) { return entries_[position].key; };
  const auto found = std::ranges::lower_bound(order_, key, {}, key_at);
  return found != order_.end() && entries_[*found].key == key ? *found : kNone;
}

}  // namespace assay::schema

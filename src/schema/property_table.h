#pragma once
// The names that a schema knows for one object, found by hash and compared exactly.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace assay::schema {

struct Node;

class PropertyTable {
 public:
  struct Entry {
    std::string_view key;  // Lifetime: the schema's document
    const Node* child = nullptr;
    bool required = false;
  };

  // What a lookup needs, side by side.
  struct Match {
    std::uint64_t low = 0;  // the first eight bytes of a short name, zeros behind it; or the hash of a long one
    std::uint64_t high = 0;
    const Node* child = nullptr;
    std::uint32_t size = kFree;
    std::uint32_t position : 31 = 0;  // in entries()
    std::uint32_t required : 1 = 0;
  };

  // How far behind the beginning of any name the memory must be readable: json::kPaddingBytes is more.
  static constexpr std::size_t kReadableBytes = 16;

  PropertyTable() = default;
  // Requires: distinct keys, readable as above.
  explicit PropertyTable(std::vector<Entry> entries);

  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  [[nodiscard]] const Entry& at(std::uint32_t position) const { return entries_[position]; }

  // Null where there is none. No choice of names makes it slow: a probe sees at most kProbesMax entries, and names that
  // no seed spreads that well are searched in order instead. Requires: a key that is readable as above.
  [[nodiscard]] const Match* find(std::string_view key) const {
    if (key.size() >= fast_sizes_end_) [[unlikely]]
      return find_otherwise(key);
    const ShortName name(key, seed_);
    const Match* slot = slots_.data() + (name.hash & mask_);
    for (const Match* const end = slot + kProbesMax; slot != end && slot->size != kFree; ++slot) {
      if (slot->low == name.low && slot->high == name.high && slot->size == key.size()) return slot;
    }
    return nullptr;
  }

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;
  static constexpr std::size_t kProbesMax = 8;
  static constexpr std::uint64_t kOdd1 = 0x9E3779B97F4A7C15;
  static constexpr std::uint64_t kOdd2 = 0xD6E8FEB86659FD93;

  // Multiplies to 128 bits and adds the halves without carry.
  static std::uint64_t fold(std::uint64_t left, std::uint64_t right) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(left) * right;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  }

  static std::uint64_t load8(const char* data) {
    std::uint64_t word = 0;
    std::memcpy(&word, data, sizeof word);
    return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
  }

  // Which bytes of two words belong to a name of that size.
  static constexpr auto kMasks = [] {
    std::array<std::array<std::uint64_t, 2>, kReadableBytes + 1> masks{};
    for (std::size_t size = 0; size <= kReadableBytes; ++size) {
      for (std::size_t byte = 0; byte < size; ++byte) masks[size][byte / 8] |= std::uint64_t{0xFF} << (byte % 8 * 8);
    }
    return masks;
  }();

  // A name of at most kReadableBytes is its two words and its size.
  struct ShortName {
    std::uint64_t low;
    std::uint64_t high;
    std::uint64_t hash;

    ShortName(std::string_view key, std::uint64_t seed)
        : low(load8(key.data()) & kMasks[key.size()][0]),
          high(load8(key.data() + 8) & kMasks[key.size()][1]),
          hash(fold(low ^ seed, high ^ (key.size() * kOdd2) ^ kOdd1)) {}
  };

  static std::uint64_t hash_of_long(std::string_view key, std::uint64_t seed);
  static Match match_of(const Entry& entry, std::uint32_t position);

  bool spread(std::uint64_t seed);
  [[nodiscard]] const Match* find_otherwise(std::string_view key) const;
  [[nodiscard]] const Match* search(std::string_view key) const;

  std::vector<Entry> entries_;
  std::vector<Match> slots_;  // by hash: a power of two, at most half full, with kProbesMax more behind the end
  std::size_t fast_sizes_end_ =
      0;  // names from this size on take another way; all of them where there is no hash table
  std::uint64_t seed_ = 0;
  std::uint64_t mask_ = 0;
};

}  // namespace assay::schema

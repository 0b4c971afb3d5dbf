#pragma once
// Duplicate keys while an object is read: each key leaves a fingerprint, and different fingerprints prove different
// keys. Equal ones prove nothing; then the keys themselves are compared (duplicates.h).
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace assay::json {

// From the first and the last sixteen bytes, and the length. Requires: sixteen bytes can be read at `key`.
inline std::uint32_t fingerprint(const char* key, std::size_t bytes) {
  static constexpr std::array<std::uint8_t, 32> kKeep = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                         0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  const auto load = [](const void* p) __attribute__((always_inline)) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    return word;
  };
  // Multiplies to 128 bits and folds: each bit reaches half of the others.
  const auto mix = [](std::uint64_t a, std::uint64_t b) __attribute__((always_inline)) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a ^ 0x9E3779B97F4A7C15) * (b ^ 0xC2B2AE3D27D4EB4F);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  if (bytes <= 16) [[likely]] {
    const std::uint8_t* const keep = kKeep.data() + 16 - bytes;
    return static_cast<std::uint32_t>(mix(load(key) & load(keep), (load(key + 8) & load(keep + 8)) + bytes));
  }
  const char* const last = key + bytes - 16;
  return static_cast<std::uint32_t>(mix(mix(load(key), load(key + 8)) + bytes, mix(load(last), load(last + 8))));
}

// The latest keys of an object, by half of their fingerprints.
class LatestKeys {
 public:
  static constexpr std::size_t kKept = 8;

  [[gnu::always_inline]] void add(std::uint32_t print) {
    halves_ = __builtin_shufflevector(halves_, Halves{}, 8, 0, 1, 2, 3, 4, 5, 6);
    halves_[0] = static_cast<std::uint16_t>(print);
    equal_ |= reinterpret_cast<Halves>(halves_ == __builtin_shufflevector(halves_, halves_, 0, 0, 0, 0, 0, 0, 0, 0));
  }
  // Whether a key may equal one of the kKept - 1 before it.
  [[nodiscard, gnu::always_inline]] bool may_repeat() const {
    const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(equal_);
    return (words[0] >> 16 | words[1]) != 0;  // The first is equal to itself.
  }
  void doubt() { equal_ = ~Halves{}; }

 private:
  using Halves [[gnu::vector_size(16)]] = std::uint16_t;

  Halves halves_;
  Halves equal_;
};

// Whether two of few fingerprints are equal, or may be: by comparing all pairs of halves, eight at a time.
inline constexpr std::size_t kFewPrintsMax = 32;
template <class Next>
[[nodiscard]] bool few_may_repeat(std::size_t count, Next next) {
  using Halves [[gnu::vector_size(16)]] = std::uint16_t;
  // What fills the last block up is even, and differs, too.
  std::array<std::uint16_t, kFewPrintsMax + 16> halves;
  std::size_t size = 0;
  for (; size < count; ++size) halves[size] = static_cast<std::uint16_t>(next() >> 16 | 1);
  for (std::uint16_t fill = 2; fill <= 32; fill += 2) halves[size++] = fill;
  Halves equal{};
  const auto load = [&](std::size_t at) {
    Halves block;
    std::memcpy(&block, halves.data() + at, sizeof block);
    return block;
  };
  for (std::size_t i = 0; i + 1 < count; i += 8) {
    const Halves block = load(i);
    for (std::size_t j = i + 1; j < count; j += 4) {
      equal |= reinterpret_cast<Halves>((block == load(j)) | (block == load(j + 1)) | (block == load(j + 2)) |
                                        (block == load(j + 3)));
    }
  }
  const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(equal);
  return (words[0] | words[1]) != 0;
}

// The same for many, by a table; one that needs too many probes also says true.
template <class Next>
[[nodiscard]] bool many_may_repeat(std::size_t count, Next next) {
  constexpr std::size_t kProbesPerPrintMax = 8;
  std::vector<std::uint32_t> slots(std::bit_ceil(count * 4), 0);
  const std::size_t mask = slots.size() - 1;
  std::size_t probes_left = count * kProbesPerPrintMax;
  for (; count > 0; --count) {
    const std::uint32_t print = next() | 1;  // 0 marks a free slot
    std::size_t at = print >> 1 & mask;
    for (; slots[at] != 0; at = (at + 1) & mask) {
      if (slots[at] == print || probes_left-- == 0) return true;
    }
    slots[at] = print;
  }
  return false;
}

}  // namespace assay::json

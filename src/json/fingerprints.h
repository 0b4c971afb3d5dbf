#pragma once
// Duplicate keys while an object is read: each key leaves a fingerprint, and different fingerprints prove different
// keys. Equal ones prove nothing; then the keys themselves are compared (duplicates.h).
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace assay::json {

// From the length, the first and the last sixteen bytes. Requires: sixteen bytes can be read at
// `key`.
inline std::uint32_t fingerprint(const char* key, std::size_t bytes) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
#if defined(__SSE2__)
  alignas(16) static constexpr std::array<std::uint16_t, 8> kFront = {24851, 31627, 19861, 28657,
                                                                      32003, 22271, 30253, 26699};
  alignas(16) static constexpr std::array<std::uint16_t, 8> kBack = {29101, 21187, 32717, 25261,
                                                                     20089, 27893, 31337, 23087};
  alignas(16) static constexpr std::array<std::uint8_t, 32> kKeep = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                                     0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  const auto load = [](const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); };
  __m128i sums;
  if (bytes <= 16) [[likely]] {
    sums = _mm_madd_epi16(_mm_and_si128(load(key), load(kKeep.data() + 16 - bytes)), load(kFront.data()));
  } else {
    sums = _mm_add_epi32(_mm_madd_epi16(load(key), load(kFront.data())),
                         _mm_madd_epi16(load(key + bytes - 16), load(kBack.data())));
  }
  const __m128i folded = _mm_xor_si128(sums, _mm_shuffle_epi32(sums, 0xEE));
  const auto word = static_cast<std::uint64_t>(_mm_cvtsi128_si64(folded));
#else
  std::uint64_t word = 0;
  std::memcpy(&word, key, std::min<std::size_t>(bytes, 8));
  if (bytes > 8) {
    std::uint64_t back;
    std::memcpy(&back, key + bytes - 8, 8);
    word = word * kOdd ^ back;
  }
#endif
  return static_cast<std::uint32_t>((word + bytes) * kOdd >> 32);
}

// Whether two of many fingerprints are equal, or may be: a table that needs too many probes also says true.
[[nodiscard]] bool may_repeat(const std::vector<std::uint32_t>& prints);

// The same for few, by comparing all pairs of their upper halves, eight at a time.
// `next()` gives one print after another.
inline constexpr std::size_t kFewPrintsMax = 32;
template <class Next>
[[nodiscard]] bool few_may_repeat(std::size_t count, Next next) {
  // Odd, so that they differ from all that fills up a block.
  const auto half = [&next]() -> std::uint64_t { return next() >> 16 | 1; };
#if defined(__SSE2__)
  if (count <= 8) {
    // One block, built in registers: reading back what was just stored in pieces would stall.
    std::uint64_t low = 0x0002'0004'0006'0008;
    std::uint64_t high = 0x000A'000C'000E'0010;
    for (std::size_t i = 0; i < count; ++i) {
      high = high << 16 | low >> 48;
      low = low << 16 | half();
    }
    const __m128i block = _mm_set_epi64x(static_cast<std::int64_t>(high), static_cast<std::int64_t>(low));
    // Shifting brings in zeros, which equal nothing.
    __m128i equal = _mm_cmpeq_epi16(block, _mm_srli_si128(block, 2));
    equal = _mm_or_si128(equal, _mm_cmpeq_epi16(block, _mm_srli_si128(block, 4)));
    equal = _mm_or_si128(equal, _mm_cmpeq_epi16(block, _mm_srli_si128(block, 6)));
    equal = _mm_or_si128(equal, _mm_cmpeq_epi16(block, _mm_srli_si128(block, 8)));
    equal = _mm_or_si128(equal, _mm_cmpeq_epi16(block, _mm_srli_si128(block, 10)));
    equal = _mm_or_si128(equal, _mm_cmpeq_epi16(block, _mm_srli_si128(block, 12)));
    equal = _mm_or_si128(equal, _mm_cmpeq_epi16(block, _mm_srli_si128(block, 14)));
    return _mm_movemask_epi8(equal) != 0;
  }
  std::uint16_t prints[kFewPrintsMax + 16];
  for (std::size_t i = 0; i < count; ++i) prints[i] = static_cast<std::uint16_t>(half());
  const auto load = [&prints](std::size_t i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(prints + i)); };
  _mm_storeu_si128(reinterpret_cast<__m128i*>(prints + count), _mm_set_epi16(2, 4, 6, 8, 10, 12, 14, 16));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(prints + count + 8), _mm_set_epi16(18, 20, 22, 24, 26, 28, 30, 32));
  __m128i equal = _mm_setzero_si128();
  for (std::size_t i = 0; i + 1 < count; i += 8) {
    const __m128i block = load(i);
    for (std::size_t j = i + 1; j < count; j += 4) {
      const __m128i first = _mm_or_si128(_mm_cmpeq_epi16(block, load(j)), _mm_cmpeq_epi16(block, load(j + 1)));
      const __m128i second = _mm_or_si128(_mm_cmpeq_epi16(block, load(j + 2)), _mm_cmpeq_epi16(block, load(j + 3)));
      equal = _mm_or_si128(equal, _mm_or_si128(first, second));
    }
  }
  return _mm_movemask_epi8(equal) != 0;
#else
  std::uint64_t prints[kFewPrintsMax];
  for (std::size_t i = 0; i < count; ++i) {
    prints[i] = half();
    if (std::find(prints, prints + i, prints[i]) != prints + i) return true;
  }
  return false;
#endif
}

}  // namespace assay::json

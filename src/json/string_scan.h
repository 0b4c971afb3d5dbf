#pragma once
// Finding where the plain part of a string ends, in blocks. Two twins with one meaning: vectors where the target has
// SSE2, single bytes elsewhere; the tests run both.
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace assay::json {

// A quote, a backslash or a control character (the terminating NUL among them) stops a plain run.
inline bool stops_string(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

// Both scanners: `stop` returns the first byte from `p` on that stops a string. Requires: a NUL follows, and
// kPaddingBytes behind it can be read. Notes whether a byte beyond ASCII was seen (it may lie behind the stop).
class ScalarScan {
 public:
  const char* stop(const char* p) {
    while (!stops_string(*p)) seen_ |= static_cast<unsigned char>(*p++);
    return p;
  }
  [[nodiscard]] bool saw_high_byte() const { return (seen_ & 0x80) != 0; }

 private:
  unsigned char seen_ = 0;
};

#if defined(__SSE2__)
class Sse2Scan {
 public:
  const char* stop(const char* p) {
    for (;; p += 16) {
      const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
      seen_ = _mm_or_si128(seen_, block);
      const __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
      const __m128i backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
      const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)), block);
      const int stops = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control));
      if (stops != 0) return p + __builtin_ctz(static_cast<unsigned>(stops));
    }
  }
  [[nodiscard]] bool saw_high_byte() const { return _mm_movemask_epi8(seen_) != 0; }

 private:
  __m128i seen_ = _mm_setzero_si128();
};
using FastScan = Sse2Scan;
#else
using FastScan = ScalarScan;
#endif

// The bytes of the string literal at `quote`, both quotes included. Requires: the literal is valid.
inline std::size_t string_end(const char* quote) {
  const char* p = quote + 1;
  for (; *p != '"'; ++p) {
    if (*p == '\\') ++p;
  }
  return static_cast<std::size_t>(p + 1 - quote);
}

}  // namespace assay::json

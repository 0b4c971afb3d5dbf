#pragma once
// Block-wise reading of the two things that make up most of a text: plain runs of strings, and white space. Two twins
// with one meaning: vectors where the target has SSE2, single bytes elsewhere; the tests run both.
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace assay::json {

// A quote, a backslash or a control character (the terminating NUL among them) stops a plain run.
inline bool stops_string(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }
inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Where a string, or its plain beginning, ends.
struct StringStop {
  const char* at;
  bool high_byte;  // whether one beyond ASCII may be among its bytes
};

// Both twins require that a NUL follows, and that kPaddingBytes behind it can be read.
struct ScalarScan {
  static StringStop stop(const char* p) {
    unsigned char seen = 0;
    while (!stops_string(*p)) seen |= static_cast<unsigned char>(*p++);
    return {p, (seen & 0x80) != 0};
  }

  // The end of a short string of ASCII without escapes, or null: then only `stop` knows.
  static const char* short_stop(const char* p) {
    for (const char* const limit = p + 16; p != limit; ++p) {
      if (*p == '"') return p;
      if (static_cast<signed char>(*p) < 0x20 || *p == '\\') break;
    }
    return nullptr;
  }

  // The first byte from `p` on that is no white space.
  static const char* skip_space(const char* p) {
    while (is_space(*p)) ++p;
    return p;
  }
};

#if defined(__SSE2__)
struct Sse2Scan {
  static StringStop stop(const char* p) {
    __m128i seen = _mm_setzero_si128();
    for (;; p += 32) {
      const __m128i first = load(p);
      const __m128i second = load(p + 16);
      const unsigned found = mask(stops(first)) | mask(stops(second)) << 16;
      if (found != 0) {
        const unsigned high = mask(first) | mask(second) << 16;
        return {p + __builtin_ctz(found), mask(seen) != 0 || (high & (found ^ (found - 1))) != 0};
      }
      seen = _mm_or_si128(seen, _mm_or_si128(first, second));
    }
  }

  // The place of the quote alone decides where to go on, as everything behind waits for it; whatever else may stop the
  // string is only compared with it. As a signed byte, one beyond ASCII is below the space, too.
  [[gnu::always_inline]] static const char* short_stop(const char* p) {
    const __m128i block = load(p);
    const unsigned quotes = mask(equal(block, '"'));
    const unsigned others = mask(_mm_or_si128(equal(block, '\\'), _mm_cmplt_epi8(block, _mm_set1_epi8(0x20))));
    if (quotes == 0 || (others & (quotes ^ (quotes - 1))) != 0) [[unlikely]]
      return nullptr;
    return p + __builtin_ctz(quotes);
  }

  static const char* skip_space(const char* p) {
    if (!is_space(*p)) return p;
    for (++p;; p += 16) {
      const __m128i block = load(p);
      const __m128i space = _mm_or_si128(_mm_or_si128(equal(block, ' '), equal(block, '\n')),
                                         _mm_or_si128(equal(block, '\t'), equal(block, '\r')));
      const unsigned others = mask(space) ^ 0xFFFFU;
      if (others != 0) return p + __builtin_ctz(others);
    }
  }

 private:
  static __m128i load(const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static __m128i equal(__m128i block, char c) { return _mm_cmpeq_epi8(block, _mm_set1_epi8(c)); }
  static unsigned mask(__m128i bytes) { return static_cast<unsigned>(_mm_movemask_epi8(bytes)); }
  static __m128i stops(__m128i block) {
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)), block);
    return _mm_or_si128(_mm_or_si128(equal(block, '"'), equal(block, '\\')), control);
  }
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

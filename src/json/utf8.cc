#include "json/utf8.h"

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace assay::json {
namespace {

struct Lead {
  std::size_t bytes;  // of the sequence; 0: no lead byte
  unsigned char second_min;
  unsigned char second_max;
};

Lead lead(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

struct Front {
  std::size_t good;  // leading bytes that can begin or go on a sequence
  bool complete;
};

Front front(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const Lead first = lead(at(0));
  if (first.bytes == 0) return {0, false};
  if (first.bytes == 1) return {1, true};
  if (text.size() < 2 || at(1) < first.second_min || at(1) > first.second_max) return {1, false};
  for (std::size_t i = 2; i < first.bytes; ++i) {
    if (i >= text.size() || (at(i) & 0xC0) != 0x80) return {i, false};
  }
  return {first.bytes, true};
}

// From `at`, the beginning of a sequence.
std::size_t first_invalid_from(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  while (at < text.size()) {
    if (text.size() - at >= 8) {
      std::uint64_t block;
      std::memcpy(&block, text.data() + at, 8);
      if ((block & kHighBits) == 0) {
        at += 8;
        continue;
      }
    }
    const std::size_t bytes = utf8_sequence_bytes(text.substr(at));
    if (bytes == 0) return at;
    at += bytes;
  }
  return std::string_view::npos;
}

#if defined(__SSE2__)
__m128i load(const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
__m128i is(__m128i bytes, int value) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(static_cast<char>(value))); }
__m128i at_least(__m128i bytes, int least) {
  return _mm_cmpeq_epi8(_mm_max_epu8(bytes, _mm_set1_epi8(static_cast<char>(least))), bytes);
}

// Whether the sixteen bytes at `p` go on from what precedes them. Requires: three bytes before `p` can be read.
bool block_goes_on(const char* p) {
  const __m128i bytes = load(p);
  const __m128i before = load(p - 1);
  const __m128i long_before = load(p - 3);
  if (_mm_movemask_epi8(_mm_or_si128(bytes, long_before)) == 0) return true;
  // A continuation byte stands exactly where a lead byte one, two or three places before asks for one.
  const __m128i continuation = _mm_cmplt_epi8(bytes, _mm_set1_epi8(-0x40));
  const __m128i asked =
      _mm_or_si128(at_least(before, 0xC0), _mm_or_si128(at_least(load(p - 2), 0xE0), at_least(long_before, 0xF0)));
  __m128i wrong = _mm_xor_si128(continuation, asked);
  // Bytes that never occur: C0, C1, F5 to FF.
  wrong = _mm_or_si128(wrong, is(_mm_and_si128(bytes, _mm_set1_epi8(static_cast<char>(0xFE))), 0xC0));
  wrong = _mm_or_si128(wrong, at_least(bytes, 0xF5));
  // Second bytes with a range of their own: overlong forms, surrogates, beyond U+10FFFF.
  const __m128i from_90 = at_least(bytes, 0x90);
  const __m128i from_a0 = at_least(bytes, 0xA0);
  wrong = _mm_or_si128(wrong, _mm_andnot_si128(from_a0, is(before, 0xE0)));
  wrong = _mm_or_si128(wrong, _mm_and_si128(from_a0, is(before, 0xED)));
  wrong = _mm_or_si128(wrong, _mm_andnot_si128(from_90, is(before, 0xF0)));
  wrong = _mm_or_si128(wrong, _mm_and_si128(from_90, is(before, 0xF4)));
  return _mm_movemask_epi8(wrong) == 0;
}

// A beginning of a sequence up to which the text is well-formed; where it is not, near the fault.
std::size_t well_formed_blocks(std::string_view text) {
  std::size_t at = 0;
  while (at < 3 && at < text.size()) {
    const std::size_t bytes = utf8_sequence_bytes(text.substr(at));
    if (bytes == 0) return at;
    at += bytes;
  }
  while (at + 16 <= text.size() && block_goes_on(text.data() + at)) at += 16;
  // Back to the sequence that the last block may have begun.
  for (std::size_t back = 1; back <= 3 && back <= at; ++back) {
    const auto byte = static_cast<unsigned char>(text[at - back]);
    if (byte >= 0xC0) return at - back;
    if (byte < 0x80) break;
  }
  return at;
}
#else
std::size_t well_formed_blocks(std::string_view) { return 0; }
#endif

}  // namespace

std::size_t utf8_sequence_bytes(std::string_view text) {
  const Front f = front(text);
  return f.complete ? f.good : 0;
}

std::size_t utf8_ill_formed_bytes(std::string_view text) {
  const Front f = front(text);
  return f.good == 0 ? 1 : f.good;
}

std::size_t first_invalid_utf8(std::string_view text) { return first_invalid_from(text, well_formed_blocks(text)); }

char* write_utf8(char32_t scalar, char* out) {
  const auto put = [&](char32_t byte) { *out++ = static_cast<char>(byte); };
  if (scalar < 0x80) {
    put(scalar);
  } else if (scalar < 0x800) {
    put(0xC0 | scalar >> 6);
    put(0x80 | (scalar & 0x3F));
  } else if (scalar < 0x10000) {
    put(0xE0 | scalar >> 12);
    put(0x80 | (scalar >> 6 & 0x3F));
    put(0x80 | (scalar & 0x3F));
  } else {
    put(0xF0 | scalar >> 18);
    put(0x80 | (scalar >> 12 & 0x3F));
    put(0x80 | (scalar >> 6 & 0x3F));
    put(0x80 | (scalar & 0x3F));
  }
  return out;
}

}  // namespace assay::json

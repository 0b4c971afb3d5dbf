#pragma once
// Well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing beyond U+10FFFF.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::json {

// The offset of the first ill-formed sequence, or npos.
[[nodiscard]] std::size_t first_invalid_utf8(std::string_view text);

// Bytes of the well-formed sequence at the front of `text`; 0 where there is none. Requires: text is not empty.
[[nodiscard]] std::size_t utf8_sequence_bytes(std::string_view text);

// Bytes to replace by one U+FFFD where the front of `text` is ill-formed: its longest well-begun part, at least 1.
[[nodiscard]] std::size_t utf8_ill_formed_bytes(std::string_view text);

// Writes 1 to 4 bytes and returns the position behind them. Requires: a scalar value.
inline char* write_utf8(char32_t scalar, char* out) {
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

inline constexpr char32_t kReplacementCharacter = 0xFFFD;
inline constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";

}  // namespace assay::json

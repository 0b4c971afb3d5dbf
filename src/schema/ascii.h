#pragma once
// Character classes of the formats' grammars (RFC 5234, appendix B.1).
#include <cstddef>
#include <string_view>

namespace assay::schema {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_alphanumeric(char c) { return is_digit(c) || is_alpha(c); }
constexpr bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
constexpr bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }
constexpr bool is_one_of(char c, std::string_view set) {
  for (const char member : set) {
    if (member == c) return true;
  }
  return false;
}
constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The code point that begins at `at`, which moves behind it. Requires: valid UTF-8.
constexpr char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t offset) { return static_cast<unsigned char>(text[at + offset]); };
  const auto tail = [&](std::size_t offset) { return static_cast<char32_t>(byte(offset) & 0x3FU); };
  const char32_t lead = byte(0);
  if (lead < 0x80) {
    at += 1;
    return lead;
  }
  if (lead < 0xE0) {
    const char32_t value = (lead & 0x1FU) << 6U | tail(1);
    at += 2;
    return value;
  }
  if (lead < 0xF0) {
    const char32_t value = (lead & 0x0FU) << 12U | tail(1) << 6U | tail(2);
    at += 3;
    return value;
  }
  const char32_t value = (lead & 0x07U) << 18U | tail(1) << 12U | tail(2) << 6U | tail(3);
  at += 4;
  return value;
}

}  // namespace assay::schema

#include "json/unescape.h"

#include <array>
#include <cstdint>

#include "json/utf8.h"

namespace assay::json {
namespace {

constexpr std::uint32_t kNoHex = 0xFFFFFFFF;

// The value of a hexadecimal digit, or kNoHex.
constexpr std::array<std::uint32_t, 256> kHex = [] {
  std::array<std::uint32_t, 256> table{};
  table.fill(kNoHex);
  for (std::uint32_t i = 0; i < 10; ++i) table['0' + i] = i;
  for (std::uint32_t i = 0; i < 6; ++i) table['a' + i] = table['A' + i] = 10 + i;
  return table;
}();

std::uint32_t hex(char c) { return kHex[static_cast<unsigned char>(c)]; }

// The four digits at `p`; above 0xFFFF where one is none. Reads all four bytes.
std::uint32_t hex_quad(const char* p) { return hex(p[0]) << 12 | hex(p[1]) << 8 | hex(p[2]) << 4 | hex(p[3]); }

Unescaped refuse(EscapeFault& fault, ErrorCode code, const char* at) {
  fault = {code, at};
  return {nullptr, nullptr};
}

Unescaped refuse_digits(EscapeFault& fault, const char* p, const char* digits, const char* end) {
  while (hex(*digits) != kNoHex) ++digits;
  return digits == end ? refuse(fault, ErrorCode::UnexpectedEnd, end) : refuse(fault, ErrorCode::InvalidEscape, p);
}

Unescaped unescape_unicode(const char* p, const char* end, char* out, bool strict, EscapeFault& fault) {
  char32_t scalar = hex_quad(p + 2);
  if (scalar > 0xFFFF) return refuse_digits(fault, p, p + 2, end);
  const char* next = p + 6;
  if (scalar >= 0xD800 && scalar < 0xE000) {
    std::uint32_t low = 0;
    if (scalar < 0xDC00 && next[0] == '\\' && next[1] == 'u') {
      low = hex_quad(next + 2);
      if (low > 0xFFFF && strict) return refuse_digits(fault, next, next + 2, end);
    }
    if (low >= 0xDC00 && low < 0xE000) {
      scalar = 0x10000 + ((scalar - 0xD800) << 10) + (low - 0xDC00);
      next += 6;
    } else {
      const bool cut = scalar < 0xDC00 && (next == end || (next[0] == '\\' && next + 1 == end));
      if (cut) return refuse(fault, ErrorCode::UnexpectedEnd, end);
      if (strict) return refuse(fault, ErrorCode::LoneSurrogate, p);
      scalar = kReplacementCharacter;
    }
  } else if (scalar == 0) {
    if (strict) return refuse(fault, ErrorCode::NulCharacter, p);
    scalar = kReplacementCharacter;
  }
  return {next, write_utf8(scalar, out)};
}

constexpr std::array<char, 128> kShort = [] {
  std::array<char, 128> table{};
  table['"'] = '"';
  table['\\'] = '\\';
  table['/'] = '/';
  table['b'] = '\b';
  table['f'] = '\f';
  table['n'] = '\n';
  table['r'] = '\r';
  table['t'] = '\t';
  return table;
}();

}  // namespace

Unescaped unescape(const char* p, const char* end, char* out, Dialect dialect, EscapeFault& fault) {
  const auto letter = static_cast<unsigned char>(p[1]);
  if (letter == 'u') return unescape_unicode(p, end, out, dialect == Dialect::Strict, fault);
  const char plain = letter < kShort.size() ? kShort[letter] : '\0';
  if (plain == '\0') {
    return p + 1 == end ? refuse(fault, ErrorCode::UnexpectedEnd, end) : refuse(fault, ErrorCode::InvalidEscape, p);
  }
  *out = plain;
  return {p + 2, out + 1};
}

}  // namespace assay::json

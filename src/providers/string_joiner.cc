#include "providers/string_joiner.h"

#include <utility>

namespace assay::providers {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;
constexpr std::size_t kUnicodeEscapeDigits = 4;

bool is_high_half(std::uint32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low_half(std::uint32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

// Also encodes halves of pairs, as three bytes.
void append_utf8(std::uint32_t code_point, std::string& text) {
  const auto byte = [&](std::uint32_t value) { text += static_cast<char>(static_cast<unsigned char>(value)); };
  if (code_point < 0x80) {
    byte(code_point);
  } else if (code_point < 0x800) {
    byte(0xC0 | (code_point >> 6));
    byte(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    byte(0xE0 | (code_point >> 12));
    byte(0x80 | ((code_point >> 6) & 0x3F));
    byte(0x80 | (code_point & 0x3F));
  } else {
    byte(0xF0 | (code_point >> 18));
    byte(0x80 | ((code_point >> 12) & 0x3F));
    byte(0x80 | ((code_point >> 6) & 0x3F));
    byte(0x80 | (code_point & 0x3F));
  }
}

std::uint32_t hex_value(std::string_view digits) {
  std::uint32_t value = 0;
  for (const char c : digits) {
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    value = value * 16 + static_cast<std::uint32_t>(digit);
  }
  return value;
}

char unescape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;  // quote, backslash, slash
  }
}

}  // namespace

std::string StringJoiner::append(std::string_view literal) {
  std::string_view rest = literal.substr(1, literal.size() - 2);
  std::string text;
  text.reserve(rest.size());
  while (!rest.empty()) {
    const std::size_t plain = std::min(rest.find('\\'), rest.size());
    if (plain > 0) {
      flush_half(text);
      text += rest.substr(0, plain);
      rest.remove_prefix(plain);
      continue;
    }
    if (rest[1] == 'u') {
      append_code_unit(hex_value(rest.substr(2, kUnicodeEscapeDigits)), text);
      rest.remove_prefix(2 + kUnicodeEscapeDigits);
    } else {
      flush_half(text);
      text += unescape(rest[1]);
      rest.remove_prefix(2);
    }
  }
  return text;
}

std::string StringJoiner::finish() {
  std::string text;
  flush_half(text);
  return text;
}

void StringJoiner::append_code_unit(std::uint32_t unit, std::string& text) {
  if (high_half_ != 0 && is_low_half(unit)) {
    const std::uint32_t high = std::exchange(high_half_, 0);
    append_utf8(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00), text);
    return;
  }
  flush_half(text);
  if (is_high_half(unit)) {
    high_half_ = unit;
  } else if (policy_ == Unencodable::Replace && (unit == 0 || is_low_half(unit))) {
    append_utf8(kReplacement, text);
  } else {
    append_utf8(unit, text);
  }
}

void StringJoiner::flush_half(std::string& text) {
  if (high_half_ == 0) return;
  const std::uint32_t high = std::exchange(high_half_, 0);
  append_utf8(policy_ == Unencodable::Replace ? kReplacement : high, text);
}

}  // namespace assay::providers

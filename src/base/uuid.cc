#include "base/uuid.h"

#include "base/random.h"

namespace assay {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

constexpr bool is_hyphen_position(std::size_t position) {
  return position == 8 || position == 13 || position == 18 || position == 23;
}

constexpr int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace

Uuid Uuid::random(Random& source) {
  Uuid id;
  source.fill(id.bytes);
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0F) | 0x40);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3F) | 0x80);
  return id;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  Uuid id;
  std::size_t nibble = 0;
  for (std::size_t position = 0; position < text.size(); ++position) {
    if (is_hyphen_position(position)) {
      if (text[position] != '-') return std::nullopt;
      continue;
    }
    const int value = hex_value(text[position]);
    if (value < 0) return std::nullopt;
    auto& byte = id.bytes[nibble / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
    ++nibble;
  }
  return id;
}

std::string Uuid::to_string() const {
  std::string text;
  text.reserve(36);
  for (const std::uint8_t byte : bytes) {
    if (is_hyphen_position(text.size())) text += '-';
    text += kHexDigits[byte >> 4];
    text += kHexDigits[byte & 0x0F];
  }
  return text;
}

}  // namespace assay

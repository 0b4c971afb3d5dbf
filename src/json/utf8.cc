#include "json/utf8.h"

#include <cstdint>
#include <cstring>

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

}  // namespace

std::size_t utf8_sequence_bytes(std::string_view text) {
  const Front f = front(text);
  return f.complete ? f.good : 0;
}

std::size_t utf8_ill_formed_bytes(std::string_view text) {
  const Front f = front(text);
  return f.good == 0 ? 1 : f.good;
}

std::size_t first_invalid_utf8(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  for (std::size_t at = 0; at < text.size();) {
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

}  // namespace assay::json

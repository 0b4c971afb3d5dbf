#include "schema/excerpt.h"

namespace assay::schema {
namespace {

constexpr std::string_view kEllipsis = "\u2026";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::string escaped(char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte != 0x7F) return std::string(1, c);
  return std::string("\\u00") + kHex[byte >> 4U] + kHex[byte & 0xFU];
}

}  // namespace

std::string excerpt(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t end = bytes_max < kEllipsis.size() ? 0 : bytes_max - kEllipsis.size();
  while (end > 0 && is_continuation(text[end])) --end;
  return std::string(text.substr(0, end)).append(kEllipsis);
}

std::string quoted(std::string_view text, std::size_t bytes_max) {
  const std::size_t room = bytes_max - 2;
  std::string inside;
  std::size_t fits = 0;  // where to cut if what follows does not fit: whole escapes and characters only
  for (const char c : text) {
    if (!is_continuation(c) && inside.size() + kEllipsis.size() <= room) fits = inside.size();
    inside += escaped(c);
    if (inside.size() > room) {
      inside.resize(fits);
      inside += kEllipsis;
      break;
    }
  }
  return '"' + inside + '"';
}

}  // namespace assay::schema

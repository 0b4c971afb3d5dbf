#include "chat/title.h"

#include "json/utf8.h"
#include "structured/plain_text.h"

namespace assay::chat {

namespace {

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";
constexpr std::string_view kUntitled = "New Chat";

// Where the words that a title keeps end: behind the last one, or at the last code point that has room.
std::size_t title_bytes(std::string_view text) {
  std::size_t words = 1;
  std::size_t code_points = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == ' ' && ++words > kFallbackTitleWordsMax) return at;
    if (++code_points > kFallbackTitleCodePointsMax) return at;
    at += json::utf8_sequence_bytes(text.substr(at));
  }
  return at;
}

}  // namespace

std::string fallback_title(const Content& content) {
  // More than any title needs, so that a long message costs no more than a short one.
  constexpr std::size_t kBytesMax = 4 * (kFallbackTitleCodePointsMax + 2);
  std::string text;
  for (const Part& part : content) {
    const auto* text_part = std::get_if<TextPart>(&part);
    if (text_part == nullptr) continue;
    if (!text.empty()) text += ' ';
    text += text_part->text.substr(0, 4 * kBytesMax);
    if (text.size() > kBytesMax) break;
  }
  text = structured::plain_text(text, kBytesMax);
  if (text.empty()) return std::string(kUntitled);
  const std::size_t kept = title_bytes(text);
  if (kept == text.size()) return text;
  text.resize(kept);
  text += kEllipsis;
  return text;
}

}  // namespace assay::chat

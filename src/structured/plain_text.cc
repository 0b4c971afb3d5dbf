#include "structured/plain_text.h"

#include "json/utf8.h"

namespace assay::structured {

namespace {

// U+0000 to U+0020, U+007F, and U+0080 to U+009F as UTF-8.
bool is_space_or_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return first <= 0x20 || first == 0x7F;
  return sequence.size() == 2 && first == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
}

}  // namespace

std::string plain_text(std::string_view text, std::size_t bytes_max) {
  std::string plain;
  bool space_pending = false;
  while (!text.empty()) {
    std::string_view sequence = text.substr(0, json::utf8_sequence_bytes(text));
    std::size_t consumed = sequence.size();
    if (sequence.empty()) {
      consumed = json::utf8_ill_formed_bytes(text);
      sequence = json::kReplacementUtf8;
    }
    text.remove_prefix(consumed);
    if (is_space_or_control(sequence)) {
      space_pending = !plain.empty();
      continue;
    }
    if (plain.size() + (space_pending ? 1 : 0) + sequence.size() > bytes_max) break;
    if (space_pending) plain += ' ';
    space_pending = false;
    plain += sequence;
  }
  return plain;
}

}  // namespace assay::structured

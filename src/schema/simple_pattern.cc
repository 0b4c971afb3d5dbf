#include "schema/simple_pattern.h"

#include "schema/ascii.h"

namespace assay::schema {
namespace {

// Nothing where the set takes some characters beyond ASCII and leaves others.
std::optional<CharacterClass> class_of(const CodePoints& set) {
  constexpr char32_t kFirstBeyondAscii = 0x80;
  constexpr char32_t kCodePointMax = 0x10FFFF;
  CharacterClass characters;
  for (const auto& [first, last] : set.ranges()) {
    for (char32_t c = first; c <= last && c < kFirstBeyondAscii; ++c) {
      characters.ascii[c >> 6U] |= std::uint64_t{1} << (c & 63U);
    }
    if (last < kFirstBeyondAscii) continue;
    if (first > kFirstBeyondAscii || last != kCodePointMax) return std::nullopt;
    characters.beyond_ascii = true;
  }
  return characters;
}

}  // namespace

bool CharacterClass::meets(const CharacterClass& other) const {
  return (ascii[0] & other.ascii[0]) != 0 || (ascii[1] & other.ascii[1]) != 0 || (beyond_ascii && other.beyond_ascii);
}

std::optional<SimplePattern> SimplePattern::from(const PatternSyntax& syntax) {
  if (syntax.alternatives.size() != 1 || !syntax.alternatives.front().at_start) return std::nullopt;
  SimplePattern pattern;
  pattern.anchored_at_end_ = syntax.alternatives.front().at_end;
  if (!pattern.add(syntax.alternatives.front().body) || !pattern.is_decided_greedily()) return std::nullopt;
  return pattern;
}

bool SimplePattern::add(const PatternNode& node) {
  switch (node.kind) {
    case PatternNode::Kind::Sequence:
      for (const PatternNode& child : node.children) {
        if (!add(child)) return false;
      }
      return true;
    case PatternNode::Kind::Set:
    case PatternNode::Kind::Repetition: {
      const bool repeats = node.kind == PatternNode::Kind::Repetition;
      const PatternNode& atom = repeats ? node.children.front() : node;
      const auto characters = atom.kind == PatternNode::Kind::Set ? class_of(atom.set) : std::nullopt;
      if (!characters) return false;
      runs_.push_back({.characters = *characters, .min = node.min, .max = node.max});
      return true;
    }
    case PatternNode::Kind::Choice:
      return false;
  }
  return false;
}

// Whether taking as many characters as a run may take is never wrong: what follows cannot begin with one of them.
bool SimplePattern::is_decided_greedily() const {
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].min == runs_[i].max) continue;
    for (std::size_t next = i + 1; next < runs_.size(); ++next) {
      if (runs_[next].max > 0 && runs_[i].characters.meets(runs_[next].characters)) return false;
      if (runs_[next].min > 0) break;
    }
  }
  return true;
}

bool SimplePattern::found_in(std::string_view text) const {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (const Run& run : runs_) {
    std::uint32_t count = 0;
    while (count < run.max && at != end && run.characters.has(static_cast<unsigned char>(*at))) {
      const bool is_multibyte = !is_ascii(*at);
      ++at;
      while (is_multibyte && at != end && (static_cast<unsigned char>(*at) & 0xC0U) == 0x80U) ++at;
      ++count;
    }
    if (count < run.min) return false;
  }
  return !anchored_at_end_ || at == end;
}

}  // namespace assay::schema

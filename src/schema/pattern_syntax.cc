#include "schema/pattern_syntax.h"

#include <algorithm>

#include "schema/ascii.h"

namespace assay::schema {
namespace {

constexpr char32_t kCodePointMax = 0x10FFFF;
constexpr std::uint32_t kRepetitionsMax = 1000;  // RE2's
constexpr std::uint64_t kManyPositions = 1'000'000;

std::uint64_t positions_of(const PatternNode& node) {
  std::uint64_t total = node.kind == PatternNode::Kind::Set ? 1 : 0;
  for (const PatternNode& child : node.children) total = std::min(total + positions_of(child), kManyPositions);
  if (node.kind != PatternNode::Kind::Repetition) return total;
  const std::uint64_t times = node.max == PatternNode::kNoMaximum ? std::max(node.min, 1U) : node.max;
  return std::min(total * times, kManyPositions);
}

CodePoints set_of(std::initializer_list<CodePoints::Range> ranges) {
  CodePoints set;
  for (const CodePoints::Range& range : ranges) set.add(range.first, range.last);
  return set;
}

std::optional<char> escaped_character(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    default:
      break;
  }
  const bool is_punctuation = c >= ' ' && c <= '~' && !is_alphanumeric(c) && c != '_';
  return is_punctuation ? std::optional(c) : std::nullopt;
}

class Reader {
 public:
  explicit Reader(std::string_view expression) : rest_(expression) {}

  std::optional<PatternSyntax> read() {
    read_flags();
    PatternSyntax syntax;
    do {
      PatternAlternative& alternative = syntax.alternatives.emplace_back();
      alternative.at_start = skip('^');
      if (!read_sequence(alternative.body, 0)) return std::nullopt;
      alternative.at_end = skip('$');
    } while (skip('|'));
    if (!rest_.empty()) return std::nullopt;
    return syntax;
  }

 private:
  static constexpr int kGroupDepthMax = 32;

  bool skip(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  void read_flags() {
    if (skip("(?i)")) {
      folds_case_ = true;
    } else if (skip("(?s)")) {
      spans_lines_ = true;
    } else if (skip("(?is)") || skip("(?si)")) {
      folds_case_ = spans_lines_ = true;
    }
  }

  // Up to what cannot go on a sequence: `|`, `)`, `$` or the end.
  bool read_sequence(PatternNode& sequence, int depth) {
    while (!rest_.empty() && !is_one_of(rest_.front(), "|)$")) {
      PatternNode atom;
      if (!read_atom(atom, depth)) return false;
      if (!read_repetition(atom)) return false;
      sequence.children.push_back(std::move(atom));
    }
    return true;
  }

  bool read_atom(PatternNode& atom, int depth) {
    if (skip('(')) return read_group(atom, depth + 1);
    atom.kind = PatternNode::Kind::Set;
    if (skip('.')) {
      if (!spans_lines_) atom.set.add('\n', '\n');
      atom.set.invert();
      return true;
    }
    if (skip('\\')) return read_escape(atom.set);
    if (skip('[')) return read_class(atom.set);
    if (is_one_of(rest_.front(), "^*+?{}]")) return false;
    const char32_t c = take();
    return add(atom.set, c, c);
  }

  bool read_group(PatternNode& group, int depth) {
    if (depth > kGroupDepthMax) return false;
    if (rest_.starts_with('?') && !skip("?:")) return false;
    group.kind = PatternNode::Kind::Choice;
    do {
      if (!read_sequence(group.children.emplace_back(), depth)) return false;
    } while (skip('|'));
    if (group.children.size() == 1) {
      PatternNode only = std::move(group.children.front());
      group = std::move(only);
    }
    return skip(')');
  }

  // Requires: not at the end. Adds what RE2 reads a character or range as.
  bool add(CodePoints& set, char32_t first, char32_t last) const {
    if (folds_case_ && last >= 0x80) return false;
    CodePoints range;
    range.add(first, last);
    if (folds_case_) range.fold_case();
    set.add(range);
    return true;
  }

  bool add_perl_class(CodePoints& set, char name) const {
    CodePoints known;
    switch (to_lower(name)) {
      case 'd':
        known = set_of({{'0', '9'}});
        break;
      case 'w':
        known = set_of({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
        break;
      case 's':
        known = set_of({{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}});
        break;
      default:
        return false;
    }
    if (folds_case_) known.fold_case();
    if (name != to_lower(name)) known.invert();
    set.add(known);
    return true;
  }

  bool read_escape(CodePoints& set) {
    if (rest_.empty() || !is_ascii(rest_.front())) return false;
    const char c = static_cast<char>(take());
    if (add_perl_class(set, c)) return true;
    const auto literal = escaped_character(c);
    return literal && add(set, static_cast<unsigned char>(*literal), static_cast<unsigned char>(*literal));
  }

  // Behind the opening bracket. A hyphen is a character only at the ends.
  bool read_class(CodePoints& set) {
    const bool negated = skip('^');
    for (bool is_first = true;; is_first = false) {
      if (rest_.empty()) return false;
      if (rest_.front() == ']') {
        if (is_first) return false;
        rest_.remove_prefix(1);
        break;
      }
      if (!read_class_member(set, is_first)) return false;
    }
    if (negated) set.invert();
    return true;
  }

  bool read_class_member(CodePoints& set, bool is_first) {
    if (rest_.front() == '[') return false;
    if (rest_.front() == '-' && !is_first && !rest_.starts_with("-]")) return false;
    char32_t first = take();
    if (first == '\\') {
      if (rest_.empty() || !is_ascii(rest_.front())) return false;
      const char c = static_cast<char>(take());
      if (add_perl_class(set, c)) return !rest_.starts_with('-') || rest_.starts_with("-]");
      const auto literal = escaped_character(c);
      if (!literal) return false;
      first = static_cast<unsigned char>(*literal);
    }
    char32_t last = first;
    if (rest_.starts_with('-') && !rest_.starts_with("-]")) {
      rest_.remove_prefix(1);
      if (rest_.empty() || is_one_of(rest_.front(), "[\\-")) return false;
      last = take();
      if (last < first) return false;
    }
    return add(set, first, last);
  }

  // Requires: not at the end.
  char32_t take() {
    std::size_t at = 0;
    const char32_t c = next_code_point(rest_, at);
    rest_.remove_prefix(at);
    return c;
  }

  bool read_repetition(PatternNode& atom) {
    std::uint32_t min = 0;
    std::uint32_t max = PatternNode::kNoMaximum;
    if (skip('+')) {
      min = 1;
    } else if (skip('?')) {
      max = 1;
    } else if (skip('{')) {
      if (!read_counts(min, max)) return false;
    } else if (!skip('*')) {
      return true;
    }
    skip('?');  // as few as possible: that decides where a match ends, not whether there is one
    if (!rest_.empty() && is_one_of(rest_.front(), "*+?{")) return false;
    // Repeating what holds nothing is RE2's to judge; here it would take time for nothing.
    if (positions_of(atom) == 0) return false;
    PatternNode repetition;
    repetition.kind = PatternNode::Kind::Repetition;
    repetition.min = min;
    repetition.max = max;
    repetition.children.push_back(std::move(atom));
    atom = std::move(repetition);
    return true;
  }

  bool read_counts(std::uint32_t& min, std::uint32_t& max) {
    const auto least = read_count();
    if (!least) return false;
    min = max = *least;
    if (skip(',')) {
      max = PatternNode::kNoMaximum;
      if (!rest_.starts_with('}')) {
        const auto most = read_count();
        if (!most) return false;
        max = *most;
      }
    }
    return skip('}') && min <= max;
  }

  std::optional<std::uint32_t> read_count() {
    constexpr std::size_t kDigitsMax = 4;
    if (rest_.starts_with('0') && rest_.size() > 1 && is_digit(rest_[1])) return std::nullopt;  // RE2 reads no count
    std::uint32_t count = 0;
    std::size_t digits = 0;
    while (!rest_.empty() && is_digit(rest_.front()) && digits < kDigitsMax) {
      count = count * 10 + static_cast<std::uint32_t>(rest_.front() - '0');
      rest_.remove_prefix(1);
      ++digits;
    }
    if (digits == 0 || count > kRepetitionsMax) return std::nullopt;
    return count;
  }

  std::string_view rest_;
  bool folds_case_ = false;
  bool spans_lines_ = false;
};

}  // namespace

void CodePoints::add(char32_t first, char32_t last) {
  auto begin = std::ranges::lower_bound(ranges_, first, {}, [](const Range& range) { return range.last + 1; });
  auto end = begin;
  for (; end != ranges_.end() && end->first <= last + 1; ++end) {
    first = std::min(first, end->first);
    last = std::max(last, end->last);
  }
  begin = ranges_.erase(begin, end);
  ranges_.insert(begin, {first, last});
}

void CodePoints::add(const CodePoints& other) {
  for (const Range& range : other.ranges_) add(range.first, range.last);
}

void CodePoints::invert() {
  std::vector<Range> others;
  char32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) others.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kCodePointMax) others.push_back({next, kCodePointMax});
  ranges_ = std::move(others);
}

void CodePoints::fold_case() {
  constexpr char32_t kLongS = 0x17F;
  constexpr char32_t kKelvinSign = 0x212A;
  const std::vector<Range> before = ranges_;
  const auto add_other_case = [&](char32_t from, char32_t to) {
    for (const Range& range : before) {
      const char32_t first = std::max(range.first, from);
      const char32_t last = std::min<char32_t>(range.last, from + 25);
      if (first > last) continue;
      add(first - from + to, last - from + to);
      const auto holds = [&](char32_t letter) { return first <= from + letter - 'a' && from + letter - 'a' <= last; };
      if (holds('k')) add(kKelvinSign, kKelvinSign);
      if (holds('s')) add(kLongS, kLongS);
    }
  };
  add_other_case('a', 'A');
  add_other_case('A', 'a');
}

std::uint64_t PatternSyntax::positions() const {
  std::uint64_t total = 0;
  for (const PatternAlternative& alternative : alternatives) {
    total = std::min(total + positions_of(alternative.body), kManyPositions);
  }
  return total;
}

std::optional<PatternSyntax> read_pattern(std::string_view expression) { return Reader(expression).read(); }

}  // namespace assay::schema

#include "schema/simple_pattern.h"

#include <algorithm>

#include "schema/ascii.h"

namespace assay::schema {
namespace {

constexpr std::uint32_t kRepetitionsMax = 1000;  // RE2's

CharacterClass class_of(std::string_view members) {
  CharacterClass result;
  for (const char c : members) result.add(static_cast<unsigned char>(c));
  return result;
}

CharacterClass inverted(CharacterClass set) {
  set.invert();
  return set;
}

// RE2's Perl classes are ASCII.
std::optional<CharacterClass> perl_class(char name) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kWord = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  constexpr std::string_view kSpace = "\t\n\f\r ";
  switch (name) {
    case 'd':
      return class_of(kDigits);
    case 'D':
      return inverted(class_of(kDigits));
    case 'w':
      return class_of(kWord);
    case 'W':
      return inverted(class_of(kWord));
    case 's':
      return class_of(kSpace);
    case 'S':
      return inverted(class_of(kSpace));
    default:
      return std::nullopt;
  }
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

}  // namespace

void CharacterClass::add(const CharacterClass& other) {
  for (std::size_t i = 0; i < ascii.size(); ++i) ascii[i] |= other.ascii[i];
  beyond_ascii = beyond_ascii || other.beyond_ascii;
}

void CharacterClass::invert() {
  for (std::uint64_t& word : ascii) word = ~word;
  beyond_ascii = !beyond_ascii;
}

bool CharacterClass::meets(const CharacterClass& other) const {
  return (ascii[0] & other.ascii[0]) != 0 || (ascii[1] & other.ascii[1]) != 0 || (beyond_ascii && other.beyond_ascii);
}

class SimplePatternReader {
 public:
  explicit SimplePatternReader(std::string_view expression) : rest_(expression) {}

  bool read(SimplePattern& pattern) {
    pattern.anchored_at_start_ = skip('^');
    while (!rest_.empty()) {
      if (rest_ == "$") {
        pattern.anchored_at_end_ = true;
        break;
      }
      SimplePattern::Run run;
      if (!read_atom(run.characters) || !read_repetition(run)) return false;
      pattern.runs_.push_back(run);
    }
    return true;
  }

 private:
  bool skip(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  bool read_atom(CharacterClass& characters) {
    const char c = take();
    if (c == '.') {
      characters = inverted(class_of("\n"));
      return true;
    }
    if (c == '\\') return read_escape(characters);
    if (c == '[') return read_class(characters);
    if (!is_ascii(c) || is_one_of(c, "^$|()*+?{}]")) return false;
    characters.add(static_cast<unsigned char>(c));
    return true;
  }

  bool read_escape(CharacterClass& characters) {
    if (rest_.empty()) return false;
    const char c = take();
    if (const auto known = perl_class(c)) {
      characters.add(*known);
      return true;
    }
    const auto literal = escaped_character(c);
    if (literal) characters.add(static_cast<unsigned char>(*literal));
    return literal.has_value();
  }

  // Behind the opening bracket. A hyphen is a character only at the ends.
  bool read_class(CharacterClass& characters) {
    const bool negated = skip('^');
    bool is_first = true;
    for (;; is_first = false) {
      if (rest_.empty()) return false;
      if (rest_.front() == ']') {
        if (is_first) return false;
        rest_.remove_prefix(1);
        break;
      }
      if (!read_class_member(characters, is_first)) return false;
    }
    if (negated) characters.invert();
    return true;
  }

  bool read_class_member(CharacterClass& characters, bool is_first) {
    char first = take();
    if (!is_ascii(first) || first == '[') return false;
    if (first == '-' && !is_first && !rest_.starts_with(']')) return false;
    if (first == '\\') {
      if (rest_.empty()) return false;
      if (const auto known = perl_class(rest_.front())) {
        rest_.remove_prefix(1);
        characters.add(*known);
        return !rest_.starts_with('-') || rest_.starts_with("-]");
      }
      const auto literal = escaped_character(take());
      if (!literal) return false;
      first = *literal;
    }
    char last = first;
    if (rest_.starts_with('-') && !rest_.starts_with("-]")) {
      rest_.remove_prefix(1);
      if (rest_.empty()) return false;
      last = take();
      if (!is_ascii(last) || is_one_of(last, "[\\-") || last < first) return false;
    }
    for (int c = first; c <= last; ++c) characters.add(static_cast<unsigned char>(c));
    return true;
  }

  bool read_repetition(SimplePattern::Run& run) {
    if (skip('*')) {
      run.min = 0;
      run.max = SimplePattern::kNoMaximum;
    } else if (skip('+')) {
      run.max = SimplePattern::kNoMaximum;
    } else if (skip('?')) {
      run.min = 0;
    } else if (skip('{')) {
      if (!read_counts(run)) return false;
    } else {
      return true;
    }
    return rest_.empty() || !is_one_of(rest_.front(), "*+?{");
  }

  bool read_counts(SimplePattern::Run& run) {
    const auto min = read_count();
    if (!min) return false;
    run.min = run.max = *min;
    if (skip(',')) {
      run.max = SimplePattern::kNoMaximum;
      if (!rest_.starts_with('}')) {
        const auto max = read_count();
        if (!max) return false;
        run.max = *max;
      }
    }
    return skip('}') && run.min <= run.max;
  }

  std::optional<std::uint32_t> read_count() {
    constexpr std::size_t kDigitsMax = 4;
    std::uint32_t count = 0;
    std::size_t digits = 0;
    while (!rest_.empty() && is_digit(rest_.front()) && digits < kDigitsMax) {
      count = count * 10 + static_cast<std::uint32_t>(take() - '0');
      ++digits;
    }
    if (digits == 0 || count > kRepetitionsMax) return std::nullopt;
    return count;
  }

  std::string_view rest_;
};

std::optional<SimplePattern> SimplePattern::read(std::string_view expression) {
  SimplePattern pattern;
  if (!SimplePatternReader(expression).read(pattern) || !pattern.is_decided_greedily()) return std::nullopt;
  return pattern;
}

// Whether taking as many characters as a run may take is never wrong: what follows cannot begin with one of them.
bool SimplePattern::is_decided_greedily() const {
  if (!anchored_at_start_) return false;
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

namespace {

// Reads just enough of RE2's syntax to know what is repeated how often; an error only makes the count too high.
class PositionCounter {
 public:
  explicit PositionCounter(std::string_view expression) : rest_(expression) {}

  // Up to the end or a closing parenthesis.
  std::uint64_t count() {
    std::uint64_t total = 0;
    while (!rest_.empty() && rest_.front() != ')') {
      if (rest_.front() == '|') {
        rest_.remove_prefix(1);
        continue;
      }
      const std::uint64_t atom = count_atom();
      total = std::min(total + atom * read_repetitions(), kMany);
    }
    return total;
  }

 private:
  static constexpr std::uint64_t kMany = 1'000'000;

  std::uint64_t count_atom() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '(') {
      const std::uint64_t inside = count();
      if (!rest_.empty()) rest_.remove_prefix(1);
      return std::max<std::uint64_t>(inside, 1);
    }
    if (c == '[') {
      skip_class();
    } else if (c == '\\' && !rest_.empty()) {
      rest_.remove_prefix(1);
    }
    return 1;
  }

  void skip_class() {
    std::size_t at = rest_.starts_with('^') ? 1 : 0;
    if (at < rest_.size() && rest_[at] == ']') ++at;
    while (at < rest_.size() && rest_[at] != ']') {
      if (rest_.substr(at).starts_with("[:")) {
        const std::size_t end = rest_.find(":]", at);
        if (end != std::string_view::npos) at = end + 1;
      } else if (rest_[at] == '\\') {
        ++at;
      }
      ++at;
    }
    rest_.remove_prefix(std::min(at + 1, rest_.size()));
  }

  std::uint64_t read_repetitions() {
    std::uint64_t times = 1;
    while (!rest_.empty() && is_one_of(rest_.front(), "*+?{")) {
      if (rest_.front() == '{') times = std::min(times * read_counts(), kMany);
      if (!rest_.empty()) rest_.remove_prefix(1);
    }
    return times;
  }

  // The larger bound; leaves the closing brace.
  std::uint64_t read_counts() {
    std::uint64_t largest = 1;
    std::uint64_t current = 0;
    while (!rest_.empty() && rest_.front() != '}') {
      current =
          is_digit(rest_.front()) ? std::min(current * 10 + static_cast<std::uint64_t>(rest_.front() - '0'), kMany) : 0;
      largest = std::max(largest, current);
      rest_.remove_prefix(1);
    }
    return largest;
  }

  std::string_view rest_;
};

}  // namespace

std::uint64_t count_positions(std::string_view expression) {
  PositionCounter counter(expression);
  return std::max<std::uint64_t>(counter.count(), 1);
}

}  // namespace assay::schema

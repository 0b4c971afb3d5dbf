#include "sim/pattern_sample.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace assay::sim {
namespace {

constexpr std::size_t kSampleBytesMax = 4 * 1024;
constexpr int kNestingMax = 32;
constexpr std::size_t kRepeatMax = 1'000;

using Bytes = std::vector<char>;  // the characters that a class holds, ASCII only

void add_range(Bytes& set, char first, char last) {
  for (int c = first; c <= last; ++c) set.push_back(static_cast<char>(c));
}

// What an escape stands for; empty for one that is not understood.
Bytes escaped(char c) {
  Bytes set;
  switch (c) {
    case 'd':
      add_range(set, '0', '9');
      break;
    case 'w':
      add_range(set, 'a', 'z');
      add_range(set, 'A', 'Z');
      add_range(set, '0', '9');
      set.push_back('_');
      break;
    case 's':
      set = {' ', '\t'};
      break;
    case 'D':
    case 'S':
      add_range(set, 'a', 'z');
      break;
    case 'W':
      set = {'-', ' '};
      break;
    case 'n':
      set = {'\n'};
      break;
    case 't':
      set = {'\t'};
      break;
    case 'r':
      set = {'\r'};
      break;
    default:
      if ((c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')) set = {c};
      break;
  }
  return set;
}

// Reads and samples at once: what is read is appended, a repetition appends its piece again.
class Sampler {
 public:
  Sampler(std::string_view pattern, std::size_t extra) : rest_(pattern), extra_(extra) {}

  std::optional<std::string> sample() {
    std::string text;
    if (!alternatives(text, 0) || !rest_.empty()) return std::nullopt;
    if (!is_end_anchored_) text.append(extra_, 'a');
    return text;
  }

 private:
  bool alternatives(std::string& text, int depth) {
    if (depth > kNestingMax) return false;
    if (!sequence(text, depth)) return false;
    // The first alternative is taken; the others are only read over.
    while (rest_.starts_with('|')) {
      rest_.remove_prefix(1);
      std::string ignored;
      if (!sequence(ignored, depth)) return false;
    }
    return true;
  }

  bool sequence(std::string& text, int depth) {
    while (!rest_.empty() && rest_.front() != '|' && rest_.front() != ')') {
      std::string piece;
      Bytes set;
      if (!atom(piece, set, depth)) return false;
      if (!repetition(piece, set, text) || text.size() > kSampleBytesMax) return false;
    }
    return true;
  }

  // One piece: a literal text, or a set of which each repetition takes a character.
  bool atom(std::string& piece, Bytes& set, int depth) {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    switch (c) {
      case '^':
        return true;
      case '$':
        is_end_anchored_ = true;
        return true;
      case '.':
        add_range(set, 'a', 'z');
        return true;
      case '(':
        return group(piece, depth);
      case '[':
        return character_class(set);
      case '\\':
        return escape(piece, set);
      case '*':
      case '+':
      case '?':
        return false;
      default:
        piece = c;
        while (!rest_.empty() && (static_cast<unsigned char>(rest_.front()) & 0xC0) == 0x80) {
          piece += rest_.front();
          rest_.remove_prefix(1);
        }
        return true;
    }
  }

  bool escape(std::string& piece, Bytes& set) {
    if (rest_.empty()) return false;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == 'A') return true;
    if (c == 'z') {
      is_end_anchored_ = true;
      return true;
    }
    if (c == 'b') return true;
    set = escaped(c);
    if (set.size() == 1) {
      piece = set.front();
      set.clear();
      return true;
    }
    return !set.empty();
  }

  bool group(std::string& piece, int depth) {
    if (rest_.starts_with("?:")) {
      rest_.remove_prefix(2);
    } else if (rest_.starts_with("?P<")) {
      const std::size_t end = rest_.find('>');
      if (end == std::string_view::npos) return false;
      rest_.remove_prefix(end + 1);
    } else if (rest_.starts_with('?')) {
      return false;
    }
    if (!alternatives(piece, depth + 1) || !rest_.starts_with(')')) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool character_class(Bytes& set) {
    const bool is_negated = rest_.starts_with('^');
    if (is_negated) rest_.remove_prefix(1);
    Bytes named;
    bool is_first = true;
    while (!rest_.empty() && (rest_.front() != ']' || is_first)) {
      is_first = false;
      Bytes item;
      if (!class_item(item)) return false;
      if (item.size() == 1 && rest_.size() > 1 && rest_.front() == '-' && rest_[1] != ']') {
        rest_.remove_prefix(1);
        Bytes last;
        if (!class_item(last) || last.size() != 1 || last.front() < item.front()) return false;
        const char first = item.front();
        item.clear();
        add_range(item, first, last.front());
      }
      named.insert(named.end(), item.begin(), item.end());
    }
    if (rest_.empty()) return false;
    rest_.remove_prefix(1);
    if (!is_negated) {
      set = named;
    } else {
      for (int c = 'a'; c <= 'z'; ++c) add_unless(named, static_cast<char>(c), set);
      for (int c = ' '; c < 'a'; ++c) add_unless(named, static_cast<char>(c), set);
    }
    return !set.empty();
  }

  static void add_unless(const Bytes& named, char c, Bytes& set) {
    if (std::find(named.begin(), named.end(), c) == named.end()) set.push_back(c);
  }

  bool class_item(Bytes& item) {
    if (rest_.empty() || rest_.starts_with("[:")) return false;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (static_cast<unsigned char>(c) >= 0x80) return false;
    if (c != '\\') {
      item = {c};
      return true;
    }
    if (rest_.empty()) return false;
    item = escaped(rest_.front());
    rest_.remove_prefix(1);
    return !item.empty();
  }

  bool repetition(const std::string& piece, const Bytes& set, std::string& text) {
    std::size_t least = 1;
    std::size_t most = 1;
    if (!rest_.empty() && !read_bounds(least, most)) return false;
    const std::size_t count = std::min({std::max(least, std::min(most, least + extra_)), kRepeatMax});
    for (std::size_t i = 0; i < count && text.size() <= kSampleBytesMax; ++i) {
      if (set.empty()) {
        text += piece;
      } else {
        text += set[(i + extra_) % set.size()];
      }
    }
    return true;
  }

  bool read_bounds(std::size_t& least, std::size_t& most) {
    const char c = rest_.front();
    if (c == '*' || c == '+' || c == '?') {
      rest_.remove_prefix(1);
      least = c == '+' ? 1 : 0;
      most = c == '?' ? 1 : kRepeatMax;
    } else if (c == '{') {
      const std::size_t end = rest_.find('}');
      if (end == std::string_view::npos) return false;
      std::string_view bounds = rest_.substr(1, end - 1);
      rest_.remove_prefix(end + 1);
      const std::size_t comma = bounds.find(',');
      if (!read_number(bounds.substr(0, comma), least)) return false;
      most = least;
      if (comma != std::string_view::npos) {
        most = kRepeatMax;
        if (comma + 1 < bounds.size() && !read_number(bounds.substr(comma + 1), most)) return false;
      }
    } else {
      return true;
    }
    if (rest_.starts_with('?')) rest_.remove_prefix(1);  // lazy: the same language
    return true;
  }

  static bool read_number(std::string_view text, std::size_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number <= kRepeatMax;
  }

  std::string_view rest_;
  std::size_t extra_;
  bool is_end_anchored_ = false;
};

}  // namespace

std::optional<std::string> pattern_sample(std::string_view pattern, std::size_t extra) {
  auto text = Sampler(pattern, extra).sample();
  if (!text) return std::nullopt;
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 expression(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!expression.ok() || !RE2::PartialMatch(*text, expression)) return std::nullopt;
  return text;
}

}  // namespace assay::sim

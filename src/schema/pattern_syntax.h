#pragma once
// The part of RE2's syntax that the house reads itself: characters, classes, groups, alternatives, repetitions, `^` and
// `$` at the ends of alternatives, `(?i)` and `(?s)` in front. Nearly all patterns of schemas are of this kind.
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace assay::schema {

class CodePoints {
 public:
  struct Range {
    char32_t first;
    char32_t last;
    friend bool operator==(const Range&, const Range&) = default;
  };

  void add(char32_t first, char32_t last);
  void add(const CodePoints& other);
  void invert();
  // Adds the other case of ASCII letters, as RE2 folds. Requires: no letters beyond ASCII.
  void fold_case();
  // Ascending; they neither meet nor touch.
  [[nodiscard]] std::span<const Range> ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;
};

struct PatternNode {
  static constexpr std::uint32_t kNoMaximum = std::numeric_limits<std::uint32_t>::max();
  enum class Kind : std::uint8_t {
    Set,         // one character out of `set`
    Sequence,    // all children in order; none: the empty text
    Choice,      // one of the children
    Repetition,  // the only child, `min` to `max` times
  };

  Kind kind = Kind::Sequence;
  CodePoints set;
  std::uint32_t min = 1;
  std::uint32_t max = 1;
  std::vector<PatternNode> children;
};

// One alternative at the top.
struct PatternAlternative {
  bool at_start = false;  // `^` in front
  bool at_end = false;    // `$` behind
  PatternNode body;
};

struct PatternSyntax {
  std::vector<PatternAlternative> alternatives;

  // The sets once repetitions are written out; saturates.
  [[nodiscard]] std::uint64_t positions() const;
};

// Nothing where the expression is not of this kind, or might mean something else to RE2, or is none: RE2 decides then.
[[nodiscard]] std::optional<PatternSyntax> read_pattern(std::string_view expression);

}  // namespace assay::schema

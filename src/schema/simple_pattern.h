#pragma once
// The many patterns that are only a run of character classes, `^[a-z][a-z0-9_]{0,62}$`: matched in one pass over the
// text without an automaton.
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::schema {

// A set of code points: any of ASCII, and all or none of the others.
struct CharacterClass {
  std::array<std::uint64_t, 2> ascii{};
  bool beyond_ascii = false;

  void add(unsigned char c) { ascii[c >> 6U] |= std::uint64_t{1} << (c & 63U); }
  void add(const CharacterClass& other);
  void invert();
  [[nodiscard]] bool has(unsigned char c) const {
    return c < 0x80 ? (ascii[c >> 6U] >> (c & 63U) & 1U) != 0 : beyond_ascii;
  }
  [[nodiscard]] bool meets(const CharacterClass& other) const;
};

class SimplePattern {
 public:
  // Nothing where the expression is not of this kind, or might mean something else to RE2: then RE2 decides.
  static std::optional<SimplePattern> read(std::string_view expression);

  // As RE2's unanchored search. Requires: valid UTF-8.
  [[nodiscard]] bool found_in(std::string_view text) const;

 private:
  friend class SimplePatternReader;

  static constexpr std::uint32_t kNoMaximum = std::numeric_limits<std::uint32_t>::max();

  struct Run {
    CharacterClass characters;
    std::uint32_t min = 1;
    std::uint32_t max = 1;
  };

  [[nodiscard]] bool is_decided_greedily() const;

  std::vector<Run> runs_;
  bool anchored_at_start_ = false;
  bool anchored_at_end_ = false;
};

// How many characters and classes the expression holds once its counted repetitions are written out: what one byte of
// text may cost an automaton at worst. Requires: RE2 reads the expression.
[[nodiscard]] std::uint64_t count_positions(std::string_view expression);

}  // namespace assay::schema

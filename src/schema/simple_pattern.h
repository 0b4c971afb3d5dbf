#pragma once
// The many patterns that are only a run of character classes, `^[a-z][a-z0-9_]{0,62}$`: matched in one pass over the
// text without an automaton.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "schema/pattern_syntax.h"

namespace assay::schema {

// A set of code points: any of ASCII, and all or none of the others.
struct CharacterClass {
  std::array<std::uint64_t, 2> ascii{};
  bool beyond_ascii = false;

  [[nodiscard]] bool has(unsigned char c) const {
    return c < 0x80 ? (ascii[c >> 6U] >> (c & 63U) & 1U) != 0 : beyond_ascii;
  }
  [[nodiscard]] bool meets(const CharacterClass& other) const;
};

class SimplePattern {
 public:
  // Nothing where the pattern is not of this kind.
  static std::optional<SimplePattern> from(const PatternSyntax& syntax);

  // As RE2's unanchored search. Requires: valid UTF-8.
  [[nodiscard]] bool found_in(std::string_view text) const;
  // Each is looked at once for any text, even the empty one.
  [[nodiscard]] std::size_t runs() const { return runs_.size(); }

 private:
  struct Run {
    CharacterClass characters;
    std::uint32_t min = 1;
    std::uint32_t max = 1;
  };

  bool add(const PatternNode& node);
  [[nodiscard]] bool is_decided_greedily() const;

  std::vector<Run> runs_;
  bool anchored_at_end_ = false;
};

}  // namespace assay::schema

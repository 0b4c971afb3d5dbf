#pragma once
// Regular expressions in RE2's syntax: unanchored search over UTF-8 in time linear in the text, in bounded memory. The
// house matches most of them itself, at a small and fixed cost; RE2 does the rest.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "schema/bit_automaton.h"
#include "schema/pattern_syntax.h"
#include "schema/simple_pattern.h"

namespace re2 {
class RE2;
}

namespace assay::schema {

struct PatternError {
  bool too_complex;    // else RE2 does not read it
  std::string reason;  // short; may quote the pattern
};

class Pattern {
 public:
  // Reads what the house can read itself.
  explicit Pattern(std::string_view expression);
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern();

  // Whether one pass over the text decides; else the pattern must be built.
  [[nodiscard]] bool is_simple() const { return simple_.has_value(); }
  [[nodiscard]] bool needs_re2() const { return !syntax_ && !simple_; }
  // Of what must be built: characters and classes once counted repetitions are written out (re2_cost.h).
  [[nodiscard]] std::uint64_t positions() const { return positions_; }
  // `memory_bytes`: for RE2's program and what it learns while matching. Requires: not simple.
  Result<void, PatternError> build(std::int64_t memory_bytes);

  // Requires: simple or built.
  [[nodiscard]] bool found_in(std::string_view text) const;
  [[nodiscard]] std::string_view expression() const { return expression_; }
  // Work units of one search, at most.
  [[nodiscard]] std::uint64_t cost(std::size_t text_bytes) const {
    return cost_per_text_ + text_bytes * cost_per_byte_ / kCostScale;
  }
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  static constexpr std::uint64_t kCostScale = 16;

  Result<void, PatternError> build_re2(std::int64_t memory_bytes);

  std::string expression_;
  std::optional<PatternSyntax> syntax_;  // until built
  std::optional<SimplePattern> simple_;
  std::unique_ptr<const BitAutomaton> automaton_;
  std::unique_ptr<re2::RE2> re2_;
  std::uint64_t positions_ = 0;
  std::uint64_t cost_per_text_ = 1;  // in units
  std::uint64_t cost_per_byte_ = 0;  // in kCostScale-ths of a unit
};

}  // namespace assay::schema

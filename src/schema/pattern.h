#pragma once
// Regular expressions in RE2's syntax: unanchored search over UTF-8 in time linear in the text, in bounded memory.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
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
  // Reads what needs no automaton; the rest waits for `build`.
  explicit Pattern(std::string_view expression);
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern();

  [[nodiscard]] bool needs_automaton() const { return !simple_; }
  // `memory_bytes`: for the automaton and what it learns while matching. Requires: needs_automaton.
  Result<void, PatternError> build(std::int64_t memory_bytes);

  // Requires: built, where it needs an automaton.
  [[nodiscard]] bool found_in(std::string_view text) const;
  [[nodiscard]] std::string_view expression() const { return expression_; }
  // Work units of one search, at worst.
  [[nodiscard]] std::uint64_t cost(std::size_t text_bytes) const {
    return 1 + text_bytes * positions_ / kPositionsPerUnit;
  }

 private:
  static constexpr std::uint64_t kPositionsPerUnit = 2;

  std::string expression_;
  std::optional<SimplePattern> simple_;
  std::unique_ptr<re2::RE2> automaton_;
  std::uint64_t positions_ = 0;
};

}  // namespace assay::schema

#include "schema/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <utility>

#include "schema/excerpt.h"
#include "schema/limits.h"
#include "schema/re2_cost.h"

namespace assay::schema {

namespace {

// RE2's `\C` matches one byte, so it could split a character: everything else here counts code points.
bool matches_bytes(std::string_view expression) {
  bool is_quoted = false;  // between \Q and \E
  for (std::size_t i = 0; i + 1 < expression.size(); ++i) {
    if (expression[i] != '\\') continue;
    const char escaped = expression[++i];
    if (escaped == 'Q') is_quoted = true;
    if (escaped == 'E') is_quoted = false;
    if (escaped == 'C' && !is_quoted) return true;
  }
  return false;
}

PatternError too_many_positions() {
  return {.too_complex = true,
          .reason = fmt::format("written out, its repetitions have more than {} characters and classes",
                                kPatternPositionsMax)};
}

}  // namespace

Pattern::Pattern(std::string_view expression) : expression_(expression), syntax_(read_pattern(expression)) {
  constexpr std::uint64_t kCostOfSimple = 3;
  constexpr std::uint64_t kRunsPerUnit = 8;
  if (syntax_) simple_ = SimplePattern::from(*syntax_);
  if (simple_) {
    cost_per_text_ = 1 + simple_->runs() / kRunsPerUnit;
    cost_per_byte_ = kCostOfSimple;
    syntax_.reset();
  } else {
    positions_ = syntax_ ? syntax_->positions() : re2_positions(expression);
  }
}

Pattern::~Pattern() = default;

Result<void, PatternError> Pattern::build(std::int64_t memory_bytes) {
  constexpr std::uint64_t kOperationsPerStep = 2;  // a step is a kCostScale-th of a unit
  if (!syntax_) return build_re2(memory_bytes);
  if (positions_ > kPatternPositionsMax) return fail(too_many_positions());
  automaton_ = std::make_unique<const BitAutomaton>(*syntax_);
  syntax_.reset();
  cost_per_byte_ = 5 + automaton_->operations_per_byte() / kOperationsPerStep;
  return {};
}

Result<void, PatternError> Pattern::build_re2(std::int64_t memory_bytes) {
  constexpr std::size_t kReasonBytesMax = 120;
  constexpr std::uint64_t kCostOfPosition = 24;
  constexpr std::uint64_t kBytesOfStart = 4;  // a search begins with all that its first byte may meet
  if (matches_bytes(expression_)) {
    return fail(PatternError{.too_complex = false, .reason = "\\C matches bytes, not characters"});
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(memory_bytes);
  auto automaton = std::make_unique<re2::RE2>(expression_, options);
  if (!automaton->ok() && automaton->error_code() != re2::RE2::ErrorPatternTooLarge) {
    return fail(PatternError{.too_complex = false, .reason = excerpt(automaton->error(), kReasonBytesMax)});
  }
  if (positions_ > kPatternPositionsMax) return fail(too_many_positions());
  // The reversed program answers for expressions that end in `$`; it would else be made by the first search.
  const bool may_end_at_end =
      expression_.find('$') != std::string::npos || expression_.find("\\z") != std::string::npos;
  if (!automaton->ok() || (may_end_at_end && automaton->ReverseProgramSize() < 0)) {
    return fail(PatternError{.too_complex = true,
                             .reason = fmt::format("its automaton does not fit into {} KiB", memory_bytes / 1024)});
  }
  re2_ = std::move(automaton);
  cost_per_byte_ = positions_ * kCostOfPosition;
  cost_per_text_ = 1 + kBytesOfStart * cost_per_byte_ / kCostScale;
  return {};
}

bool Pattern::found_in(std::string_view text) const {
  if (simple_) return simple_->found_in(text);
  if (automaton_) return automaton_->found_in(text);
  return re2_->Match(re2::StringPiece(text.data(), text.size()), 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

std::size_t Pattern::memory_bytes() const {
  return sizeof *this + expression_.capacity() + (automaton_ ? automaton_->memory_bytes() : 0);
}

}  // namespace assay::schema

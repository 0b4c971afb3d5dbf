#include "schema/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <utility>

#include "schema/excerpt.h"
#include "schema/limits.h"

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

}  // namespace

Pattern::Pattern(std::string_view expression) : expression_(expression), simple_(SimplePattern::read(expression)) {}
Pattern::~Pattern() = default;

Result<void, PatternError> Pattern::build(std::int64_t memory_bytes) {
  constexpr std::size_t kReasonBytesMax = 120;
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
  positions_ = count_positions(expression_);
  if (positions_ > kPatternPositionsMax) {
    return fail(
        PatternError{.too_complex = true,
                     .reason = fmt::format("written out, its repetitions have more than {} characters and classes",
                                           kPatternPositionsMax)});
  }
  // The reversed program answers for expressions that end in `$`.
  if (!automaton->ok() || automaton->ReverseProgramSize() < 0) {
    return fail(PatternError{.too_complex = true,
                             .reason = fmt::format("its automaton does not fit into {} KiB", memory_bytes / 1024)});
  }
  automaton_ = std::move(automaton);
  return {};
}

bool Pattern::found_in(std::string_view text) const {
  if (simple_) return simple_->found_in(text);
  return automaton_->Match(re2::StringPiece(text.data(), text.size()), 0, text.size(), re2::RE2::UNANCHORED, nullptr,
                           0);
}

}  // namespace assay::schema

#include "schema/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "schema/excerpt.h"
#include "schema/limits.h"

namespace assay::schema {
namespace {

re2::RE2::Options options() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemoryBytesMax);
  return options;
}

PatternError too_large() {
  return {.too_complex = true,
          .reason = fmt::format("its program is over the limit of {} instructions; bound or simplify its repetitions",
                                kPatternProgramMax)};
}

}  // namespace

Pattern::Pattern(std::unique_ptr<re2::RE2> program)
    : program_(std::move(program)), program_size_(static_cast<std::size_t>(program_->ProgramSize())) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Result<Pattern, PatternError> Pattern::compile(std::string_view expression) {
  constexpr std::size_t kReasonBytesMax = 120;
  auto program = std::make_unique<re2::RE2>(re2::StringPiece(expression.data(), expression.size()), options());
  if (!program->ok()) {
    if (program->error_code() == re2::RE2::ErrorPatternTooLarge) return fail(too_large());
    return fail(PatternError{.too_complex = false, .reason = excerpt(program->error(), kReasonBytesMax)});
  }
  // The reversed program answers for expressions that end in `$`.
  const int reversed = program->ReverseProgramSize();
  if (reversed < 0 || std::max(program->ProgramSize(), reversed) > kPatternProgramMax) return fail(too_large());
  return Pattern(std::move(program));
}

bool Pattern::found_in(std::string_view text) const {
  const re2::StringPiece piece(text.data(), text.size());
  return program_->Match(piece, 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

std::string_view Pattern::expression() const { return program_->pattern(); }

}  // namespace assay::schema

#pragma once
// Regular expressions in RE2's syntax: unanchored search over UTF-8 in time linear in the text, in bounded memory.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

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
  static Result<Pattern, PatternError> compile(std::string_view expression);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  [[nodiscard]] bool found_in(std::string_view text) const;
  [[nodiscard]] std::string_view expression() const;
  // Work units of one search, at worst.
  [[nodiscard]] std::uint64_t cost(std::size_t text_bytes) const {
    return 1 + text_bytes * program_size_ / kInstructionsPerUnit;
  }

 private:
  static constexpr std::size_t kInstructionsPerUnit = 64;

  explicit Pattern(std::unique_ptr<re2::RE2> program);

  std::unique_ptr<re2::RE2> program_;
  std::size_t program_size_;
};

}  // namespace assay::schema

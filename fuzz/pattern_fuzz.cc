// The patterns that the house reads itself against RE2. Input: the expression, a zero byte, the text.
#include <re2/re2.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/utf8.h"
#include "schema/bit_automaton.h"
#include "schema/limits.h"
#include "schema/pattern_syntax.h"
#include "schema/simple_pattern.h"

namespace schema = assay::schema;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = input.find('\0');
  if (zero == std::string_view::npos || zero > schema::kPatternBytesMax) return 0;
  const std::string_view expression = input.substr(0, zero);
  const std::string_view text = input.substr(zero + 1);
  // Schemas and values are strict JSON: UTF-8, without U+0000.
  if (assay::json::first_invalid_utf8(input) != std::string_view::npos) return 0;
  if (text.find('\0') != std::string_view::npos) return 0;
  const auto syntax = schema::read_pattern(expression);
  if (!syntax || syntax->positions() > schema::kPatternPositionsMax) return 0;
  const re2::RE2 re2(re2::StringPiece(expression.data(), expression.size()), re2::RE2::Quiet);
  ASSAY_CHECK(re2.ok(), "RE2 reads what the house reads");
  const bool expected = re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), re2);
  ASSAY_CHECK(schema::BitAutomaton(*syntax).found_in(text) == expected, "the automaton finds what RE2 finds");
  const auto simple = schema::SimplePattern::from(*syntax);
  ASSAY_CHECK(!simple || simple->found_in(text) == expected, "one pass finds what RE2 finds");
  return 0;
}

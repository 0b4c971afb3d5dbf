#include "schema/pattern.h"

#include <gtest/gtest.h>

#include "schema/limits.h"

namespace assay::schema {
namespace {

Result<void, PatternError> built(std::string_view expression) {
  Pattern pattern(expression);
  if (!pattern.needs_automaton()) return {};
  return pattern.build(kPatternMemoryBytesMax);
}

bool found(std::string_view expression, std::string_view text) {
  Pattern pattern(expression);
  if (pattern.needs_automaton()) EXPECT_TRUE(pattern.build(kPatternMemoryBytesMax)) << expression;
  return pattern.found_in(text);
}

TEST(Pattern, SearchesUnanchored) {
  EXPECT_TRUE(found("b", "abc"));
  EXPECT_FALSE(found("^b", "abc"));
  EXPECT_TRUE(found("^abc$", "abc"));
  EXPECT_FALSE(found("^abc$", "abc\n"));
  EXPECT_TRUE(found("", ""));
}

TEST(Pattern, ReadsUtf8) {
  EXPECT_TRUE(found("^.$", "\U0001F432"));
  EXPECT_TRUE(found("^\\p{Lu}$", "\u00C4"));
  EXPECT_FALSE(found("^\\w$", "\u00E4"));
}

TEST(Pattern, RefusesWhatRe2DoesNotRead) {
  for (const char* expression :
       {"[a", "(?=a)", "(?<!a)b", "(a)\\1", "a{2,1}", "a{1001}", "*", "\\", "[z-a]", "\\c", "a\\C", "\\\\\\C"}) {
    const auto result = built(expression);
    ASSERT_FALSE(result) << expression;
    EXPECT_FALSE(result.error().too_complex) << expression;
    EXPECT_FALSE(result.error().reason.empty());
  }
}

TEST(Pattern, TakesAQuotedOrEscapedCForWhatItIs) {
  EXPECT_TRUE(built("\\Q\\C\\E"));
  EXPECT_TRUE(built("\\\\C"));
}

TEST(Pattern, RefusesAnAutomatonOverItsLimits) {
  EXPECT_TRUE(built("(ab){128}"));
  for (const char* expression : {"(ab){129}", "((ab){17}c{3}){8}", "a[bc]{0,255}|x", "(\\pL{20}x|y)"}) {
    const auto result = built(expression);
    ASSERT_FALSE(result) << expression;
    EXPECT_TRUE(result.error().too_complex) << expression << result.error().reason;
  }
  EXPECT_TRUE(built("^[bc]{0,1000}$"));
}

TEST(Pattern, KnowsWhatItMayCost) {
  EXPECT_EQ(Pattern("^[a-z]+$").cost(1000), 1U);
  Pattern pattern("(a|b)*c");
  EXPECT_TRUE(pattern.build(kPatternMemoryBytesMax));
  EXPECT_EQ(pattern.cost(1000), 1501U);
}

TEST(Pattern, StaysLinearWhereBacktrackingWouldNot) {
  const std::string text(20000, 'a');
  EXPECT_FALSE(found("^(a+)+$", text + "b"));
  EXPECT_FALSE(found("(x+x+)+y", std::string(20000, 'x')));
}

}  // namespace
}  // namespace assay::schema

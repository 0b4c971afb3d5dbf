#include "schema/pattern.h"

#include <gtest/gtest.h>

#include "schema/limits.h"

namespace assay::schema {
namespace {

Result<void, PatternError> built(std::string_view expression) {
  Pattern pattern(expression);
  if (pattern.is_simple()) return {};
  return pattern.build(kPatternMemoryBytesMax);
}

bool found(std::string_view expression, std::string_view text) {
  Pattern pattern(expression);
  if (!pattern.is_simple()) EXPECT_TRUE(pattern.build(kPatternMemoryBytesMax)) << expression;
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
  for (const char* expression : {"(ab){128}", "\\b(ab){85}", "^[bc]{0,1000}$"})
    EXPECT_TRUE(built(expression)) << expression;
  for (const char* expression : {"(ab){129}", "((ab){17}c{3}){8}", "a[bc]{0,255}|x", "\\b(ab){86}", "(\\pL{20}x|y)"}) {
    const auto result = built(expression);
    ASSERT_FALSE(result) << expression;
    EXPECT_TRUE(result.error().too_complex) << expression << result.error().reason;
  }
}

TEST(Pattern, RefusesWhatDoesNotFitIntoRe2sMemory) {
  Pattern pattern("\\pL{3}");
  ASSERT_TRUE(pattern.needs_re2());
  const auto result = pattern.build(16 * 1024);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().too_complex);
  EXPECT_EQ(result.error().reason, "its automaton does not fit into 16 KiB");
}

TEST(Pattern, KnowsWhatItMayCost) {
  const auto cost = [](std::string_view expression) {
    Pattern pattern(expression);
    if (!pattern.is_simple()) EXPECT_TRUE(pattern.build(kPatternMemoryBytesMax));
    return pattern.cost(1600);
  };
  EXPECT_EQ(cost("^[a-z]+$"), 301U);
  EXPECT_EQ(cost("abc"), 701U);          // one word, nothing but steps to the right
  EXPECT_EQ(cost("(a?){256}"), 14101U);  // four words, all of them with jumps
  EXPECT_EQ(cost("\\babc"), 9625U);      // RE2
}

// An empty text passes all runs, and RE2 begins with all that a character may be.
TEST(Pattern, CostsSomethingForTheShortestText) {
  Pattern letters("\\pL*");
  ASSERT_TRUE(letters.build(kPatternMemoryBytesMax));
  EXPECT_EQ(letters.cost(0), 55U);
  EXPECT_EQ(Pattern("^a?b?c?").cost(0), 1U);
  EXPECT_EQ(Pattern("^a?b?c?d?e?f?g?h?i?j?k?l?m?n?o?p?").cost(0), 3U);
}

TEST(Pattern, StaysLinearWhereBacktrackingWouldNot) {
  const std::string text(20000, 'a');
  EXPECT_FALSE(found("^(a+)+$", text + "b"));
  EXPECT_FALSE(found("(x+x+)+y", std::string(20000, 'x')));
}

}  // namespace
}  // namespace assay::schema

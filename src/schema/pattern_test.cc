#include "schema/pattern.h"

#include <gtest/gtest.h>

#include "schema/limits.h"

namespace assay::schema {
namespace {

bool found(std::string_view expression, std::string_view text) {
  const auto pattern = Pattern::compile(expression);
  EXPECT_TRUE(pattern) << expression;
  return pattern && pattern->found_in(text);
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
  for (const char* expression : {"[a", "(?=a)", "(?<!a)b", "(a)\\1", "a{2,1}", "*", "\\"}) {
    const auto pattern = Pattern::compile(expression);
    ASSERT_FALSE(pattern) << expression;
    EXPECT_FALSE(pattern.error().too_complex) << expression;
    EXPECT_FALSE(pattern.error().reason.empty());
  }
}

TEST(Pattern, RefusesAnExplodingProgram) {
  for (const char* expression : {"((a{100}){10}){10}", "(\\pL{50}){20}", "[^a]{999}[^b]{999}"}) {
    const auto pattern = Pattern::compile(expression);
    ASSERT_FALSE(pattern) << expression;
    EXPECT_TRUE(pattern.error().too_complex || pattern.error().reason.contains("repetition")) << pattern.error().reason;
  }
}

TEST(Pattern, StaysLinearWhereBacktrackingWouldNot) {
  const std::string text(20000, 'a');
  EXPECT_FALSE(found("^(a+)+$", text + "b"));
  EXPECT_FALSE(found("(x+x+)+y", std::string(20000, 'x')));
}

}  // namespace
}  // namespace assay::schema

#include "schema/simple_pattern.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <string>

#include "base/random.h"

namespace assay::schema {
namespace {

TEST(SimplePattern, ReadsRunsOfClasses) {
  for (const char* expression : {"^", "^$", "^a", "^[a-z]+$", "^\\d{4}-\\d{2}-\\d{2}$", "^.{1,200}$",
                                 "^[\\w.-]+@[^@\\s]*$", "^x?y*z{2}", "^[^\\n]{0,1000}$", "^\\$\\{[-a]\\}$", "^[a-]$"}) {
    EXPECT_TRUE(SimplePattern::read(expression)) << expression;
  }
}

TEST(SimplePattern, LeavesTheRestToRe2) {
  for (const char* expression :
       {"",       "a",       "a$",           "^a|b",  "^(a)$", "^a*a",     "^a?b?a$", "^\\w+\\d$",
        "^\\bx",  "^\\pL",   "^[[:alpha:]]", "^a+?b", "^a**",  "^a{1001}", "^a{2,1}", "^a{,2}",
        "^{",     "^]",      "^$a",          "^[",    "^[]a]", "^[a-z-9]", "^[z-a]",  "^[\\d-x]",
        "^\\x41", "^\u00E4", "^[\u00E4]",    "^\\",   "^\\_",  "^(?i)a",   "^^a",     "^+"}) {
    EXPECT_FALSE(SimplePattern::read(expression)) << expression;
  }
}

std::string random_piece(SeededRandom& random) {
  const char* pieces[] = {"a",      "b",   "c",        ".",    "\\.",   "\\d",  "\\D",    "\\w",     "\\W",
                          "\\s",    "\\S", "[ab]",     "[^a]", "[a-c]", "[b-]", "[^\\w]", "[\\d_x]", "-",
                          "[^\\n]", "1",   "[0-9a-f]", "\\-",  "[.]",   "/",    "\\/"};
  return pieces[random.below(std::size(pieces))];
}

std::string random_expression(SeededRandom& random) {
  const char* repetitions[] = {"", "", "", "*", "+", "?", "{2}", "{0,2}", "{1,}", "{1,3}", "{0}", "{0,0}"};
  std::string expression = "^";
  for (std::uint64_t runs = random.below(5); runs > 0; --runs) {
    expression += random_piece(random) + repetitions[random.below(std::size(repetitions))];
  }
  return random.below(2) == 0 ? expression : expression + "$";
}

std::string random_text(SeededRandom& random) {
  const char* pieces[] = {"a", "b", "c", "1", ".", "-", "_", " ", "\n", "/", "\u00E4", "\u20AC", "\U0001F432", "x"};
  std::string text;
  for (std::uint64_t count = random.below(8); count > 0; --count) text += pieces[random.below(std::size(pieces))];
  return text;
}

TEST(SimplePattern, AgreesWithRe2) {
  SeededRandom random(5);
  int simple = 0;
  int found = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::string expression = random_expression(random);
    const auto pattern = SimplePattern::read(expression);
    if (!pattern) continue;
    ++simple;
    const re2::RE2 re2(expression, re2::RE2::Quiet);
    ASSERT_TRUE(re2.ok()) << expression;
    for (int i = 0; i < 30; ++i) {
      const std::string text = random_text(random);
      EXPECT_EQ(pattern->found_in(text), re2::RE2::PartialMatch(text, re2)) << expression << "\n" << text;
      found += pattern->found_in(text) ? 1 : 0;
    }
  }
  EXPECT_GT(simple, 1000);
  EXPECT_GT(found, 1000);
}

TEST(CountPositions, WritesRepetitionsOut) {
  EXPECT_EQ(count_positions(""), 1U);
  EXPECT_EQ(count_positions("abc"), 3U);
  EXPECT_EQ(count_positions("a|[b-z]\\d"), 3U);
  EXPECT_EQ(count_positions("a{3}b{2,5}c{4,}d*"), 13U);
  EXPECT_EQ(count_positions("((a{2}b){3}c){2}"), 20U);
  EXPECT_EQ(count_positions("[]a-]{2}[^]x]{3}[[:alpha:]\\]]{4}"), 9U);
  EXPECT_EQ(count_positions("(){50}"), 50U);
  EXPECT_EQ(count_positions("((((a{100}){100}){100}){100}){100}"), 1000000U);
}

}  // namespace
}  // namespace assay::schema

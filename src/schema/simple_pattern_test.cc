#include "schema/simple_pattern.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <string>

#include "base/random.h"

namespace assay::schema {
namespace {

std::optional<SimplePattern> simple(std::string_view expression) {
  const auto syntax = read_pattern(expression);
  return syntax ? SimplePattern::from(*syntax) : std::nullopt;
}

TEST(SimplePattern, ReadsRunsOfClasses) {
  for (const char* expression :
       {"^", "^$", "^a", "^[a-z]+$", "^\\d{4}-\\d{2}-\\d{2}$", "^.{1,200}$", "^[\\w.-]+@[^@\\s]*$", "^x?y*z{2}",
        "^(ab)(?:c)$", "(?i)^x[0-9]+$", "^[^\\n]{0,1000}$", "^\\$\\{[-a]\\}$", "^[a-]$"}) {
    EXPECT_TRUE(simple(expression)) << expression;
  }
}

TEST(SimplePattern, LeavesTheRestToAutomata) {
  for (const char* expression : {"", "a", "a$", "^a|b", "^(a|b)$", "^(ab)*$", "^a*a", "^a?b?a$", "^\\w+\\d$", "^\u00E4",
                                 "^[\u00E4]", "^[^\u00E4]", "^[a-\u00E4]"}) {
    EXPECT_TRUE(read_pattern(expression)) << expression;
    EXPECT_FALSE(simple(expression)) << expression;
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
  int read = 0;
  int found = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::string expression = random_expression(random);
    const auto pattern = simple(expression);
    if (!pattern) continue;
    ++read;
    const re2::RE2 re2(expression, re2::RE2::Quiet);
    ASSERT_TRUE(re2.ok()) << expression;
    for (int i = 0; i < 30; ++i) {
      const std::string text = random_text(random);
      EXPECT_EQ(pattern->found_in(text), re2::RE2::PartialMatch(text, re2)) << expression << "\n" << text;
      found += pattern->found_in(text) ? 1 : 0;
    }
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(found, 1000);
}

}  // namespace
}  // namespace assay::schema

#include "sim/pattern_sample.h"

#include <gtest/gtest.h>

namespace assay::sim {
namespace {

TEST(PatternSample, FollowsTheCommonSyntax) {
  EXPECT_EQ(pattern_sample("", 0), "");
  EXPECT_EQ(pattern_sample("^abc$", 0), "abc");
  EXPECT_EQ(pattern_sample(R"(^\d{3}-[x-z]+\.$)", 0), "012-x.");
  EXPECT_EQ(pattern_sample("^(a|b)(?:c|d){2}(?P<n>e)?$", 0), "acc");
  EXPECT_EQ(pattern_sample("^[^a]$", 0), "b");
  EXPECT_EQ(pattern_sample("^[]-]$", 0), "]");
  EXPECT_EQ(pattern_sample("^\xC3\xA9$", 0), "\xC3\xA9");
}

TEST(PatternSample, GrowsWhereTheExpressionLetsIt) {
  EXPECT_EQ(pattern_sample("^a*$", 3), "aaa");
  EXPECT_EQ(pattern_sample("^a{2,3}$", 9), "aaa");
  EXPECT_EQ(pattern_sample("ab", 2), "abaa");
}

TEST(PatternSample, GivesUpOnTheRest) {
  for (const char* pattern : {"(", "[", "[a", "a{9999}", "*", R"(\)", R"(\pL)", "(?i)a", "a)", "[[:alpha:]]", "^a$b"}) {
    EXPECT_EQ(pattern_sample(pattern, 0), std::nullopt) << pattern;
  }
}

}  // namespace
}  // namespace assay::sim

#include "sim/number_candidates.h"

#include <gtest/gtest.h>

namespace assay::sim {
namespace {

TEST(NumberCandidates, PrefersSmallPlainNumbers) {
  EXPECT_EQ(fitting_number({}, 0), "1");
  EXPECT_EQ(fitting_number({}, 1), "0");
  NumberRules rules;
  rules.minimums = {"10"};
  rules.is_integer = true;
  EXPECT_EQ(fitting_number(rules, 0), "10");
}

TEST(NumberCandidates, KeepsBoundsExactly) {
  NumberRules rules;
  rules.exclusive_minimums = {"9007199254740992"};
  rules.exclusive_maximums = {"9007199254740994"};
  rules.is_integer = true;
  EXPECT_EQ(fitting_number(rules, 0), "9007199254740993");
  EXPECT_EQ(fitting_number(rules, 1), std::nullopt) << "there is no second integer in between";
}

TEST(NumberCandidates, FindsMultiples) {
  NumberRules rules;
  rules.divisors = {"0.01"};
  rules.exclusive_minimums = {"19.99"};
  EXPECT_EQ(fitting_number(rules, 0), "20");
  rules.divisors = {"4", "6"};
  rules.exclusive_minimums = {"0"};
  rules.maximums = {"24"};
  EXPECT_EQ(fitting_number(rules, 0), "24");
}

TEST(NumberCandidates, SurvivesNumbersThatAreTooLongToCalculateWith) {
  NumberRules rules;
  rules.divisors = {"0.123456789012345678901234567891", "0.987654321098765432109876543211"};
  EXPECT_EQ(fitting_number(rules, 0), "0");
  rules.divisors = {"1e-1000"};
  rules.exclusive_minimums = {"123456789012345678901234567890123456789012345678901234567890"};
  EXPECT_TRUE(fitting_number(rules, 0).has_value());
}

TEST(NumberCandidates, GivesDifferentOnesForDifferentNumbers) {
  NumberRules rules;
  rules.minimums = {"100"};
  rules.is_integer = true;
  EXPECT_NE(fitting_number(rules, 0), fitting_number(rules, 255));
  EXPECT_TRUE(fitting_number(rules, 255).has_value());
}

}  // namespace
}  // namespace assay::sim

#include "schema/re2_cost.h"

#include <gtest/gtest.h>

namespace assay::schema {
namespace {

TEST(Re2Cost, WritesRepetitionsOut) {
  EXPECT_EQ(re2_positions(""), 1U);
  EXPECT_EQ(re2_positions("abc"), 3U);
  EXPECT_EQ(re2_positions("a{3}b{2,5}c{4,}d*"), 13U);
  EXPECT_EQ(re2_positions("[]a-]{2}[^]x]{3}[[:alpha:]\\]]{4}"), 9U);
  EXPECT_EQ(re2_positions("((((a{100}){100}){100}){100}){100}"), 1000000U);
}

TEST(Re2Cost, CountsWhatTakesStepsOfItsOwn) {
  EXPECT_EQ(re2_positions("a|b|c"), 5U);
  EXPECT_EQ(re2_positions("((a))"), 3U);
  EXPECT_EQ(re2_positions("(){50}"), 50U);
  EXPECT_EQ(re2_positions("\\pL"), 9U);
  EXPECT_EQ(re2_positions("[\\pL\\d]{2}"), 16U);
  EXPECT_EQ(re2_positions("[\u00E4\u00F6\u00FC\u00DF]"), 3U);
}

}  // namespace
}  // namespace assay::schema

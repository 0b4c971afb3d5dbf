#include "base/check.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Check, PassesWhenTheConditionHolds) { ASSAY_CHECK(1 + 1 == 2, "arithmetic"); }

TEST(CheckDeathTest, AbortsAndNamesConditionAndReason) {
  EXPECT_DEATH(ASSAY_CHECK(1 + 1 == 3, "arithmetic"), "broken invariant.*arithmetic.*1 \\+ 1 == 3");
}

}  // namespace
}  // namespace assay

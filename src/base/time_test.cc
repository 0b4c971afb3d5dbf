#include "base/time.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

using std::chrono::microseconds;

TEST(Rfc3339, PrintsMicrosecondsInUtc) {
  EXPECT_EQ(to_rfc3339(WallTime(microseconds(0))), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(to_rfc3339(WallTime(microseconds(1'780'272'001'000'042))), "2026-06-01T00:00:01.000042Z");
  EXPECT_EQ(to_rfc3339(WallTime(microseconds(-1))), "1969-12-31T23:59:59.999999Z");
}

TEST(Deadline, PassesWithTheClockAndNeverGoesNegative) {
  ManualClock clock;
  const Deadline deadline = Deadline::after(clock, Milliseconds(5));
  EXPECT_EQ(deadline.remaining(clock), Milliseconds(5));
  clock.advance(microseconds(4'500));
  EXPECT_EQ(deadline.remaining(clock), Milliseconds(1)) << "a part of a millisecond still has to be waited for";
  EXPECT_FALSE(deadline.has_passed(clock));
  clock.advance(microseconds(10'000));
  EXPECT_TRUE(deadline.has_passed(clock));
  EXPECT_EQ(deadline.remaining(clock), Milliseconds(0));
}

TEST(Deadline, TakesTheEarlierOfTwo) {
  ManualClock clock;
  const Deadline soon = Deadline::after(clock, Milliseconds(1));
  EXPECT_EQ(soon.earlier_of(Deadline::never()).instant(), soon.instant());
  EXPECT_EQ(Deadline::never().earlier_of(soon).instant(), soon.instant());
}

}  // namespace
}  // namespace assay

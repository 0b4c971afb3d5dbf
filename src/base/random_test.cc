#include "base/random.h"

#include <gtest/gtest.h>

#include <array>

namespace assay {
namespace {

TEST(SeededRandom, RepeatsItsSequence) {
  SeededRandom first(7);
  SeededRandom second(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(first.next(), second.next());
}

TEST(SeededRandom, DiffersBySeed) { EXPECT_NE(SeededRandom(1).next(), SeededRandom(2).next()); }

TEST(Random, BelowStaysUnderTheBoundAndReachesEveryValue) {
  SeededRandom random(3);
  std::array<int, 5> seen{};
  for (int i = 0; i < 1000; ++i) ++seen.at(random.below(5));
  for (const int count : seen) EXPECT_GT(count, 100);
}

TEST(SystemRandom, GivesFreshBytes) { EXPECT_NE(system_random().next(), system_random().next()); }

}  // namespace
}  // namespace assay

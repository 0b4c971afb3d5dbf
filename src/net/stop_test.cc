#include "net/stop.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace assay::net {
namespace {

TEST(StopSource, KeepsTheFirstReason) {
  StopSource source;
  EXPECT_FALSE(source.stopped());
  source.stop(StopReason::Superseded);
  source.stop(StopReason::Shutdown);
  EXPECT_EQ(source.reason(), StopReason::Superseded);
}

TEST(StopToken, NeverStopsWithoutASource) {
  const StopToken token;
  EXPECT_FALSE(token.can_stop());
  EXPECT_FALSE(token.stopped());
}

TEST(StopToken, OutlivesItsSource) {
  auto source = std::make_unique<StopSource>();
  const StopToken token = source->token();
  source->stop(StopReason::LeaseLost);
  source.reset();
  EXPECT_EQ(token.reason(), StopReason::LeaseLost);
}

TEST(StopSource, StopsWithItsParentAndItsReason) {
  StopSource parent;
  const StopSource child(parent.token());
  const StopSource grandchild(child.token());
  parent.stop(StopReason::Interrupted);
  EXPECT_EQ(grandchild.reason(), StopReason::Interrupted);
}

TEST(StopSource, LeavesItsParentRunning) {
  StopSource parent;
  {
    StopSource child(parent.token());
    child.stop(StopReason::Superseded);
  }
  EXPECT_FALSE(parent.stopped());
  parent.stop(StopReason::Shutdown);
}

TEST(StopSource, IsStoppedAtBirthByAStoppedParent) {
  StopSource parent;
  parent.stop(StopReason::Shutdown);
  EXPECT_EQ(StopSource(parent.token()).reason(), StopReason::Shutdown);
}

TEST(StopCallback, RunsOnceInOrderAndSeesTheReason) {
  StopSource source;
  std::vector<int> order;
  const StopCallback first(source.token(), [&] { order.push_back(1); });
  const StopCallback second(source.token(), [&] {
    order.push_back(2);
    EXPECT_EQ(source.reason(), StopReason::Shutdown);
  });
  source.stop(StopReason::Shutdown);
  source.stop(StopReason::Shutdown);
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(StopCallback, RunsAtOnceWhereTheTokenHasStopped) {
  StopSource source;
  source.stop(StopReason::Shutdown);
  bool ran = false;
  const StopCallback callback(source.token(), [&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(StopCallback, DoesNotRunAfterItsDestruction) {
  StopSource source;
  int runs = 0;
  auto first = std::make_unique<StopCallback>(source.token(), [&] { ++runs; });
  const StopCallback second(source.token(), [&] { ++runs; });
  const StopCallback third(source.token(), [&] { ++runs; });
  first.reset();
  source.stop(StopReason::Shutdown);
  EXPECT_EQ(runs, 2);
}

TEST(StopCallback, MayDestroyOthersAndItself) {
  StopSource source;
  std::unique_ptr<StopCallback> self;
  std::unique_ptr<StopCallback> other;
  bool other_ran = false;
  self = std::make_unique<StopCallback>(source.token(), [&] {
    self.reset();
    other.reset();
  });
  other = std::make_unique<StopCallback>(source.token(), [&] { other_ran = true; });
  source.stop(StopReason::Shutdown);
  EXPECT_FALSE(other_ran);
  EXPECT_EQ(self, nullptr);
}

TEST(StopReason, HasAName) { EXPECT_EQ(to_string(StopReason::LeaseLost), "lease lost"); }

}  // namespace
}  // namespace assay::net

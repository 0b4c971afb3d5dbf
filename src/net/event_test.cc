#include "net/event.h"

#include <gtest/gtest.h>

#include <vector>

#include "net/loop.h"
#include "net/task_group.h"
#include "net/timer.h"

namespace assay::net {
namespace {

Deadline soon() { return Deadline::after(system_clock(), Milliseconds(5)); }

Task<> wait_into(Event& event, Deadline deadline, StopToken stop, std::vector<WaitOutcome>& outcomes) {
  const WaitOutcome outcome = co_await event.wait(deadline, stop);
  outcomes.push_back(outcome);
}

Task<> wakes_all(Loop& loop) {
  Event event;
  std::vector<WaitOutcome> outcomes;
  TaskGroup group(loop);
  for (int i = 0; i < 3; ++i) {
    group.spawn("waiter", wait_into(event, Deadline::never(), StopToken(), outcomes));
  }
  event.set();
  EXPECT_TRUE(outcomes.empty()) << "waiters resume from the loop, not inside set()";
  event.clear();
  co_await group.join();
  EXPECT_EQ(outcomes, std::vector<WaitOutcome>(3, WaitOutcome::Signalled));
}

TEST(Event, WakesEveryWaiterEvenWhenClearedAtOnce) {
  Loop loop;
  loop.run(wakes_all(loop));
}

Task<> stays_set() {
  Event event;
  event.set();
  EXPECT_EQ(co_await event.wait(Deadline::never()), WaitOutcome::Signalled);
  EXPECT_EQ(co_await event.wait(Deadline::never()), WaitOutcome::Signalled);
  event.clear();
  EXPECT_FALSE(event.is_set());
  EXPECT_EQ(co_await event.wait(soon()), WaitOutcome::DeadlinePassed);
}

TEST(Event, StaysSetUntilCleared) {
  Loop loop;
  loop.run(stays_set());
}

Task<> passed_deadline() {
  Event event;
  const Deadline past = Deadline::at(system_clock().steady_now() - Milliseconds(5));
  EXPECT_EQ(co_await event.wait(past), WaitOutcome::DeadlinePassed);
}

TEST(Event, ReturnsAtOnceWhereTheDeadlineHasPassed) {
  Loop loop;
  loop.run(passed_deadline());
}

Task<> stops(Loop& loop) {
  Event event;
  StopSource source;
  std::vector<WaitOutcome> outcomes;
  TaskGroup group(loop);
  group.spawn("stopped", wait_into(event, Deadline::never(), source.token(), outcomes));
  group.spawn("goes on", wait_into(event, Deadline::never(), StopToken(), outcomes));
  source.stop(StopReason::Superseded);
  event.set();
  co_await group.join();
  EXPECT_EQ(outcomes, (std::vector{WaitOutcome::Stopped, WaitOutcome::Signalled}));
  event.clear();
  EXPECT_EQ(co_await event.wait(Deadline::never(), source.token()), WaitOutcome::Stopped);
}

TEST(Event, ReturnsWhenTheTokenStopsAndLeavesOthersWaiting) {
  Loop loop;
  loop.run(stops(loop));
}

Task<> may_go_first(Loop& loop) {
  TaskGroup group(loop);
  std::vector<WaitOutcome> outcomes;
  {
    Event event;
    group.spawn("waiter", wait_into(event, soon(), StopToken(), outcomes));
  }
  co_await group.join();
  EXPECT_EQ(outcomes, std::vector{WaitOutcome::DeadlinePassed});
}

TEST(Event, LeavesNoDanglingWaiterBehind) {
  Loop loop;
  loop.run(may_go_first(loop));
}

Task<> consume(Signal& signal, int& seen_notifications, std::uint64_t last) {
  std::uint64_t seen = 0;
  while (seen < last) {
    co_await signal.wait_beyond(seen, Deadline::never());
    seen = signal.version();
    ++seen_notifications;
  }
}

Task<> counts_changes(Loop& loop) {
  Signal signal;
  int first = 0;
  int second = 0;
  TaskGroup group(loop);
  group.spawn("first", consume(signal, first, 3));
  group.spawn("second", consume(signal, second, 3));
  signal.notify();
  signal.notify();
  co_await sleep_for(Milliseconds(1));
  signal.notify();
  co_await group.join();
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 2);
}

TEST(Signal, LosesNoChangeBetweenWaits) {
  Loop loop;
  loop.run(counts_changes(loop));
}

Task<> signal_ends() {
  Signal signal;
  StopSource source;
  EXPECT_EQ(co_await signal.wait_beyond(0, soon()), WaitOutcome::DeadlinePassed);
  source.stop(StopReason::Shutdown);
  EXPECT_EQ(co_await signal.wait_beyond(0, Deadline::never(), source.token()), WaitOutcome::Stopped);
  signal.notify();
  EXPECT_EQ(co_await signal.wait_beyond(0, Deadline::never(), source.token()), WaitOutcome::Signalled);
}

TEST(Signal, EndsAtTheDeadlineAndAtAStop) {
  Loop loop;
  loop.run(signal_ends());
}

Task<> sleep_into(Milliseconds wait, StopToken stop, bool& slept) { slept = co_await sleep_for(wait, stop); }

Task<> sleeps(Loop& loop) {
  const SteadyTime start = system_clock().steady_now();
  EXPECT_TRUE(co_await sleep_for(Milliseconds(10)));
  EXPECT_GE(system_clock().steady_now() - start, Milliseconds(10));
  StopSource source;
  bool slept = true;
  TaskGroup group(loop);
  group.spawn("sleeper", sleep_into(Milliseconds(3'600'000), source.token(), slept));
  source.stop(StopReason::Shutdown);
  co_await group.join();
  EXPECT_FALSE(slept);
}

TEST(Timer, SleepsTheWholeTimeUnlessStopped) {
  Loop loop;
  loop.run(sleeps(loop));
}

}  // namespace
}  // namespace assay::net

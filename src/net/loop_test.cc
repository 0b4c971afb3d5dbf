#include "net/loop.h"

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "net/event.h"
#include "net/task_group.h"
#include "net/timer.h"

namespace assay::net {
namespace {

// Collects what is logged while it lives.
class LoggedEvents {
 public:
  LoggedEvents() {
    log::set_sink([this](log::Level, std::string_view event, std::span<const log::Field> fields) {
      const std::scoped_lock lock(mutex_);
      std::string line(event);
      for (const auto& field : fields) line.append(" ").append(field.name).append("=").append(field.value);
      lines_.push_back(std::move(line));
    });
  }
  ~LoggedEvents() { log::set_sink({}); }
  std::vector<std::string> lines() {
    const std::scoped_lock lock(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

Task<> throws() {
  co_await sleep_for(Milliseconds(0));
  throw std::runtime_error("broken");
}

Task<> blocking(Loop& loop) {
  const auto loop_thread = std::this_thread::get_id();
  std::string greeting = "hello";
  auto work = [greeting] { return std::make_pair(greeting + " there", std::this_thread::get_id()); };
  const auto [text, thread] = co_await loop.run_blocking(std::move(work));
  EXPECT_EQ(text, "hello there");
  EXPECT_NE(thread, loop_thread);
  EXPECT_EQ(std::this_thread::get_id(), loop_thread);
  bool ran = false;
  auto no_result = [&ran] { ran = true; };
  co_await loop.run_blocking(std::move(no_result));
  EXPECT_TRUE(ran);
}

TEST(Loop, RunsBlockingWorkElsewhereAndResumesAtHome) {
  Loop loop;
  loop.run(blocking(loop));
}

Task<> blocking_failure(Loop& loop) {
  auto work = []() -> int { throw std::runtime_error("disk"); };
  co_await loop.run_blocking(std::move(work));
}

TEST(Loop, PassesExceptionsOfBlockingWorkOn) {
  Loop loop;
  EXPECT_THROW(loop.run(blocking_failure(loop)), std::runtime_error);
}

TEST(Loop, RethrowsWhatTheMainTaskThrew) {
  Loop loop;
  EXPECT_THROW(loop.run(throws()), std::runtime_error);
}

TEST(Loop, LogsAnExceptionOfASpawnedTask) {
  LoggedEvents logged;
  Loop loop;
  loop.spawn("doomed", throws());
  loop.run(blocking(loop));
  ASSERT_EQ(logged.lines().size(), 1u);
  EXPECT_EQ(logged.lines()[0], "a task ended with an exception task=doomed what=broken");
}

TEST(Loop, TakesPostsFromOtherThreads) {
  Loop loop;
  int sum = 0;
  std::thread other([&] {
    for (int i = 1; i <= 100; ++i) loop.post([&sum, i] { sum += i; });
    loop.post([&] { loop.stop(); });
  });
  loop.run();
  other.join();
  EXPECT_EQ(sum, 5050);
}

TEST(Loop, StopsEvenWhenAskedBeforeRun) {
  Loop loop;
  loop.stop();
  loop.run();
}

Task<> hold(std::shared_ptr<int> held, Event& event) {
  co_await event.wait(Deadline::never());
  ++*held;
}

TEST(Loop, DestroysSuspendedTasks) {
  auto held = std::make_shared<int>(0);
  Event event;
  {
    Loop loop;
    loop.spawn("holder", hold(held, event));
    loop.run(blocking(loop));
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 0);
}

Task<> signalled(Loop& loop) {
  loop.post([] { std::raise(SIGTERM); });
  EXPECT_EQ(co_await loop.wait_for_signal(), SIGTERM);
  loop.post([] { std::raise(SIGINT); });
  EXPECT_EQ(co_await loop.wait_for_signal(), SIGINT);
}

TEST(Loop, ReportsEachSignal) {
  Loop loop;
  loop.run(signalled(loop));
}

Task<> until_stopped(StopToken stop, StopReason& reason) {
  Event never;
  co_await never.wait(Deadline::never(), stop);
  reason = stop.reason();
}

Task<> joins(Loop& loop) {
  LoggedEvents logged;
  TaskGroup group(loop);
  StopReason first = StopReason::None;
  StopReason second = StopReason::None;
  group.spawn("first", until_stopped(group.token(), first));
  group.spawn("broken", throws());
  group.spawn("second", until_stopped(group.token(), second));
  EXPECT_EQ(group.running(), 3u);
  const Deadline soon = Deadline::after(system_clock(), Milliseconds(20));
  EXPECT_FALSE(co_await group.join_until(soon));
  EXPECT_EQ(group.running(), 2u) << "one child's exception ends that child alone";
  EXPECT_EQ(group.failed(), 1u);
  EXPECT_EQ(logged.lines(), std::vector<std::string>{"a task ended with an exception task=broken what=broken"});
  group.stop(StopReason::LeaseLost);
  co_await group.join();
  EXPECT_EQ(first, StopReason::LeaseLost);
  EXPECT_EQ(second, StopReason::LeaseLost);
  EXPECT_EQ(group.running(), 0u);
  co_await group.join();
}

TEST(TaskGroup, StopsAndJoinsItsChildrenAndSurvivesTheirExceptions) {
  Loop loop;
  loop.run(joins(loop));
}

Task<> parent_stops(Loop& loop) {
  StopSource parent;
  TaskGroup group(loop, parent.token());
  StopReason reason = StopReason::None;
  group.spawn("child", until_stopped(group.token(), reason));
  parent.stop(StopReason::Shutdown);
  co_await group.join();
  EXPECT_EQ(reason, StopReason::Shutdown);
}

TEST(TaskGroup, StopsWithItsParent) {
  Loop loop;
  loop.run(parent_stops(loop));
}

}  // namespace
}  // namespace assay::net

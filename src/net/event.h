#pragma once
// The wake-up primitives of runners, stream loops and connections. Only on the loop thread.
//
// Both are safe against lost wake-ups because tasks change hands only at a co_await. Any number of tasks may wait. A
// waiting task resumes from the loop, never inside set() or notify(). Lifetime: an Event or Signal outlives its
// waiters.
#include <cstdint>
#include <utility>

#include "base/time.h"
#include "net/stop.h"
#include "net/task.h"

namespace assay::net {

enum class WaitOutcome : std::uint8_t { Signalled, DeadlinePassed, Stopped };

namespace detail {

struct Waiter;

class WaitList {
 public:
  WaitList() = default;
  ~WaitList();
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  void wake_all();
  // Until `value` differs from `seen`. Lifetime: `value` lives as long as the list.
  Task<WaitOutcome> wait(const std::uint64_t& value, std::uint64_t seen, Deadline deadline, StopToken stop);

 private:
  friend struct Waiter;
  Waiter* first_ = nullptr;
};

}  // namespace detail

// A flag that tasks wait for. It stays set until clear(). The loop of a single consumer is: wait, clear, look at
// everything the flag announces, repeat; what is set while it looks is seen next time.
class Event {
 public:
  void set() {
    is_set_ = 1;
    waiters_.wake_all();
  }
  void clear() { is_set_ = 0; }
  [[nodiscard]] bool is_set() const { return is_set_ != 0; }

  // Signalled wins where several hold at once; then Stopped. A task that was woken by a set() sees Signalled even if
  // somebody cleared the flag in between.
  Task<WaitOutcome> wait(Deadline deadline, StopToken stop = StopToken()) {
    return waiters_.wait(is_set_, 0, deadline, std::move(stop));
  }

 private:
  std::uint64_t is_set_ = 0;
  detail::WaitList waiters_;
};

// A change counter for several consumers: each remembers the version it has seen.
class Signal {
 public:
  void notify() {
    ++version_;
    waiters_.wake_all();
  }
  [[nodiscard]] std::uint64_t version() const { return version_; }

  // Signalled as soon as version() differs from `seen`.
  Task<WaitOutcome> wait_beyond(std::uint64_t seen, Deadline deadline, StopToken stop = StopToken()) {
    return waiters_.wait(version_, seen, deadline, std::move(stop));
  }

 private:
  std::uint64_t version_ = 0;
  detail::WaitList waiters_;
};

}  // namespace assay::net

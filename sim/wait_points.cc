#include "sim/wait_points.h"

#include <utility>

namespace assay::sim {

net::Task<bool> WaitPoints::wait(std::string point, net::StopToken stop) {
  Point& at = points_[point];
  ++at.waiting;
  changed_.notify();
  bool is_released = at.is_open || at.permits > 0;
  while (!is_released && !stop.stopped()) {
    co_await changed_.wait_beyond(changed_.version(), Deadline::never(), stop);
    is_released = at.is_open || at.permits > 0;
  }
  if (is_released && !at.is_open) --at.permits;
  --at.waiting;
  changed_.notify();
  co_return is_released;
}

void WaitPoints::release(const std::string& point) {
  ++points_[point].permits;
  changed_.notify();
}

void WaitPoints::release_all(const std::string& point) {
  points_[point].is_open = true;
  changed_.notify();
}

std::int64_t WaitPoints::waiting(const std::string& point) const {
  const auto found = points_.find(point);
  return found == points_.end() ? 0 : found->second.waiting;
}

net::Task<bool> WaitPoints::wait_for_waiters(std::string point, std::int64_t count, Deadline deadline,
                                             net::StopToken stop) {
  while (waiting(point) < count) {
    const net::WaitOutcome outcome = co_await changed_.wait_beyond(changed_.version(), deadline, stop);
    if (outcome != net::WaitOutcome::Signalled) co_return waiting(point) >= count;
  }
  co_return true;
}

}  // namespace assay::sim

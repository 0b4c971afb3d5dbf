#pragma once
// Named points at which answers wait until a test lets them go on, so that no test has to sleep. Only on the loop
// thread.
#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"
#include "net/event.h"
#include "net/stop.h"
#include "net/task.h"

namespace assay::sim {

class WaitPoints {
 public:
  // True once a release was taken; false when the token stops. Releases and waits meet in order.
  net::Task<bool> wait(std::string point, net::StopToken stop);
  // Lets one answer go on, the next to come if none waits yet.
  void release(const std::string& point);
  // Opens the point for good.
  void release_all(const std::string& point);

  [[nodiscard]] std::int64_t waiting(const std::string& point) const;
  // Returns true once `count` answers wait at the point.
  net::Task<bool> wait_for_waiters(std::string point, std::int64_t count, Deadline deadline, net::StopToken stop);

 private:
  struct Point {
    std::int64_t waiting = 0;
    std::int64_t permits = 0;
    bool is_open = false;
  };

  std::map<std::string, Point> points_;
  net::Signal changed_;
};

}  // namespace assay::sim

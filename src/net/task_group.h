#pragma once
// The owner of running tasks. Only on the loop thread.
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "net/loop.h"
#include "net/stop.h"
#include "net/task.h"

namespace assay::net {

// Children get the group's token by their arguments and end when it stops: `group.spawn("pump", pump(state,
// group.token()))`. A child that throws is logged and counted; its siblings go on.
//
// Requires: join() has returned before the group is destroyed, except when the Loop itself goes down. After stop() or
// join(), further children may still be spawned (they see a stopped token); join again.
class TaskGroup {
 public:
  explicit TaskGroup(Loop& loop, const StopToken& parent = StopToken());
  explicit TaskGroup(boost::asio::any_io_executor executor, const StopToken& parent = StopToken());
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // The child may begin to run before spawn returns.
  void spawn(std::string name, Task<> task);

  void stop(StopReason reason) { stop_.stop(reason); }
  [[nodiscard]] StopToken token() const { return stop_.token(); }

  // Returns when no child is left. Does not stop them.
  Task<> join();
  // False where children are left at the deadline.
  Task<bool> join_until(Deadline deadline);

  [[nodiscard]] std::size_t running() const;
  [[nodiscard]] std::size_t failed() const;  // children that ended by an exception

 private:
  struct Children;
  boost::asio::any_io_executor executor_;
  StopSource stop_;
  std::shared_ptr<Children> children_;
};

}  // namespace assay::net

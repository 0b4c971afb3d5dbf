#include "net/task_group.h"

#include <boost/asio/co_spawn.hpp>
#include <utility>

#include "base/log.h"
#include "net/event.h"
#include "net/exception_text.h"

namespace assay::net {

namespace asio = boost::asio;

struct TaskGroup::Children {
  std::size_t running = 0;
  std::size_t failed = 0;
  Signal one_ended;
};

TaskGroup::TaskGroup(Loop& loop, const StopToken& parent) : TaskGroup(loop.executor(), parent) {}

TaskGroup::TaskGroup(asio::any_io_executor executor, const StopToken& parent)
    : executor_(std::move(executor)), stop_(parent), children_(std::make_shared<Children>()) {}

TaskGroup::~TaskGroup() = default;

void TaskGroup::spawn(std::string name, Task<> task) {
  ++children_->running;
  asio::co_spawn(
      executor_, std::move(task), [children = children_, name = std::move(name)](std::exception_ptr exception) {
        --children->running;
        if (exception) {
          ++children->failed;
          log::error("a task ended with an exception", {{"task", name}, {"what", exception_text(exception)}});
        }
        children->one_ended.notify();
      });
}

Task<> TaskGroup::join() { co_await join_until(Deadline::never()); }

Task<bool> TaskGroup::join_until(Deadline deadline) {
  const auto children = children_;
  while (children->running > 0) {
    const WaitOutcome outcome = co_await children->one_ended.wait_beyond(children->one_ended.version(), deadline);
    if (outcome == WaitOutcome::DeadlinePassed) co_return children->running == 0;
  }
  co_return true;
}

std::size_t TaskGroup::running() const { return children_->running; }
std::size_t TaskGroup::failed() const { return children_->failed; }

}  // namespace assay::net

#pragma once
// The event loop of the process: ONE thread runs every network, database and chat task, so handlers need no locks; a
// task that computes for long holds up all others and belongs on the blocking pool.
//
// Lifetime: the Loop outlives everything made with it. Its destructor waits for blocking work under way, then destroys
// the tasks that are still suspended where they stand.
#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "net/task.h"

namespace assay::net {

// Blocking calls run beside the loop: PQcancel, file-system work, argument checks that may take long.
inline constexpr std::size_t kBlockingThreads = 2;

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs tasks on the calling thread until stop().
  void run();
  // Runs until `main` has ended, and rethrows what it threw. Other tasks stay suspended for the next run.
  void run(Task<> main);
  // From any thread, also before run(), which then returns at once.
  void stop();

  // Runs `action` on the loop thread, later. From any thread. It must not throw.
  void post(std::move_only_function<void()> action);

  // Starts an independent task, for roots only (a service's main task); everything else belongs to a TaskGroup. It may
  // begin to run before spawn returns. An exception that escapes it is logged with `name`. From the loop thread, or
  // while no run() is active.
  void spawn(std::string name, Task<> task);

  // Runs a blocking or slow function on the pool and resumes on the loop with what it returned or threw. It cannot be
  // cancelled. Requires: `function` touches nothing that the loop thread changes meanwhile.
  template <class Function>
  Task<std::invoke_result_t<Function&>> run_blocking(Function function) {
    using Value = std::invoke_result_t<Function&>;
    if constexpr (std::is_void_v<Value>) {
      std::move_only_function<void()> job = std::ref(function);
      co_await run_job(std::move(job));
    } else {
      std::optional<Value> value;
      std::move_only_function<void()> job = [&value, &function] { value.emplace(function()); };
      co_await run_job(std::move(job));
      co_return std::move(*value);
    }
  }

  // The next SIGINT or SIGTERM. The first call takes these signals over from their default actions for good.
  Task<int> wait_for_signal();

  [[nodiscard]] boost::asio::any_io_executor executor() const;

 private:
  struct Parts;
  Task<> run_job(std::move_only_function<void()> job);

  std::unique_ptr<Parts> parts_;
};

}  // namespace assay::net

#include "net/loop.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <csignal>
#include <exception>

#include "base/log.h"
#include "net/event.h"
#include "net/exception_text.h"

namespace assay::net {

namespace asio = boost::asio;

struct Loop::Parts {
  // The hint says that one thread runs the loop; posting from other threads stays safe.
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::optional<asio::signal_set> signals;
  asio::thread_pool pool{kBlockingThreads};

  // Blocking jobs refer to frames that the context owns.
  ~Parts() { pool.join(); }
};

Loop::Loop() : parts_(std::make_unique<Parts>()) {}
Loop::~Loop() = default;

void Loop::run() {
  parts_->context.run();
  parts_->context.restart();
}

void Loop::run(Task<> main) {
  std::exception_ptr thrown;
  bool ended = false;
  asio::co_spawn(parts_->context, std::move(main), [this, &thrown, &ended](std::exception_ptr exception) {
    thrown = std::move(exception);
    ended = true;
    stop();
  });
  while (!ended) run();
  if (thrown) std::rethrow_exception(thrown);
}

void Loop::stop() { parts_->context.stop(); }

void Loop::post(std::move_only_function<void()> action) { asio::post(parts_->context, std::move(action)); }

void Loop::spawn(std::string name, Task<> task) {
  asio::co_spawn(parts_->context, std::move(task), [name = std::move(name)](std::exception_ptr exception) {
    if (exception) log::error("a task ended with an exception", {{"task", name}, {"what", exception_text(exception)}});
  });
}

Task<> Loop::run_job(std::move_only_function<void()> job) {
  Event done;
  std::exception_ptr thrown;
  std::move_only_function<void()> work = [this, &done, &thrown, &job] {
    try {
      job();
    } catch (...) {
      thrown = std::current_exception();
    }
    post([&done] { done.set(); });
  };
  asio::post(parts_->pool, std::move(work));
  co_await done.wait(Deadline::never());
  if (thrown) std::rethrow_exception(thrown);
}

Task<int> Loop::wait_for_signal() {
  if (!parts_->signals) parts_->signals.emplace(parts_->context, SIGINT, SIGTERM);
  const auto [error, number] = co_await parts_->signals->async_wait(asio::as_tuple(asio::deferred));
  co_return number;
}

boost::asio::any_io_executor Loop::executor() const { return parts_->context.get_executor(); }

}  // namespace assay::net

#include "net/event.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace assay::net {

namespace asio = boost::asio;

namespace detail {

// Lives in the frame of the waiting task. Waking only cancels the timer; the task resumes from the loop.
struct Waiter {
  Waiter(WaitList& owner, const asio::any_io_executor& executor) : list(&owner), next(owner.first_), timer(executor) {
    if (next != nullptr) next->previous = this;
    owner.first_ = this;
  }
  ~Waiter() { leave(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  void leave() {
    if (list == nullptr) return;
    (previous != nullptr ? previous->next : list->first_) = next;
    if (next != nullptr) next->previous = previous;
    list = nullptr;
  }

  // The first outcome stays.
  void wake(WaitOutcome why) {
    if (woken) return;
    woken = true;
    outcome = why;
    leave();
    timer.cancel();
  }

  WaitList* list;
  Waiter* previous = nullptr;
  Waiter* next;
  asio::steady_timer timer;
  bool woken = false;
  WaitOutcome outcome = WaitOutcome::DeadlinePassed;
};

WaitList::~WaitList() {
  while (first_ != nullptr) first_->leave();
}

void WaitList::wake_all() {
  while (first_ != nullptr) first_->wake(WaitOutcome::Signalled);
}

Task<WaitOutcome> WaitList::wait(Deadline deadline, StopToken stop) {
  if (stop.stopped()) co_return WaitOutcome::Stopped;
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  Waiter waiter(*this, executor);
  waiter.timer.expires_at(deadline.instant());
  const StopCallback on_stop(stop, [&waiter] { waiter.wake(WaitOutcome::Stopped); });
  co_await waiter.timer.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return waiter.outcome;
}

}  // namespace detail

Task<WaitOutcome> Event::wait(Deadline deadline, StopToken stop) {
  if (is_set_) co_return WaitOutcome::Signalled;
  co_return co_await waiters_.wait(deadline, std::move(stop));
}

Task<WaitOutcome> Signal::wait_beyond(std::uint64_t seen, Deadline deadline, StopToken stop) {
  if (version_ != seen) co_return WaitOutcome::Signalled;
  co_return co_await waiters_.wait(deadline, std::move(stop));
}

}  // namespace assay::net

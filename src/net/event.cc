#include "net/event.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

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

Task<WaitOutcome> WaitList::wait(const std::uint64_t& value, std::uint64_t seen, Deadline deadline, StopToken stop) {
  if (value != seen) co_return WaitOutcome::Signalled;
  if (stop.stopped()) co_return WaitOutcome::Stopped;
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  Waiter waiter(*this, executor);
  waiter.timer.expires_at(deadline.instant());
  const StopCallback on_stop(stop, [&waiter] { waiter.wake(WaitOutcome::Stopped); });
  co_await waiter.timer.async_wait(asio::as_tuple(asio::deferred));
  co_return waiter.outcome;
}

}  // namespace detail

}  // namespace assay::net

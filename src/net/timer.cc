#include "net/timer.h"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "net/event.h"

namespace assay::net {

Task<bool> sleep_until(Deadline deadline, StopToken stop) {
  Event never;
  const WaitOutcome outcome = co_await never.wait(deadline, std::move(stop));
  co_return outcome == WaitOutcome::DeadlinePassed;
}

Task<bool> sleep_for(Milliseconds wait, StopToken stop) {
  return sleep_until(Deadline::after(system_clock(), wait), std::move(stop));
}

Task<> yield() { co_await boost::asio::post(boost::asio::use_awaitable); }

}  // namespace assay::net

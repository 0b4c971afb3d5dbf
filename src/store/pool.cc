#include "store/pool.h"

#include <deque>
#include <utility>
#include <vector>

#include "base/check.h"
#include "net/event.h"
#include "net/task_group.h"

namespace assay::store {

namespace detail {

// Somebody who waits for a connection, or for the right to open one.
struct Checkout {
  net::Event granted;
  std::unique_ptr<Connection> connection;
  bool may_open = false;  // a place among the open connections is reserved
};

struct PoolState {
  PoolState(net::Loop& event_loop, std::string url, std::size_t maximum)
      : loop(event_loop), database_url(std::move(url)), connections_max(maximum), cancels(event_loop) {}

  net::Loop& loop;
  const std::string database_url;
  const std::size_t connections_max;
  net::TaskGroup cancels;
  std::vector<std::unique_ptr<Connection>> idle;  // the most recently used last
  std::deque<Checkout*> waiting;
  std::size_t open = 0;  // idle, borrowed, or being opened
  bool closed = false;
  net::Signal came_back;
  PoolCounters counters;

  // One connection less: the first who waits may open another.
  void free_slot() {
    --open;
    came_back.notify();
    if (waiting.empty() || closed) return;
    ++open;
    Checkout* next = waiting.front();
    waiting.pop_front();
    next->may_open = true;
    next->granted.set();
  }

  void discard(std::unique_ptr<Connection> connection);
  void take_back(std::unique_ptr<Connection> connection);
};

namespace {

net::Task<> cancel_off_loop(net::Loop* loop, Connection::CancelHandle handle) {
  auto cancel = [&handle] { Connection::cancel(std::move(handle)); };
  co_await loop->run_blocking(cancel);
}

}  // namespace

void PoolState::discard(std::unique_ptr<Connection> connection) {
  ++counters.discarded;
  Connection::CancelHandle handle = connection->abandon();
  if (handle && !closed) cancels.spawn("cancel a statement", cancel_off_loop(&loop, std::move(handle)));
  free_slot();
}

void PoolState::take_back(std::unique_ptr<Connection> connection) {
  --counters.in_use;
  if (closed || !connection->is_idle()) {
    discard(std::move(connection));
    return;
  }
  if (!waiting.empty()) {
    Checkout* next = waiting.front();
    waiting.pop_front();
    next->connection = std::move(connection);
    next->granted.set();
    return;
  }
  idle.push_back(std::move(connection));
  came_back.notify();
}

}  // namespace detail

using detail::Checkout;
using detail::PoolState;

Lease::Lease(std::shared_ptr<PoolState> pool, std::unique_ptr<Connection> connection, bool reused)
    : pool_(std::move(pool)),
      connection_(std::move(connection)),
      reused_(reused),
      statements_before_(connection_->statements_sent()),
      exchanges_before_(connection_->exchanges_made()) {
  ++pool_->counters.in_use;
  ++pool_->counters.checkouts;
}

Lease::~Lease() {
  if (!connection_) return;
  pool_->counters.statements += connection_->statements_sent() - statements_before_;
  pool_->counters.exchanges += connection_->exchanges_made() - exchanges_before_;
  pool_->take_back(std::move(connection_));
}

Pool::Pool(net::Loop& loop, std::string database_url, std::size_t connections_max)
    : state_(std::make_shared<PoolState>(loop, std::move(database_url), connections_max)) {
  ASSAY_CHECK(connections_max > 0, "a pool needs room for a connection");
}

Pool::~Pool() {
  state_->closed = true;
  state_->idle.clear();
}

net::Task<Result<Lease, StoreError>> Pool::checkout(Deadline deadline) {
  const auto state = state_;
  if (state->closed) co_return fail(StoreError{StoreErrorKind::Unavailable, "the store is closing", ""});
  while (!state->idle.empty()) {
    std::unique_ptr<Connection> connection = std::move(state->idle.back());
    state->idle.pop_back();
    if (!connection->has_unexpected_input()) co_return Lease(state, std::move(connection), true);
    state->discard(std::move(connection));
  }
  if (state->open < state->connections_max) {
    ++state->open;
  } else {
    Checkout waiter;
    state->waiting.push_back(&waiter);
    const net::WaitOutcome outcome = co_await waiter.granted.wait(deadline);
    if (outcome != net::WaitOutcome::Signalled) {
      std::erase(state->waiting, &waiter);
      ++state->counters.checkout_timeouts;
      co_return fail(StoreError{StoreErrorKind::Timeout, "no database connection came free in time", ""});
    }
    if (waiter.connection) co_return Lease(state, std::move(waiter.connection), true);
    if (state->closed) {
      if (waiter.may_open) state->free_slot();
      co_return fail(StoreError{StoreErrorKind::Unavailable, "the store is closing", ""});
    }
  }
  auto connected = co_await Connection::connect(state->loop, state->database_url, deadline);
  if (!connected) {
    state->free_slot();
    co_return fail(std::move(connected).error());
  }
  ++state->counters.opened;
  co_return Lease(state, std::move(*connected), false);
}

net::Task<> Pool::close(Deadline deadline) {
  const auto state = state_;
  state->closed = true;
  while (!state->idle.empty()) {
    state->idle.pop_back();
    --state->open;
  }
  for (Checkout* waiter : std::exchange(state->waiting, {})) waiter->granted.set();
  while (state->open > 0) {
    const net::WaitOutcome outcome = co_await state->came_back.wait_beyond(state->came_back.version(), deadline);
    if (outcome != net::WaitOutcome::Signalled) break;
  }
  co_await state->cancels.join();
}

PoolCounters Pool::counters() const {
  PoolCounters counters = state_->counters;
  counters.idle = state_->idle.size();
  counters.waiting = state_->waiting.size();
  return counters;
}

}  // namespace assay::store

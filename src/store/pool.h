#pragma once
// A bounded set of connections that calls borrow one at a time.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "net/loop.h"
#include "net/task.h"
#include "store/connection.h"
#include "store/error.h"

namespace assay::store {

struct PoolCounters {
  std::uint64_t opened = 0;
  std::uint64_t discarded = 0;  // broken, dead when taken out, or returned in the middle of something
  std::uint64_t checkouts = 0;
  std::uint64_t checkout_timeouts = 0;
  std::uint64_t statements = 0;  // sent by connections that came back
  std::uint64_t exchanges = 0;
  std::size_t in_use = 0;
  std::size_t idle = 0;
  std::size_t waiting = 0;
};

class Pool;

namespace detail {
struct PoolState;
}

// A borrowed connection. It goes back with the object; one that is not idle then is closed instead, and the server is
// asked to stop what it does for it.
class Lease {
 public:
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&&) = delete;
  ~Lease();

  Connection& operator*() const { return *connection_; }
  Connection* operator->() const { return connection_.get(); }
  // Served before: the server may have closed it without our knowing yet.
  [[nodiscard]] bool is_reused() const { return reused_; }

 private:
  friend class Pool;
  Lease(std::shared_ptr<detail::PoolState> pool, std::unique_ptr<Connection> connection, bool reused);

  std::shared_ptr<detail::PoolState> pool_;
  std::unique_ptr<Connection> connection_;
  bool reused_;
  std::uint64_t statements_before_;
  std::uint64_t exchanges_before_;
};

// Loop thread only. Lifetime: the loop outlives it.
class Pool {
 public:
  // Requires: connections_max > 0.
  Pool(net::Loop& loop, std::string database_url, std::size_t connections_max);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // An idle connection, a new one while there are fewer than the maximum, else the next that comes back: first come,
  // first served. Timeout when none did; Unavailable when the database refuses or the pool closes.
  net::Task<Result<Lease, StoreError>> checkout(Deadline deadline);

  // Refuses further checkouts, waits for borrowed connections while the deadline allows, closes the idle ones.
  net::Task<> close(Deadline deadline);

  [[nodiscard]] PoolCounters counters() const;

 private:
  std::shared_ptr<detail::PoolState> state_;
};

}  // namespace assay::store

#pragma once
// A TCP connection whose every read and write has a deadline. Internal to this room.
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/time.h"
#include "net/task.h"

namespace assay::net {

enum class IoStatus : std::uint8_t { Done, Ended, TimedOut, Failed };

struct ReadOutcome {
  IoStatus status;
  std::size_t bytes;
};

// One read and one write may be under way at a time. Held by shared_ptr, because deadlines refer to it.
class TimedSocket : public std::enable_shared_from_this<TimedSocket> {
 public:
  explicit TimedSocket(boost::asio::ip::tcp::socket socket);

  // At least one byte when Done; Ended at the peer's orderly end. After TimedOut the connection is still usable.
  // Requires: no write under way, where the deadline is not never(). Lifetime: `data` outlives the task.
  Task<ReadOutcome> read_some(char* data, std::size_t size, Deadline deadline);

  // Calls `action` once: true when there is something to read (or the peer has ended), false when the connection was
  // closed here. What idle streams wait with, because it holds no task. Requires: no read under way.
  void when_readable(std::function<void(bool readable)> action);

  // All bytes of both parts. After TimedOut the connection is closed. Lifetime: the parts outlive the task.
  Task<IoStatus> write_all(std::string_view first, std::string_view second, Deadline deadline);

  // Ends our direction and reads the peer's bytes away until it ends too or the deadline has passed, then closes.
  // Without this a close with unread input becomes a reset, which can destroy the answer on its way (RFC 9112
  // section 9.6). Requires: no read under way.
  Task<> close_gently(Deadline deadline);

  // Whether a write's deadline has closed the connection, which a read under way sees only as Failed.
  [[nodiscard]] bool has_slow_peer() const { return writing_.expired; }

  // Cuts the connection; operations under way fail.
  void close();

  [[nodiscard]] std::string remote_address() const;
  [[nodiscard]] boost::asio::any_io_executor executor() { return socket_.get_executor(); }

 private:
  struct Watch {
    explicit Watch(const boost::asio::any_io_executor& executor) : timer(executor) {}
    boost::asio::steady_timer timer;
    std::uint64_t round = 0;  // tells a late expiry from one that still counts
    bool expired = false;
  };
  enum class OnExpiry : std::uint8_t { CancelOperations, Close };

  void arm(Watch& watch, Deadline deadline, OnExpiry action);
  static void disarm(Watch& watch);

  boost::asio::ip::tcp::socket socket_;
  Watch reading_;
  Watch writing_;
};

}  // namespace assay::net

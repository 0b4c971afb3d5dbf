#pragma once
// The two kinds of one-way streams over a connection that has said its response head. Internal to this room.
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/event.h"
#include "net/http_server.h"
#include "net/task_group.h"
#include "net/timed_socket.h"

namespace assay::net {

// What both kinds share: writes in turn, each with the slow reader's deadline; the watch over the peer; the keep-alive;
// and the ways a stream ends. An idle stream waits by callbacks and has no task of its own beside its handler, which
// halves its memory. Held by shared_ptr, because these callbacks refer to it.
class StreamChannel : public std::enable_shared_from_this<StreamChannel> {
 public:
  // Told to close with Shutdown when `drain` stops. Lifetime: the options outlive the channel.
  StreamChannel(std::shared_ptr<TimedSocket> socket, const HttpServerOptions& options, const StopToken& drain);
  virtual ~StreamChannel() = default;
  StreamChannel(const StreamChannel&) = delete;
  StreamChannel& operator=(const StreamChannel&) = delete;

  // Starts to watch and to keep alive; once. `early_input` is what the peer sent before.
  void begin(std::string early_input);
  // Ends both and closes the connection, if that has not happened yet. Requires: awaited before the owner lets go.
  Task<> finish();

  // True once the kernel has all bytes; false when the stream is gone.
  Task<bool> write(std::string bytes);

  // Nothing can be sent any more. The first reason counts.
  void leave(StopReason reason);
  // The same after a failed read or write, and cuts the connection.
  void lose_peer();

  [[nodiscard]] bool is_gone() const { return gone_.stopped(); }
  [[nodiscard]] StopToken close_token() const { return closed_.token(); }

 protected:
  // What the peer sent. False: nothing more is to be read. Lifetime: `input` outlives the task.
  virtual Task<bool> take(std::string_view input) = 0;
  // Each ping_interval, while no write is under way. `quiet`: nothing was written since the last time.
  virtual void keep_alive(bool quiet) = 0;
  // Reading is over.
  virtual void on_input_end() {}

  void spawn(std::string name, Task<> task) { tasks_.spawn(std::move(name), std::move(task)); }
  [[nodiscard]] const HttpServerOptions& options() const { return options_; }
  [[nodiscard]] TimedSocket& socket() { return *socket_; }

 private:
  void watch_peer();
  void schedule_keep_alive();
  Task<> read_input();
  Task<> take_early(std::string input);

  std::shared_ptr<TimedSocket> socket_;
  const HttpServerOptions& options_;
  StopSource closed_;  // told to the handler: gone, or draining
  StopSource gone_;
  bool writing_ = false;
  std::uint64_t writes_ = 0;
  std::uint64_t writes_seen_ = 0;  // by the last keep-alive
  Signal turn_;
  boost::asio::steady_timer keep_alive_timer_;
  TaskGroup tasks_;
};

enum class Framing : std::uint8_t { Chunked, UntilClose };

// Each runs the handler's function, says the last word, and returns with the connection closed. Lifetime: the options
// outlive the task.
Task<> serve_event_stream(std::shared_ptr<TimedSocket> socket, const HttpServerOptions& options, StopToken drain,
                          std::function<Task<>(EventStream&)> run, Framing framing);
Task<> serve_websocket(std::shared_ptr<TimedSocket> socket, const HttpServerOptions& options, StopToken drain,
                       std::function<Task<>(WebSocket&)> run, std::string early_input);

}  // namespace assay::net

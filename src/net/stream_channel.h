#pragma once
// The two kinds of one-way streams over a connection that has said its response head. Internal to this room.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "net/event.h"
#include "net/http_server.h"
#include "net/timed_socket.h"

namespace assay::net {

// What both kinds share: writes in turn, each with the slow reader's deadline, and the ways a stream ends.
class StreamChannel {
 public:
  // Stops with Shutdown when `drain` does. Lifetime: the options outlive the channel.
  StreamChannel(std::shared_ptr<TimedSocket> socket, const HttpServerOptions& options, const StopToken& drain);

  // True once the kernel has all bytes; false when the stream is gone.
  Task<bool> write(std::string bytes);

  // Nothing can be sent any more. The first reason counts.
  void leave(StopReason reason);

  // The same after a failed read or write, and cuts the connection.
  void lose_peer();

  [[nodiscard]] bool is_gone() const { return gone_.stopped(); }
  [[nodiscard]] StopToken gone() const { return gone_.token(); }
  [[nodiscard]] StopToken closed() const { return closed_.token(); }
  [[nodiscard]] bool is_writing() const { return writing_; }
  [[nodiscard]] std::uint64_t writes() const { return writes_; }
  [[nodiscard]] const HttpServerOptions& options() const { return options_; }
  [[nodiscard]] TimedSocket& socket() { return *socket_; }

 private:
  std::shared_ptr<TimedSocket> socket_;
  const HttpServerOptions& options_;
  StopSource closed_;  // told to the handler: gone, or draining
  StopSource gone_;
  bool writing_ = false;
  std::uint64_t writes_ = 0;
  Signal turn_;
};

enum class Framing : std::uint8_t { Chunked, UntilClose };

// Each runs the handler's function with its companions (the watch over the peer, the keep-alives), says the last word,
// and returns with the connection closed. Lifetime: the options outlive the task.
Task<> serve_event_stream(std::shared_ptr<TimedSocket> socket, const HttpServerOptions& options, StopToken drain,
                          std::function<Task<>(EventStream&)> run, Framing framing);
Task<> serve_websocket(std::shared_ptr<TimedSocket> socket, const HttpServerOptions& options, StopToken drain,
                       std::function<Task<>(WebSocket&)> run, std::string early_input);

}  // namespace assay::net

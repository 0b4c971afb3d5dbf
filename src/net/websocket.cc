// A WebSocket (RFC 6455) after its handshake.
#include <array>
#include <exception>

#include "base/log.h"
#include "net/exception_text.h"
#include "net/stream_channel.h"
#include "net/task_group.h"
#include "net/timer.h"
#include "net/websocket_frame.h"

namespace assay::net {
namespace {

constexpr std::uint16_t kCloseInternalError = 1011;

class Socket final : public WebSocket {
 public:
  explicit Socket(StreamChannel& channel) : channel_(channel) {}

  Task<bool> send_text(std::string text) override {
    std::string frame = text_frame(text);
    co_return co_await channel_.write(std::move(frame));
  }
  void close_with(std::uint16_t code, std::string reason) override {
    code_ = code;
    reason_ = std::move(reason);
  }
  [[nodiscard]] StopToken closed() const override { return channel_.closed(); }

  // Our close frame, once the handler has returned.
  [[nodiscard]] std::string last_frame() const {
    if (code_ != 0) return close_frame(code_, reason_);
    return close_frame(closed().reason() == StopReason::Shutdown ? kCloseGoingAway : kCloseNormal, "");
  }

 private:
  StreamChannel& channel_;
  std::uint16_t code_ = 0;
  std::string reason_;
};

// The side that reads: answers pings, and ends the stream at a close, at data, at nonsense or at silence.
class Peer {
 public:
  explicit Peer(StreamChannel& channel) : channel_(channel) {}

  Task<> watch(std::string early_input) {
    std::array<char, 256> bytes;
    bool open = co_await take(early_input);
    while (open) {
      const ReadOutcome read = co_await channel_.socket().read_some(bytes.data(), bytes.size(), Deadline::never());
      if (read.status != IoStatus::Done) {
        channel_.lose_peer();
        break;
      }
      const std::string_view received(bytes.data(), read.bytes);
      open = co_await take(received);
    }
    done_.set();
  }

  Task<> ping(StopToken stop) {
    while (true) {
      const bool slept = co_await sleep_for(channel_.options().ping_interval, stop);
      if (!slept) co_return;
      if (channel_.is_writing()) continue;  // its own deadline watches it
      if (awaits_pong_) {
        channel_.leave(StopReason::SlowPeer);
        channel_.socket().close();
        co_return;
      }
      awaits_pong_ = true;
      std::string frame = ping_frame("");
      co_await channel_.write(std::move(frame));
    }
  }

  // Requires: our close frame is sent. Returns when the peer's has come, or the connection ended, or at the deadline.
  Task<> wait_for_close(Deadline deadline) {
    closing_ = true;
    co_await done_.wait(deadline);
  }

 private:
  // False once nothing more is to be read. Lifetime: `input` outlives the task.
  Task<bool> take(std::string_view input) {
    while (auto frame = frames_.read(input)) {
      switch (frame->kind) {
        case ControlFrameReader::Kind::Pong:
          awaits_pong_ = false;
          break;
        case ControlFrameReader::Kind::Ping: {
          std::string pong = pong_frame(frame->payload);
          awaits_pong_ = false;
          if (!closing_) co_await channel_.write(std::move(pong));
          break;
        }
        case ControlFrameReader::Kind::Close: {
          const std::uint16_t code = frame->close_code == 0 ? kCloseNormal : frame->close_code;
          co_await end(code, "", StopReason::PeerClosed);
          co_return false;
        }
        case ControlFrameReader::Kind::Data:
          co_await end(kClosePolicyViolation, "this socket takes no data", StopReason::ProtocolViolation);
          co_return false;
        case ControlFrameReader::Kind::Malformed:
          co_await end(kCloseProtocolError, "malformed frame", StopReason::ProtocolViolation);
          co_return false;
      }
    }
    co_return true;
  }

  Task<> end(std::uint16_t code, std::string_view reason, StopReason why) {
    if (!closing_) {
      std::string frame = close_frame(code, reason);
      co_await channel_.write(std::move(frame));
    }
    channel_.leave(why);
    const Deadline deadline = Deadline::after(system_clock(), channel_.options().linger_timeout);
    co_await channel_.socket().close_gently(deadline);
  }

  StreamChannel& channel_;
  ControlFrameReader frames_;
  bool awaits_pong_ = false;
  bool closing_ = false;
  Event done_;
};

}  // namespace

Task<> serve_websocket(std::shared_ptr<TimedSocket> socket, const HttpServerOptions& options, StopToken drain,
                       std::function<Task<>(WebSocket&)> run, std::string early_input) {
  StreamChannel channel(socket, options, drain);
  Socket facade(channel);
  Peer peer(channel);
  const boost::asio::any_io_executor executor = socket->executor();
  TaskGroup companions(executor, channel.gone());
  companions.spawn("websocket peer", peer.watch(std::move(early_input)));
  companions.spawn("websocket pings", peer.ping(companions.token()));
  std::exception_ptr thrown;
  try {
    co_await run(facade);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (thrown) {
    log::error("a stream handler threw", {{"what", exception_text(thrown)}});
    facade.close_with(kCloseInternalError, "");
  }
  if (!channel.is_gone()) {
    std::string last = facade.last_frame();
    co_await channel.write(std::move(last));
    companions.stop(StopReason::Shutdown);
    const Deadline deadline = Deadline::after(system_clock(), options.linger_timeout);
    co_await peer.wait_for_close(deadline);
    channel.leave(StopReason::Shutdown);
    socket->close();
  }
  co_await companions.join();
  socket->close();
}

}  // namespace assay::net

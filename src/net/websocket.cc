// A WebSocket (RFC 6455) after its handshake.
#include <exception>

#include "base/log.h"
#include "net/exception_text.h"
#include "net/stream_channel.h"
#include "net/websocket_frame.h"

namespace assay::net {
namespace {

class ServedWebSocket final : public StreamChannel, public WebSocket {
 public:
  using StreamChannel::StreamChannel;

  Task<bool> send_text(std::string text) override { return write(text_frame(text)); }
  void close_with(std::uint16_t code, std::string reason) override {
    code_ = code;
    reason_ = std::move(reason);
  }
  [[nodiscard]] StopToken closed() const override { return close_token(); }

  // The closing handshake from our side. Returns when the peer's close has come, or the connection ended, or the peer
  // has had linger_timeout for it.
  Task<> close() {
    closing_ = true;
    std::string frame = last_frame();
    co_await write(std::move(frame));
    const Deadline deadline = Deadline::after(system_clock(), options().linger_timeout);
    co_await input_ended_.wait(deadline);
    socket().close();
  }

 private:
  [[nodiscard]] std::string last_frame() const {
    if (code_ != 0) return close_frame(code_, reason_);
    return close_frame(closed().reason() == StopReason::Shutdown ? kCloseGoingAway : kCloseNormal, "");
  }

  void keep_alive(bool) override {
    if (closing_) return;
    if (awaits_pong_) {
      leave(StopReason::SlowPeer);
      socket().close();
      return;
    }
    awaits_pong_ = true;
    spawn("ping", ping());
  }
  Task<> ping() {
    std::string frame = ping_frame("");
    co_await write(std::move(frame));
  }

  Task<bool> take(std::string_view input) override {
    while (auto frame = frames_.read(input)) {
      switch (frame->kind) {
        case ControlFrameReader::Kind::Pong:
          awaits_pong_ = false;
          break;
        case ControlFrameReader::Kind::Ping: {
          std::string pong = pong_frame(frame->payload);
          awaits_pong_ = false;
          if (!closing_) co_await write(std::move(pong));
          break;
        }
        case ControlFrameReader::Kind::Close: {
          const std::uint16_t code = frame->close_code == 0 ? kCloseNormal : frame->close_code;
          co_await part(code, "", StopReason::PeerClosed);
          co_return false;
        }
        case ControlFrameReader::Kind::Data:
          co_await part(kClosePolicyViolation, "this socket takes no data", StopReason::ProtocolViolation);
          co_return false;
        case ControlFrameReader::Kind::Malformed:
          co_await part(kCloseProtocolError, "malformed frame", StopReason::ProtocolViolation);
          co_return false;
      }
    }
    co_return true;
  }
  void on_input_end() override { input_ended_.set(); }

  // The last frame in answer to something the peer did.
  Task<> part(std::uint16_t code, std::string_view reason, StopReason why) {
    if (!closing_) {
      std::string frame = close_frame(code, reason);
      co_await write(std::move(frame));
    }
    leave(why);
    const Deadline deadline = Deadline::after(system_clock(), options().linger_timeout);
    co_await socket().close_gently(deadline);
  }

  std::uint16_t code_ = 0;
  std::string reason_;
  ControlFrameReader frames_;
  bool awaits_pong_ = false;
  bool closing_ = false;
  Event input_ended_;
};

}  // namespace

Task<> serve_websocket(std::shared_ptr<TimedSocket> socket, const HttpServerOptions& options, StopToken drain,
                       std::function<Task<>(WebSocket&)> run, std::string early_input) {
  const auto stream = std::make_shared<ServedWebSocket>(socket, options, drain);
  stream->begin(std::move(early_input));
  std::exception_ptr thrown;
  try {
    co_await run(*stream);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (thrown) {
    log::error("a stream handler threw", {{"what", exception_text(thrown)}});
    stream->close_with(kCloseInternalError, "");
  }
  if (!stream->is_gone()) co_await stream->close();
  co_await stream->finish();
}

}  // namespace assay::net

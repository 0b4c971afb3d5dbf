// Server-Sent Events (WHATWG HTML section 9.2) as the server's side of a response that does not end by itself.
#include <fmt/format.h>

#include <exception>

#include "base/log.h"
#include "net/exception_text.h"
#include "net/stream_channel.h"

namespace assay::net {
namespace {

// A comment; its empty line lets proxies and readers that work by frames pass it on at once.
constexpr std::string_view kKeepAlive = ": keep-alive\n\n";
// What a peer may send into a response: more is no HTTP client.
constexpr std::size_t kStrayInputBytesMax = 64 * 1024;

class ServedEventStream final : public StreamChannel, public EventStream {
 public:
  ServedEventStream(std::shared_ptr<TimedSocket> socket, const HttpServerOptions& options, const StopToken& drain,
                    Framing framing)
      : StreamChannel(std::move(socket), options, drain), framing_(framing) {}

  Task<bool> send(std::string frame) override { return write(framed(std::move(frame))); }
  [[nodiscard]] StopToken closed() const override { return close_token(); }

 private:
  [[nodiscard]] std::string framed(std::string frame) const {
    // An empty chunk would end the body.
    if (framing_ == Framing::UntilClose || frame.empty()) return frame;
    return fmt::format("{:x}\r\n{}\r\n", frame.size(), frame);
  }

  void keep_alive(bool quiet) override {
    if (quiet) spawn("keep-alive", comment());
  }
  Task<> comment() {
    std::string frame = framed(std::string(kKeepAlive));
    co_await write(std::move(frame));
  }

  Task<bool> take(std::string_view input) override {
    stray_ += input.size();
    if (stray_ <= kStrayInputBytesMax) co_return true;
    leave(StopReason::ProtocolViolation);
    socket().close();
    co_return false;
  }

  Framing framing_;
  std::size_t stray_ = 0;
};

}  // namespace

Task<> serve_event_stream(std::shared_ptr<TimedSocket> socket, const HttpServerOptions& options, StopToken drain,
                          std::function<Task<>(EventStream&)> run, Framing framing) {
  const auto stream = std::make_shared<ServedEventStream>(socket, options, drain, framing);
  stream->begin("");
  std::exception_ptr thrown;
  try {
    co_await run(*stream);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (thrown) {
    // The body stays unfinished, so that the client sees a cut and not an end.
    log::error("a stream handler threw", {{"what", exception_text(thrown)}});
  } else if (framing == Framing::Chunked) {
    std::string last_chunk = "0\r\n\r\n";
    co_await stream->write(std::move(last_chunk));
  }
  socket->close();
  co_await stream->finish();
}

}  // namespace assay::net

// Server-Sent Events (WHATWG HTML section 9.2) as the server's side of a response that does not end by itself.
#include <fmt/format.h>

#include <array>
#include <exception>

#include "base/log.h"
#include "net/exception_text.h"
#include "net/stream_channel.h"
#include "net/task_group.h"
#include "net/timer.h"

namespace assay::net {
namespace {

// A comment; its empty line lets proxies and readers that work by frames pass it on at once.
constexpr std::string_view kKeepAlive = ": keep-alive\n\n";
// What a peer may send into a response: more is no HTTP client.
constexpr std::size_t kStrayInputBytesMax = 64 * 1024;

class Stream final : public EventStream {
 public:
  Stream(StreamChannel& channel, Framing framing) : channel_(channel), framing_(framing) {}

  Task<bool> send(std::string frame) override {
    // An empty chunk would end the body.
    if (frame.empty()) co_return !channel_.is_gone();
    if (framing_ == Framing::Chunked) frame = fmt::format("{:x}\r\n{}\r\n", frame.size(), frame);
    co_return co_await channel_.write(std::move(frame));
  }
  [[nodiscard]] StopToken closed() const override { return channel_.closed(); }

 private:
  StreamChannel& channel_;
  Framing framing_;
};

Task<> watch_peer(StreamChannel& channel) {
  std::array<char, 256> scrap;
  std::size_t stray = 0;
  while (stray <= kStrayInputBytesMax) {
    const ReadOutcome read = co_await channel.socket().read_some(scrap.data(), scrap.size(), Deadline::never());
    if (read.status != IoStatus::Done) {
      channel.lose_peer();
      co_return;
    }
    stray += read.bytes;
  }
  channel.leave(StopReason::ProtocolViolation);
  channel.socket().close();
}

Task<> keep_alive(StreamChannel& channel, Stream& stream, StopToken stop) {
  while (true) {
    const std::uint64_t seen = channel.writes();
    const bool slept = co_await sleep_for(channel.options().ping_interval, stop);
    if (!slept) co_return;
    if (channel.writes() != seen || channel.is_writing()) continue;
    std::string comment(kKeepAlive);
    co_await stream.send(std::move(comment));
  }
}

}  // namespace

Task<> serve_event_stream(std::shared_ptr<TimedSocket> socket, const HttpServerOptions& options, StopToken drain,
                          std::function<Task<>(EventStream&)> run, Framing framing) {
  StreamChannel channel(socket, options, drain);
  Stream stream(channel, framing);
  const boost::asio::any_io_executor executor = socket->executor();
  TaskGroup companions(executor, channel.gone());
  companions.spawn("event stream peer", watch_peer(channel));
  companions.spawn("event stream keep-alive", keep_alive(channel, stream, companions.token()));
  std::exception_ptr thrown;
  try {
    co_await run(stream);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (thrown) {
    // The body stays unfinished, so that the client sees a cut and not an end.
    log::error("a stream handler threw", {{"what", exception_text(thrown)}});
  } else if (framing == Framing::Chunked && !channel.is_gone()) {
    std::string last_chunk = "0\r\n\r\n";
    co_await channel.write(std::move(last_chunk));
  }
  channel.leave(StopReason::Shutdown);
  socket->close();
  co_await companions.join();
}

}  // namespace assay::net

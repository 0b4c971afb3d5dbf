#include "net/stream_channel.h"

#include <array>

namespace assay::net {

namespace {
constexpr std::size_t kReadBytes = 1024;
}

StreamChannel::StreamChannel(std::shared_ptr<TimedSocket> socket, const HttpServerOptions& options,
                             const StopToken& drain)
    : socket_(std::move(socket)),
      options_(options),
      closed_(drain),
      keep_alive_timer_(socket_->executor()),
      tasks_(socket_->executor()) {}

void StreamChannel::begin(std::string early_input) {
  schedule_keep_alive();
  if (early_input.empty()) return watch_peer();
  spawn("early input", take_early(std::move(early_input)));
}

Task<> StreamChannel::finish() {
  if (!is_gone()) leave(StopReason::Shutdown);
  // A task of the peer's side may still be parting from it.
  co_await tasks_.join();
  socket_->close();
}

void StreamChannel::watch_peer() {
  socket_->when_readable([weak = weak_from_this()](bool readable) {
    const auto self = weak.lock();
    if (!self) return;
    if (readable) return self->spawn("peer", self->read_input());
    self->lose_peer();
    self->on_input_end();
  });
}

Task<> StreamChannel::take_early(std::string input) {
  const bool goes_on = co_await take(input);
  if (goes_on) {
    watch_peer();
  } else {
    on_input_end();
  }
}

Task<> StreamChannel::read_input() {
  std::array<char, kReadBytes> bytes;
  const ReadOutcome read = co_await socket_->read_some(bytes.data(), bytes.size(), Deadline::never());
  bool goes_on = false;
  if (read.status == IoStatus::Done) {
    const std::string_view input(bytes.data(), read.bytes);
    goes_on = co_await take(input);
  } else {
    lose_peer();
  }
  if (goes_on) {
    watch_peer();
  } else {
    on_input_end();
  }
}

void StreamChannel::schedule_keep_alive() {
  keep_alive_timer_.expires_after(options_.ping_interval);
  keep_alive_timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto self = weak.lock();
    if (error || !self || self->is_gone()) return;
    const bool quiet = self->writes_ == self->writes_seen_;
    self->writes_seen_ = self->writes_;
    if (!self->writing_) self->keep_alive(quiet);
    self->schedule_keep_alive();
  });
}

Task<bool> StreamChannel::write(std::string bytes) {
  while (writing_ && !is_gone()) co_await turn_.wait_beyond(turn_.version(), Deadline::never());
  if (is_gone()) co_return false;
  writing_ = true;
  const Deadline deadline = Deadline::after(system_clock(), options_.stream_write_timeout);
  const IoStatus status = co_await socket_->write_all(bytes, "", deadline);
  writing_ = false;
  ++writes_;
  turn_.notify();
  if (status == IoStatus::Done) co_return true;
  lose_peer();
  co_return false;
}

void StreamChannel::leave(StopReason reason) {
  gone_.stop(reason);
  closed_.stop(reason);
  keep_alive_timer_.cancel();
  turn_.notify();
}

void StreamChannel::lose_peer() {
  leave(socket_->has_slow_peer() ? StopReason::SlowPeer : StopReason::PeerClosed);
  socket_->close();
}

}  // namespace assay::net

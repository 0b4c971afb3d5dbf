#include "net/stream_channel.h"

namespace assay::net {

StreamChannel::StreamChannel(std::shared_ptr<TimedSocket> socket, const HttpServerOptions& options,
                             const StopToken& drain)
    : socket_(std::move(socket)), options_(options), closed_(drain) {}

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
  turn_.notify();
}

void StreamChannel::lose_peer() {
  leave(socket_->has_slow_peer() ? StopReason::SlowPeer : StopReason::PeerClosed);
  socket_->close();
}

}  // namespace assay::net

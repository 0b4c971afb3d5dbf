#include "net/timed_socket.h"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/write.hpp>

namespace assay::net {

namespace asio = boost::asio;

TimedSocket::TimedSocket(asio::ip::tcp::socket socket)
    : socket_(std::move(socket)), reading_(socket_.get_executor()), writing_(socket_.get_executor()) {}

void TimedSocket::arm(Watch& watch, Deadline deadline, OnExpiry action) {
  ++watch.round;
  watch.expired = false;
  if (deadline.is_never()) return;
  watch.timer.expires_at(deadline.instant());
  watch.timer.async_wait(
      [self = weak_from_this(), &watch, round = watch.round, action](boost::system::error_code error) {
        const auto alive = self.lock();
        if (error || !alive || watch.round != round) return;
        watch.expired = true;
        if (action == OnExpiry::Close) return alive->close();
        boost::system::error_code ignored;
        alive->socket_.cancel(ignored);
      });
}

void TimedSocket::disarm(Watch& watch) {
  ++watch.round;
  watch.timer.cancel();
}

Task<ReadOutcome> TimedSocket::read_some(char* data, std::size_t size, Deadline deadline) {
  const auto self = shared_from_this();
  arm(reading_, deadline, OnExpiry::CancelOperations);
  const auto [error, bytes] =
      co_await socket_.async_read_some(asio::buffer(data, size), asio::as_tuple(asio::deferred));
  disarm(reading_);
  if (!error) co_return ReadOutcome{IoStatus::Done, bytes};
  if (error == asio::error::eof) co_return ReadOutcome{IoStatus::Ended, 0};
  co_return ReadOutcome{reading_.expired ? IoStatus::TimedOut : IoStatus::Failed, 0};
}

void TimedSocket::when_readable(std::function<void(bool readable)> action) {
  socket_.async_wait(asio::ip::tcp::socket::wait_read, [self = shared_from_this(), action = std::move(action)](
                                                           boost::system::error_code error) { action(!error); });
}

Task<IoStatus> TimedSocket::write_all(std::string_view first, std::string_view second, Deadline deadline) {
  const auto self = shared_from_this();
  const std::array<asio::const_buffer, 2> parts = {asio::buffer(first), asio::buffer(second)};
  arm(writing_, deadline, OnExpiry::Close);
  const auto [error, bytes] = co_await asio::async_write(socket_, parts, asio::as_tuple(asio::deferred));
  disarm(writing_);
  if (!error) co_return IoStatus::Done;
  co_return writing_.expired ? IoStatus::TimedOut : IoStatus::Failed;
}

Task<> TimedSocket::close_gently(Deadline deadline) {
  const auto self = shared_from_this();
  boost::system::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  std::array<char, 4096> scrap;
  while (true) {
    const ReadOutcome read = co_await read_some(scrap.data(), scrap.size(), deadline);
    // Bytes that are there already would be read for ever from a peer that floods.
    if (read.status != IoStatus::Done || deadline.has_passed(system_clock())) break;
  }
  close();
}

void TimedSocket::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

std::string TimedSocket::remote_address() const {
  boost::system::error_code error;
  const auto endpoint = socket_.remote_endpoint(error);
  if (error) return "";
  const asio::ip::address address = endpoint.address();
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
}

}  // namespace assay::net

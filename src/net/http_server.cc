#include "net/http_server.h"

#include <fmt/format.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/log.h"
#include "net/http_connection.h"
#include "net/task_group.h"
#include "net/timer.h"

namespace assay::net {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

// When descriptors run out, accepting again at once would only spin.
constexpr Milliseconds kAcceptPause{100};
// Connections beyond connections_max that are told so at the same time; the rest is closed without a word.
constexpr std::size_t kTurnedAwayAtOnceMax = 64;

BindErrorKind kind_of(const boost::system::error_code& error) {
  if (error == asio::error::address_in_use) return BindErrorKind::AddressInUse;
  if (error == asio::error::access_denied) return BindErrorKind::PermissionDenied;
  if (error == boost::system::errc::address_not_available) return BindErrorKind::InvalidAddress;
  return BindErrorKind::Other;
}

// Streams write small frames that should leave at once; unacknowledged bytes are the sign of a peer that vanished.
void tune(tcp::socket& socket, Milliseconds unacknowledged_max) {
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  using UserTimeout = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_USER_TIMEOUT>;
  socket.set_option(UserTimeout(static_cast<int>(unacknowledged_max.count())), ignored);
}

struct Counted {
  explicit Counted(std::size_t& counter) : count(&counter) { ++*count; }
  ~Counted() { --*count; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  std::size_t* count;
};

}  // namespace

std::optional<std::string_view> HttpRequest::query(std::string_view name) const {
  const auto found =
      std::ranges::find(query_parameters, name, [](const auto& pair) -> const std::string& { return pair.first; });
  if (found == query_parameters.end()) return std::nullopt;
  return found->second;
}

struct HttpServer::Parts {
  Parts(Loop& loop, HttpServerOptions options)
      : context(std::make_shared<ServerContext>(std::move(options))), acceptor(loop.executor()), tasks(loop) {}

  std::shared_ptr<ServerContext> context;
  tcp::acceptor acceptor;
  std::uint16_t port = 0;
  std::size_t connections = 0;
  std::size_t turned_away = 0;
  TaskGroup tasks;

  static Task<> serve(std::shared_ptr<Parts> parts, std::shared_ptr<TimedSocket> socket) {
    const Counted counted(parts->connections);
    co_await serve_connection(std::move(socket), parts->context);
  }

  static Task<> refuse(std::shared_ptr<Parts> parts, std::shared_ptr<TimedSocket> socket) {
    const Counted counted(parts->turned_away);
    co_await turn_away(std::move(socket), parts->context);
  }

  static Task<> accept(std::shared_ptr<Parts> parts) {
    const HttpServerOptions& options = parts->context->options;
    const StopToken drain = parts->context->drain.token();
    while (!drain.stopped()) {
      auto [error, socket] = co_await parts->acceptor.async_accept(asio::as_tuple(asio::deferred));
      if (drain.stopped()) co_return;
      if (error) {
        log::warning("accepting a connection failed", {{"what", error.message()}});
        co_await sleep_for(kAcceptPause, drain);
        continue;
      }
      tune(socket, options.stream_write_timeout + options.ping_interval);
      auto timed = std::make_shared<TimedSocket>(std::move(socket));
      if (parts->connections < options.connections_max) {
        parts->tasks.spawn("connection", serve(parts, std::move(timed)));
      } else if (parts->turned_away < kTurnedAwayAtOnceMax) {
        parts->tasks.spawn("connection turned away", refuse(parts, std::move(timed)));
      }
    }
  }

  static Task<> stop(std::shared_ptr<Parts> parts, Deadline drain) {
    boost::system::error_code ignored;
    parts->acceptor.close(ignored);
    parts->context->drain.stop(StopReason::Shutdown);
    const bool drained = co_await parts->tasks.join_until(drain);
    if (drained) co_return;
    parts->context->cut.stop(StopReason::Shutdown);
    co_await parts->tasks.join();
  }
};

Result<std::unique_ptr<HttpServer>, BindError> HttpServer::listen(Loop& loop, HttpServerOptions options) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  const auto place = fmt::format("{} port {}", options.address, options.port);
  if (error) return fail(BindError{BindErrorKind::InvalidAddress, fmt::format("{}: not an IP address", place)});
  const tcp::endpoint endpoint(address, options.port);
  auto parts = std::make_shared<Parts>(loop, std::move(options));
  tcp::acceptor& acceptor = parts->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return fail(BindError{kind_of(error), fmt::format("{}: {}", place, error.message())});
  parts->port = acceptor.local_endpoint(error).port();
  parts->tasks.spawn("accept", Parts::accept(parts));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(parts)));
}

HttpServer::HttpServer(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}
HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const { return parts_->port; }
std::size_t HttpServer::connections() const { return parts_->connections; }

Task<> HttpServer::stop(Deadline drain) { return Parts::stop(parts_, drain); }

}  // namespace assay::net

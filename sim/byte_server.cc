#include "sim/byte_server.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <optional>
#include <utility>

#include "net/task_group.h"
#include "net/timer.h"

namespace assay::sim {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kReadBytes = 64 * 1024;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<std::size_t> parse_size(std::string_view text, int base) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<SimRequest> parse_head(std::string_view head) {
  SimRequest request;
  const std::size_t line_end = head.find("\r\n");
  std::string_view line = head.substr(0, line_end);
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last <= first) return std::nullopt;
  request.method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::size_t query = target.find('?');
  request.path = target.substr(0, query);
  if (query != std::string_view::npos) request.query = target.substr(query + 1);
  head.remove_prefix(std::min(head.size(), line_end + 2));
  while (!head.empty()) {
    const std::size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view field = head.substr(0, end);
    head.remove_prefix(std::min(head.size(), end + 2));
    const std::size_t colon = field.find(':');
    if (colon == std::string_view::npos) continue;
    request.headers.emplace_back(lower(field.substr(0, colon)), std::string(trim(field.substr(colon + 1))));
  }
  return request;
}

std::string_view header_of(const SimRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return {};
}

// One client: requests are read and answered one after another.
class Connection {
 public:
  Connection(tcp::socket socket, std::shared_ptr<const ByteServerOptions> options, std::int64_t number)
      : socket_(std::move(socket)), options_(std::move(options)), number_(number) {}

  net::Task<> run(net::StopToken stop) {
    const net::StopCallback close_on_stop(stop, [this] { close(); });
    while (!stop.stopped()) {
      auto request = co_await read_request();
      if (!request) break;
      const bool goes_on = co_await answer(std::move(*request), stop);
      if (!goes_on) break;
    }
    close();
  }

 private:
  void close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

  net::Task<bool> read_more() {
    const std::size_t held = buffer_.size();
    buffer_.resize(held + kReadBytes);
    const auto [error, count] =
        co_await socket_.async_read_some(asio::buffer(buffer_.data() + held, kReadBytes), kAwait);
    buffer_.resize(held + count);
    co_return !error;
  }

  net::Task<std::optional<SimRequest>> read_request() {
    std::size_t head_end = buffer_.find("\r\n\r\n");
    while (head_end == std::string::npos) {
      if (buffer_.size() > kRequestHeadBytesMax) co_return std::nullopt;
      const bool is_read = co_await read_more();
      if (!is_read) co_return std::nullopt;
      head_end = buffer_.find("\r\n\r\n");
    }
    auto request = parse_head(std::string_view(buffer_).substr(0, head_end));
    buffer_.erase(0, head_end + 4);
    if (!request) co_return std::nullopt;
    if (header_of(*request, "expect") == "100-continue") {
      const bool is_sent = co_await send("HTTP/1.1 100 Continue\r\n\r\n");
      if (!is_sent) co_return std::nullopt;
    }
    const bool is_chunked = lower(header_of(*request, "transfer-encoding")) == "chunked";
    const std::size_t size = parse_size(header_of(*request, "content-length"), 10).value_or(0);
    std::optional<std::string> body;
    if (is_chunked) {
      body = co_await read_chunked();
    } else {
      body = co_await read_bytes(size);
    }
    if (!body) co_return std::nullopt;
    request->body = std::move(*body);
    request->connection = number_;
    co_return request;
  }

  net::Task<std::optional<std::string>> read_bytes(std::size_t count) {
    if (count > kRequestBodyBytesMax) co_return std::nullopt;
    while (buffer_.size() < count) {
      const bool is_read = co_await read_more();
      if (!is_read) co_return std::nullopt;
    }
    std::string bytes = buffer_.substr(0, count);
    buffer_.erase(0, count);
    co_return bytes;
  }

  net::Task<std::optional<std::string>> read_chunked() {
    std::string body;
    while (true) {
      std::size_t line_end = buffer_.find("\r\n");
      while (line_end == std::string::npos) {
        const bool is_read = co_await read_more();
        if (!is_read || buffer_.size() > kRequestBodyBytesMax) co_return std::nullopt;
        line_end = buffer_.find("\r\n");
      }
      const auto size = parse_size(std::string_view(buffer_).substr(0, line_end), 16);
      buffer_.erase(0, line_end + 2);
      if (!size || *size > kRequestBodyBytesMax - body.size()) co_return std::nullopt;
      auto piece = co_await read_bytes(*size + 2);
      if (!piece) co_return std::nullopt;
      if (*size == 0) co_return body;
      body.append(*piece, 0, *size);
    }
  }

  net::Task<bool> send(std::string bytes) {
    const auto [error, count] = co_await asio::async_write(socket_, asio::buffer(bytes), kAwait);
    sent_ += static_cast<std::int64_t>(count);
    co_return !error;
  }

  // Stops `source` when the client closes its side; bytes that it sends meanwhile stay unread.
  net::Task<> watch_client(net::StopSource* source) {
    const auto [error] = co_await socket_.async_wait(tcp::socket::wait_read, kAwait);
    if (error) co_return;
    char byte = 0;
    boost::system::error_code peeked;
    socket_.non_blocking(true, peeked);
    socket_.receive(asio::buffer(&byte, 1), tcp::socket::message_peek, peeked);
    const bool has_left = peeked && peeked != asio::error::would_block;
    if (has_left) source->stop(net::StopReason::PeerClosed);
  }

  net::Task<bool> answer(SimRequest request, net::StopToken stop) {
    sent_ = 0;
    net::StopSource client(stop);
    net::TaskGroup watches(socket_.get_executor(), stop);
    watches.spawn("client watch", watch_client(&client));
    Plan plan = co_await options_->plan(std::move(request), client.token());
    const std::int64_t entry = plan.journal_entry;
    const bool keeps_connection = plan.keeps_connection;
    const PlanOutcome outcome = co_await carry_out(std::move(plan), client.token());
    boost::system::error_code ignored;
    if (socket_.is_open()) socket_.cancel(ignored);
    co_await watches.join();
    PlanResult result;
    result.outcome = outcome;
    result.bytes_sent = sent_;
    if (entry != 0 && options_->on_done) options_->on_done(entry, result);
    co_return outcome == PlanOutcome::Answered&& keeps_connection;
  }

  net::Task<PlanOutcome> carry_out(Plan plan, net::StopToken client) {
    for (Step& step : plan.steps) {
      if (client.stopped()) co_return PlanOutcome::ClientLeft;
      if (auto* bytes = std::get_if<Send>(&step)) {
        const bool is_sent = co_await send(std::move(bytes->bytes));
        if (!is_sent) co_return PlanOutcome::ClientLeft;
      } else if (const auto* pause = std::get_if<Pause>(&step)) {
        co_await net::sleep_for(pause->wait, client);
      } else if (const auto* hold = std::get_if<Hold>(&step)) {
        co_await options_->points->wait(hold->point, client);
      } else if (std::holds_alternative<Stall>(step)) {
        net::Event never;
        co_await never.wait(Deadline::never(), client);
      } else if (const auto* cut = std::get_if<Cut>(&step)) {
        boost::system::error_code ignored;
        if (cut->is_reset) socket_.set_option(asio::socket_base::linger(true, 0), ignored);
        close();
        co_return PlanOutcome::Cut;
      }
    }
    const bool was_stalled = !plan.steps.empty() && std::holds_alternative<Stall>(plan.steps.back());
    if (was_stalled) co_return PlanOutcome::ClientLeft;
    co_return PlanOutcome::Answered;
  }

  tcp::socket socket_;
  std::shared_ptr<const ByteServerOptions> options_;
  std::int64_t number_;
  std::string buffer_;
  std::int64_t sent_ = 0;
};

net::Task<> serve(tcp::socket socket, std::shared_ptr<const ByteServerOptions> options, std::int64_t number,
                  net::StopToken stop) {
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  Connection connection(std::move(socket), std::move(options), number);
  co_await connection.run(stop);
}

}  // namespace

struct ByteServer::Parts {
  Parts(net::Loop& loop, ByteServerOptions given)
      : options(std::make_shared<const ByteServerOptions>(std::move(given))),
        acceptor(loop.executor()),
        connections(loop) {}

  net::Task<> accept() {
    while (acceptor.is_open()) {
      auto [error, socket] = co_await acceptor.async_accept(kAwait);
      if (error) co_return;
      connections.spawn("connection", serve(std::move(socket), options, ++accepted, connections.token()));
    }
  }

  std::shared_ptr<const ByteServerOptions> options;
  tcp::acceptor acceptor;
  net::TaskGroup connections;
  std::int64_t accepted = 0;
};

Result<std::unique_ptr<ByteServer>, std::string> ByteServer::listen(net::Loop& loop, ByteServerOptions options) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) return fail("'" + options.address + "' is no IP address");
  const tcp::endpoint endpoint(address, options.port);
  auto parts = std::make_shared<Parts>(loop, std::move(options));
  parts->acceptor.open(endpoint.protocol(), error);
  if (!error) parts->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) parts->acceptor.bind(endpoint, error);
  if (!error) parts->acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (error) {
    return fail("cannot listen on " + address.to_string() + ":" + std::to_string(endpoint.port()) + ": " +
                error.message());
  }
  Parts& started = *parts;
  started.connections.spawn("accept", started.accept());
  return std::unique_ptr<ByteServer>(new ByteServer(std::move(parts)));
}

ByteServer::ByteServer(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}
ByteServer::~ByteServer() = default;

std::uint16_t ByteServer::port() const {
  boost::system::error_code ignored;
  return parts_->acceptor.local_endpoint(ignored).port();
}

net::Task<> ByteServer::stop() {
  boost::system::error_code ignored;
  parts_->acceptor.close(ignored);
  parts_->connections.stop(net::StopReason::Shutdown);
  co_await parts_->connections.join();
}

}  // namespace assay::sim

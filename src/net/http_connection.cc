#include "net/http_connection.h"

#include <fmt/format.h>

#include <exception>

#include "base/log.h"
#include "net/exception_text.h"
#include "net/request_parser.h"
#include "net/stream_channel.h"
#include "net/websocket_frame.h"

namespace assay::net {
namespace {

// One read from the socket: small before a request, because idle connections hold it.
constexpr std::size_t kHeadReadBytes = 2 * 1024;
constexpr std::size_t kBodyReadBytes = 64 * 1024;

HttpResponse refusal_of(const HttpServerOptions& options, int status, std::string_view message) {
  if (options.refusal) return options.refusal(status, message);
  HttpResponse response;
  response.status = status;
  response.headers.add("Content-Type", "text/plain; charset=utf-8");
  response.body = fmt::format("{}\n", message);
  return response;
}

// RFC 9110 section 6.4.1.
bool is_bodyless(int status) { return status == 204 || status == 304; }

class Connection {
 public:
  Connection(std::shared_ptr<TimedSocket> socket, std::shared_ptr<ServerContext> context)
      : socket_(std::move(socket)), context_(std::move(context)) {}

  Task<> serve() {
    const StopCallback on_drain(context_->drain.token(), [this] {
      if (is_idle_) socket_->close();
    });
    const StopCallback on_cut(context_->cut.token(), [this] { socket_->close(); });
    // A stream starts when the requests' tasks, with all they hold, are gone.
    co_await serve_requests();
    if (auto* events = std::get_if<EventStreamReply>(stream_.get())) co_await serve_events(std::move(*events));
    if (auto* socket = std::get_if<WebSocketReply>(stream_.get())) co_await serve_socket(std::move(*socket));
    socket_->close();
  }

  Task<> turn_away() { co_await refuse(503, "The server has no connection to spare."); }

 private:
  // Request after request, until the connection is over or a stream is to begin.
  Task<> serve_requests() {
    bool goes_on = true;
    while (goes_on) {
      if (input_.empty()) goes_on = co_await wait_for_request();
      if (goes_on) goes_on = co_await exchange();
    }
  }

  // One request and its answer. True: another request may follow.
  Task<bool> exchange() {
    auto request = co_await read_request();
    if (!request) co_return false;
    is_head_ = request->method == "HEAD";
    const bool asks_for_websocket = request->asks_for_websocket;
    websocket_key_ = request->headers.get("Sec-WebSocket-Key").value_or("");
    auto reply = std::make_unique<HttpReply>(co_await call_handler(std::move(*request)));
    if (auto* plain = std::get_if<HttpResponse>(reply.get())) co_return co_await respond(std::move(*plain));
    if (std::holds_alternative<WebSocketReply>(*reply) && !asks_for_websocket) {
      HttpResponse refused = refusal_of(context_->options, 426, "This resource needs a WebSocket handshake.");
      refused.headers.add("Upgrade", "websocket");
      refused.headers.add("Sec-WebSocket-Version", "13");
      co_return co_await respond(std::move(refused));
    }
    stream_ = std::move(reply);
    co_return false;
  }

  // Nothing where the connection is over; what could be answered has been.
  Task<std::optional<HttpRequest>> read_request() {
    RequestParser parser(context_->options.header_bytes_max);
    const Deadline head_deadline = Deadline::after(system_clock(), context_->options.header_timeout);
    bool complete = co_await feed(parser, RequestParser::State::HeadComplete, kHeadReadBytes, head_deadline);
    if (!complete) co_return std::nullopt;
    const HttpRequest& head = parser.request();
    const auto& limit = context_->options.body_bytes_max;
    auto state = parser.limit_body(limit ? limit(head.method, head.path) : kDefaultBodyBytesMax);
    if (state == RequestParser::State::Refused) {
      co_await refuse(parser.refusal().status, parser.refusal().message);
      co_return std::nullopt;
    }
    keeps_alive_ = parser.keeps_alive();
    is_http_1_0_ = parser.is_http_1_0();
    if (state == RequestParser::State::NeedsMore) {
      const Deadline body_deadline = Deadline::after(system_clock(), context_->options.body_timeout);
      if (parser.expects_continue() && input_.empty()) {
        co_await socket_->write_all("HTTP/1.1 100 Continue\r\n\r\n", "", body_deadline);
      }
      complete = co_await feed(parser, RequestParser::State::Complete, kBodyReadBytes, body_deadline);
      if (!complete) co_return std::nullopt;
    }
    std::optional<HttpRequest> request = parser.take();
    request->remote_address = socket_->remote_address();
    request->stop = context_->cut.token();
    co_return request;
  }

  Task<bool> wait_for_request() {
    if (context_->drain.stopped()) co_return false;
    const Milliseconds patience = is_first_ ? context_->options.header_timeout : context_->options.keep_alive_timeout;
    is_first_ = false;
    is_idle_ = true;
    const Deadline deadline = Deadline::after(system_clock(), patience);
    const ReadOutcome read = co_await read_more(kHeadReadBytes, deadline);
    is_idle_ = false;
    co_return read.status == IoStatus::Done;
  }

  // Parses up to `goal`. False where the connection is over.
  Task<bool> feed(RequestParser& parser, RequestParser::State goal, std::size_t read_bytes, Deadline deadline) {
    while (true) {
      const RequestParser::State state = parser.feed(input_);
      if (state == goal) co_return true;
      if (state == RequestParser::State::Refused) {
        co_await refuse(parser.refusal().status, parser.refusal().message);
        co_return false;
      }
      const ReadOutcome read = co_await read_more(read_bytes, deadline);
      if (read.status == IoStatus::TimedOut) co_await refuse(408, "The request did not arrive in time.");
      if (read.status != IoStatus::Done) co_return false;
    }
  }

  Task<ReadOutcome> read_more(std::size_t read_bytes, Deadline deadline) {
    const std::size_t held = input_.size();
    input_.resize(held + read_bytes);
    const ReadOutcome read = co_await socket_->read_some(input_.data() + held, read_bytes, deadline);
    input_.resize(held + read.bytes);
    co_return read;
  }

  Task<HttpReply> call_handler(HttpRequest request) {
    std::exception_ptr thrown;
    try {
      co_return co_await context_->options.handler(std::move(request));
    } catch (...) {
      thrown = std::current_exception();
    }
    log::error("a request handler threw", {{"what", exception_text(thrown)}});
    co_return refusal_of(context_->options, 500, "The server failed to handle the request.");
  }

  // True where the connection stays open.
  Task<bool> respond(HttpResponse response) {
    const bool stays = keeps_alive_ && !context_->drain.stopped();
    const std::string head = format_head(response, stays);
    const bool has_body = !is_head_ && !is_bodyless(response.status);
    const std::string_view body = has_body ? std::string_view(response.body) : std::string_view();
    const Deadline deadline = Deadline::after(system_clock(), context_->options.response_timeout);
    const IoStatus status = co_await socket_->write_all(head, body, deadline);
    if (stays || status != IoStatus::Done) co_return stays&& status == IoStatus::Done;
    const Deadline linger = Deadline::after(system_clock(), context_->options.linger_timeout);
    co_await socket_->close_gently(linger);
    co_return false;
  }

  // For requests that were not read to their end: the connection cannot go on.
  Task<> refuse(int status, std::string message) {
    keeps_alive_ = false;
    is_head_ = false;
    HttpResponse response = refusal_of(context_->options, status, message);
    co_await respond(std::move(response));
  }

  std::string format_head(HttpResponse& response, bool stays) {
    add_common_fields(response.headers);
    if (!is_bodyless(response.status)) response.headers.add("Content-Length", fmt::to_string(response.body.size()));
    if (!stays) response.headers.add("Connection", "close");
    if (stays && is_http_1_0_) response.headers.add("Connection", "keep-alive");
    if (auto head = format_response_head(response.status, response.headers)) return std::move(*head);
    log::error("a handler's header field would break the response", {{"status", response.status}});
    response = HttpResponse();
    response.status = 500;
    response.headers.add("Content-Length", "0");
    response.headers.add("Connection", "close");
    keeps_alive_ = false;
    return format_response_head(500, response.headers).value_or("");
  }

  static void add_common_fields(HttpHeaders& headers) {
    headers.add("Date", format_http_date(system_clock().wall_now()));
  }

  Task<> serve_events(EventStreamReply reply) {
    const Framing framing = is_http_1_0_ ? Framing::UntilClose : Framing::Chunked;
    reply.headers.add("Content-Type", "text/event-stream");
    reply.headers.add("Cache-Control", "no-cache");
    reply.headers.add("Connection", "close");
    if (framing == Framing::Chunked) reply.headers.add("Transfer-Encoding", "chunked");
    const bool begun = co_await begin_stream(200, std::move(reply.headers));
    if (!begun || is_head_) co_return;
    co_await serve_event_stream(socket_, context_->options, context_->drain.token(), std::move(reply.run), framing);
  }

  Task<> serve_socket(WebSocketReply reply) {
    reply.headers.add("Upgrade", "websocket");
    reply.headers.add("Connection", "Upgrade");
    reply.headers.add("Sec-WebSocket-Accept", websocket_accept(websocket_key_));
    std::string early_input(input_);
    const bool begun = co_await begin_stream(101, std::move(reply.headers));
    if (!begun) co_return;
    co_await serve_websocket(socket_, context_->options, context_->drain.token(), std::move(reply.run),
                             std::move(early_input));
  }

  // Sends the head and gives back what only requests need.
  Task<bool> begin_stream(int status, HttpHeaders headers) {
    std::string().swap(input_);
    add_common_fields(headers);
    const auto head = format_response_head(status, headers);
    if (!head) {
      log::error("a handler's header field would break the response", {{"status", status}});
      co_await refuse(500, "The server failed to handle the request.");
      co_return false;
    }
    const Deadline deadline = Deadline::after(system_clock(), context_->options.response_timeout);
    const IoStatus written = co_await socket_->write_all(*head, "", deadline);
    co_return written == IoStatus::Done;
  }

  std::shared_ptr<TimedSocket> socket_;
  std::shared_ptr<ServerContext> context_;
  std::string input_;                  // received, not yet parsed
  std::unique_ptr<HttpReply> stream_;  // what the connection becomes; never a plain response
  std::string websocket_key_;
  bool is_first_ = true;
  bool is_head_ = false;
  bool is_idle_ = false;
  bool keeps_alive_ = false;
  bool is_http_1_0_ = false;
};

}  // namespace

Task<> serve_connection(std::shared_ptr<TimedSocket> socket, std::shared_ptr<ServerContext> context) {
  Connection connection(std::move(socket), std::move(context));
  co_await connection.serve();
}

Task<> turn_away(std::shared_ptr<TimedSocket> socket, std::shared_ptr<ServerContext> context) {
  Connection connection(std::move(socket), std::move(context));
  co_await connection.turn_away();
}

}  // namespace assay::net

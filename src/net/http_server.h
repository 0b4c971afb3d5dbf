#pragma once
// The HTTP/1.1 server: plain responses, Server-Sent Events and WebSockets, without TLS (a proxy's job).
//
// Handlers run on the loop thread, so they need no locks. One connection has one request at a time; pipelined requests
// wait. Malformed requests, exceeded limits and exceptions out of handlers are answered here, with bodies from
// `HttpServerOptions::refusal`.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/http_message.h"
#include "net/loop.h"
#include "net/stop.h"
#include "net/task.h"

namespace assay::net {

struct HttpRequest {
  std::string method;                                                 // as received: methods are case-sensitive
  std::string target;                                                 // as received
  std::string path;                                                   // decoded
  std::vector<std::pair<std::string, std::string>> query_parameters;  // decoded, in order
  HttpHeaders headers;
  std::string body;
  std::string remote_address;       // of the peer that connected, which may be a proxy
  bool asks_for_websocket = false;  // a valid WebSocket handshake (RFC 6455 section 4.2.1)
  StopToken stop;                   // stops when the drain time of HttpServer::stop is over

  // The first parameter of that name. Lifetime of the view: the request's.
  [[nodiscard]] std::optional<std::string_view> query(std::string_view name) const;
};

// Content-Length, Connection and Date are added by the server. For HEAD the body is measured but not sent.
struct HttpResponse {
  int status = 200;
  HttpHeaders headers;
  std::string body;
};

// Both stream kinds: one sender at a time suffices, several are put in turn. send() returns true once the kernel has
// taken all bytes, false once the stream is over; then nothing more will be sent and the handler should return.
//
// closed() stops with PeerClosed (disconnected or closed by the peer), SlowPeer (a send was not taken in
// stream_write_timeout, or a ping not answered), ProtocolViolation, or Shutdown: the server drains, sends still work,
// and the handler should say its last word and return before the drain time is over, when the connection is cut.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // `frame` holds complete frames, each with the empty line that ends it.
  virtual Task<bool> send(std::string frame) = 0;
  [[nodiscard]] virtual StopToken closed() const = 0;
};

// One direction only: a data frame of the peer closes with 1008. Pings, pongs and the closing handshake are handled
// here; permessage-deflate is declined (it costs 97 KiB a connection).
class WebSocket {
 public:
  virtual ~WebSocket() = default;
  virtual Task<bool> send_text(std::string text) = 0;
  // Chooses what ends the stream once the handler returns; without it 1000, or 1001 while the server drains. Longer
  // reasons than kCloseReasonBytesMax are cut.
  virtual void close_with(std::uint16_t code, std::string reason) = 0;
  [[nodiscard]] virtual StopToken closed() const = 0;
};

inline constexpr std::size_t kCloseReasonBytesMax = 123;  // RFC 6455 section 5.5: a control frame holds 125 bytes

// The connection awaits `run` and ends when it returns. The stream reference is valid until then. `run` must not be a
// coroutine lambda that captures: let it call a coroutine function with the captured values as arguments.
struct EventStreamReply {
  HttpHeaders headers;  // beside Content-Type and Cache-Control
  std::function<Task<>(EventStream&)> run;
};

// For a request that does not ask for a WebSocket the reply is 426 and `run` is not called.
struct WebSocketReply {
  HttpHeaders headers;
  std::function<Task<>(WebSocket&)> run;
};

using HttpReply = std::variant<HttpResponse, EventStreamReply, WebSocketReply>;

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // an IPv4 or IPv6 address
  std::uint16_t port = 0;             // 0: the system chooses, see HttpServer::port

  std::function<Task<HttpReply>(HttpRequest)> handler;
  // How large a body this route takes; asked before the body is read. Without it kDefaultBodyBytesMax.
  std::function<std::size_t(std::string_view method, std::string_view path)> body_bytes_max;
  // The response for what the server refuses by itself: 400, 408, 413, 417, 426, 431, 500, 501, 503, 505. Without it a
  // short text. Must not throw.
  std::function<HttpResponse(int status, std::string_view message)> refusal;

  // The request line and the fields, with the empty line: more is 431. Twice what browsers send with large cookies.
  std::size_t header_bytes_max = 16 * 1024;
  // Further connections get 503 at once. Above the aim of 10 000 idle streams; the process needs as many descriptors.
  std::size_t connections_max = 12'000;
  Milliseconds header_timeout{10'000};        // from a request's first byte (or the accept) to the end of its head
  Milliseconds body_timeout{60'000};          // from there to the end of the body: 10 MiB at 1.4 Mbit/s
  Milliseconds keep_alive_timeout{75'000};    // between two requests; longer than common proxies' 60 s
  Milliseconds response_timeout{60'000};      // to hand a plain response to the kernel
  Milliseconds stream_write_timeout{15'000};  // to hand one frame of a stream to the kernel: slower peers are cut off
  Milliseconds ping_interval{15'000};         // keep-alive comments and pings on streams
  Milliseconds linger_timeout{2'000};         // reading on after a refusal, so that the peer sees it before a reset
};

inline constexpr std::size_t kDefaultBodyBytesMax = 1024 * 1024;

enum class BindErrorKind : std::uint8_t { AddressInUse, PermissionDenied, InvalidAddress, Other };

struct BindError {
  BindErrorKind kind;
  std::string message;  // names address and port
};

// Requires: stop() has returned before the server is destroyed, except when the Loop itself goes down.
class HttpServer {
 public:
  // Binds and starts to accept.
  static Result<std::unique_ptr<HttpServer>, BindError> listen(Loop& loop, HttpServerOptions options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::size_t connections() const;

  // Stops accepting, closes idle connections, tells streams (Shutdown) and lets running handlers finish; at the
  // deadline cuts what is left, stops the requests' tokens, and returns when every handler has returned. Calling it
  // again is harmless: all calls return when the server has stopped, and the earliest deadline counts.
  Task<> stop(Deadline drain);

 private:
  struct Parts;
  explicit HttpServer(std::shared_ptr<Parts> parts);
  std::shared_ptr<Parts> parts_;
};

}  // namespace assay::net

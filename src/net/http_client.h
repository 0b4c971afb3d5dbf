#pragma once
// Outgoing HTTP/1.1 and HTTP/2 over libcurl, driven by the loop. Certificates are verified, redirects are answers and
// never followed, only http and https are spoken, gzip, br and zstd bodies arrive decoded, environment proxies are
// ignored. Only on the loop thread.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "net/http_message.h"
#include "net/loop.h"
#include "net/stop.h"
#include "net/task.h"

namespace assay::net {

struct OutgoingRequest {
  std::string method = "GET";
  std::string url;
  HttpHeaders headers;
  std::string body;

  // Every part of the exchange has its own patience; the total bounds them all.
  Milliseconds connect_timeout{10'000};     // name, TCP and TLS
  Milliseconds first_byte_timeout{60'000};  // from open() to the end of the response's head
  Milliseconds idle_timeout{60'000};  // silence within the body, not counting the time that the reader holds it up
  Deadline total = Deadline::never();

  std::size_t response_bytes_max = 16 * 1024 * 1024;  // of the decoded body
  std::string proxy;                                  // a URL; empty: connect directly
  std::string ca_file;                                // PEM; empty: the system's certificates
};

// All fields of a response's head together.
inline constexpr std::size_t kResponseHeaderBytesMax = 256 * 1024;
// What is held for a reader that has not asked for it yet; beyond it the peer is held up (TCP or HTTP/2 flow control).
inline constexpr std::size_t kUnreadBodyBytesMax = 256 * 1024;

struct ResponseHead {
  int status = 0;
  HttpHeaders headers;
};

enum class HttpErrorKind : std::uint8_t {
  Resolve,
  Connect,
  Tls,
  TimeoutConnect,
  TimeoutFirstByte,
  TimeoutIdle,
  TimeoutTotal,
  Interrupted,  // the connection broke, or the body ended short of its length or its final chunk
  TooLarge,
  InvalidUrl,
  Stopped,  // the token says why
  Other,
};

std::string_view to_string(HttpErrorKind kind);

// The message names at most the host: never headers, keys, paths, queries or user information.
struct HttpError {
  HttpErrorKind kind;
  std::string message;
};

struct FullResponse {
  ResponseHead head;
  std::string body;
};

namespace detail {
class Transfer;
class CurlMulti;
}  // namespace detail

// A response whose body is read piece by piece, as slowly as the reader likes. One reader. Destroying it, or close(),
// cancels at once: an HTTP/1.1 connection is closed, an HTTP/2 stream reset.
class HttpStream {
 public:
  explicit HttpStream(std::unique_ptr<detail::Transfer> transfer);
  ~HttpStream();
  HttpStream(HttpStream&&) noexcept;
  HttpStream& operator=(HttpStream&&) noexcept;

  [[nodiscard]] const ResponseHead& head() const;
  // The next bytes, never empty; nothing once the body has ended cleanly. After an end or an error the answer stays.
  // A body that is neither counted nor chunked ends cleanly when its connection does.
  Task<Result<std::optional<std::string>, HttpError>> next();
  void close();

 private:
  std::unique_ptr<detail::Transfer> transfer_;
};

// Keeps connections for reuse. Streams may outlive it.
class HttpClient {
 public:
  explicit HttpClient(Loop& loop);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Returns when the head of the response has arrived, whatever its status. The token counts for the whole stream.
  Task<Result<HttpStream, HttpError>> open(OutgoingRequest request, StopToken stop = StopToken());

  // The whole response; `response_bytes_max` bounds it.
  Task<Result<FullResponse, HttpError>> fetch(OutgoingRequest request, StopToken stop = StopToken());

 private:
  std::shared_ptr<detail::CurlMulti> multi_;
};

}  // namespace assay::net

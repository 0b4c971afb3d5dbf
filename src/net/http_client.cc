#include "net/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <openssl/x509.h>

#include <algorithm>
#include <charconv>

#include "net/curl_multi.h"
#include "net/event.h"

namespace assay::net {

std::string_view to_string(HttpErrorKind kind) {
  switch (kind) {
    case HttpErrorKind::Resolve:
      return "resolve";
    case HttpErrorKind::Connect:
      return "connect";
    case HttpErrorKind::Tls:
      return "tls";
    case HttpErrorKind::TimeoutConnect:
      return "connect timeout";
    case HttpErrorKind::TimeoutFirstByte:
      return "first byte timeout";
    case HttpErrorKind::TimeoutIdle:
      return "idle timeout";
    case HttpErrorKind::TimeoutTotal:
      return "total timeout";
    case HttpErrorKind::Interrupted:
      return "interrupted";
    case HttpErrorKind::TooLarge:
      return "too large";
    case HttpErrorKind::InvalidUrl:
      return "invalid url";
    case HttpErrorKind::Stopped:
      return "stopped";
    case HttpErrorKind::Other:
      return "other";
  }
  return "unknown";
}

namespace {

// The host of an http or https URL; nothing where it is no such URL.
std::optional<std::string> host_of(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), &curl_url_cleanup);
  if (url.contains('\0') || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return std::nullopt;
  const auto part = [&parsed](CURLUPart which) {
    char* text = nullptr;
    std::string copy;
    if (curl_url_get(parsed.get(), which, &text, 0) == CURLUE_OK) copy = text;
    curl_free(text);
    return copy;
  };
  const std::string scheme = part(CURLUPART_SCHEME);
  std::string host = part(CURLUPART_HOST);
  if ((scheme != "http" && scheme != "https") || host.empty()) return std::nullopt;
  return host;
}

HttpErrorKind kind_of(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return HttpErrorKind::Resolve;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
      return HttpErrorKind::Connect;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
      return HttpErrorKind::Tls;
    case CURLE_OPERATION_TIMEDOUT:  // the only timeout that curl itself is given
      return HttpErrorKind::TimeoutConnect;
    case CURLE_URL_MALFORMAT:
      return HttpErrorKind::InvalidUrl;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return HttpErrorKind::Interrupted;
    default:
      return HttpErrorKind::Other;
  }
}

bool is_method(std::string_view method) {
  return !method.empty() && std::ranges::all_of(method, [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

namespace detail {

class Transfer final : public CurlListener {
 public:
  Transfer(std::shared_ptr<CurlMulti> multi, OutgoingRequest request, StopToken stop)
      : multi_(std::move(multi)), request_(std::move(request)), stop_(std::move(stop)) {}
  ~Transfer() override { release(); }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Puts the request on its way. False: see error().
  bool start();
  // True when the head has arrived. False: see error().
  Task<bool> wait_for_head();
  Task<Result<std::optional<std::string>, HttpError>> next();
  // Ends the transfer where it stands; what was not read is dropped.
  void cancel(HttpErrorKind kind, std::string_view what);

  [[nodiscard]] const HttpError& error() const { return *error_; }
  [[nodiscard]] const ResponseHead& head() const { return head_; }
  [[nodiscard]] std::size_t bytes_max() const { return request_.response_bytes_max; }

  void on_finished(CURLcode result) override;

 private:
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) noexcept;

  void configure();
  bool add_headers();
  void take_header_line(std::string_view line);
  // Ends the transfer where its token or its total deadline say so.
  bool is_over();
  Task<> wait_for_progress(Deadline part_deadline, HttpErrorKind on_deadline);
  void resume();
  void release();
  [[nodiscard]] std::string_view explain(CURLcode result) const;
  void fail_with(HttpErrorKind kind, std::string_view what);

  std::shared_ptr<CurlMulti> multi_;
  OutgoingRequest request_;  // curl reads the body from here
  StopToken stop_;
  std::string host_;
  CURL* easy_ = nullptr;
  curl_slist* header_lines_ = nullptr;
  ResponseHead head_;
  std::size_t header_bytes_ = 0;
  bool head_complete_ = false;
  std::string unread_;
  std::size_t body_bytes_ = 0;
  bool too_large_ = false;
  bool paused_ = false;
  bool finished_ = false;
  SteadyTime last_activity_{};
  std::optional<HttpError> error_;
  Signal progress_;
};

bool Transfer::start() {
  auto host = host_of(request_.url);
  if (!host) {
    fail_with(HttpErrorKind::InvalidUrl, "not an http or https URL");
    return false;
  }
  host_ = std::move(*host);
  easy_ = curl_easy_init();
  if (easy_ == nullptr || !is_method(request_.method) || !add_headers()) {
    fail_with(HttpErrorKind::Other, "the request cannot be put into HTTP");
    return false;
  }
  configure();
  last_activity_ = system_clock().steady_now();
  if (multi_->add(easy_)) return true;
  fail_with(HttpErrorKind::Other, "the transfer cannot be started");
  return false;
}

bool Transfer::add_headers() {
  HttpHeaders headers = request_.headers;
  // curl would wait a second for a 100 before each larger body, and call every body a form.
  std::vector<std::string> lines = {"Expect:"};
  if (!headers.has("Content-Type")) lines.emplace_back("Content-Type:");
  if (!headers.has("User-Agent")) headers.add("User-Agent", "assay");
  for (const HttpHeaders::Field& field : headers.fields()) {
    if (!is_well_formed(field)) return false;
    // curl takes "Name:" as a wish to leave the field out.
    lines.push_back(field.value.empty() ? field.name + ";" : fmt::format("{}: {}", field.name, field.value));
  }
  for (const std::string& line : lines) {
    curl_slist* longer = curl_slist_append(header_lines_, line.c_str());
    if (longer == nullptr) return false;
    header_lines_ = longer;
  }
  return true;
}

void Transfer::configure() {
  CURL* const easy = easy_;
  CurlListener* const listener = this;
  curl_easy_setopt(easy, CURLOPT_PRIVATE, listener);
  curl_easy_setopt(easy, CURLOPT_URL, request_.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  // Else cancelling waits for a name that is being resolved.
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::max<Milliseconds::rep>(request_.connect_timeout.count(), 1)));
  curl_easy_setopt(easy, CURLOPT_PROXY, request_.proxy.c_str());
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (!request_.ca_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, request_.ca_file.c_str());
    curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  }
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, header_lines_);
  if (!request_.body.empty() || request_.method == "POST" || request_.method == "PUT" || request_.method == "PATCH") {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request_.body.data());
  }
  if (request_.method == "HEAD") curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
}

std::size_t Transfer::on_header(char* data, std::size_t size, std::size_t count, void* self) noexcept {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::string_view line(data, size * count);
  transfer.header_bytes_ += line.size();
  if (transfer.header_bytes_ > kResponseHeaderBytesMax) {
    transfer.too_large_ = true;
    return 0;
  }
  transfer.last_activity_ = system_clock().steady_now();
  if (!transfer.head_complete_) transfer.take_header_line(line);  // afterwards come trailer fields
  return line.size();
}

void Transfer::take_header_line(std::string_view line) {
  const auto trimmed = [](std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n";
    const auto begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return std::string_view();
    return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
  };
  const std::string_view text = trimmed(line);
  if (text.empty()) {
    head_complete_ = head_.status >= 200;  // an informational response precedes the real one
    if (head_complete_) progress_.notify();
    return;
  }
  if (text.starts_with("HTTP/")) {
    head_ = ResponseHead();
    const std::string_view status = text.substr(std::min(text.find(' '), text.size() - 1) + 1);
    std::from_chars(status.data(), status.data() + status.size(), head_.status);
    return;
  }
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return;
  head_.headers.add(std::string(trimmed(text.substr(0, colon))), std::string(trimmed(text.substr(colon + 1))));
}

std::size_t Transfer::on_body(char* data, std::size_t size, std::size_t count, void* self) noexcept {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::string_view bytes(data, size * count);
  if (transfer.unread_.size() >= kUnreadBodyBytesMax) {
    transfer.paused_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  if (bytes.size() > transfer.request_.response_bytes_max - transfer.body_bytes_) {
    transfer.too_large_ = true;
    return 0;
  }
  transfer.body_bytes_ += bytes.size();
  transfer.unread_.append(bytes);
  transfer.last_activity_ = system_clock().steady_now();
  transfer.progress_.notify();
  return bytes.size();
}

void Transfer::on_finished(CURLcode result) {
  finished_ = true;
  progress_.notify();
  if (result == CURLE_OK) return;
  if (too_large_) return fail_with(HttpErrorKind::TooLarge, "the response is larger than allowed");
  fail_with(kind_of(result), explain(result));
}

// curl's own messages may quote the URL; these are constant.
std::string_view Transfer::explain(CURLcode result) const {
  long verified = X509_V_OK;
  curl_easy_getinfo(easy_, CURLINFO_SSL_VERIFYRESULT, &verified);
  const bool says_more =
      kind_of(result) == HttpErrorKind::Tls && verified != X509_V_OK && verified != X509_V_ERR_UNSPECIFIED;
  return says_more ? X509_verify_cert_error_string(verified) : curl_easy_strerror(result);
}

void Transfer::fail_with(HttpErrorKind kind, std::string_view what) {
  if (error_) return;
  error_ = HttpError{.kind = kind, .message = host_.empty() ? std::string(what) : fmt::format("{}: {}", host_, what)};
}

void Transfer::cancel(HttpErrorKind kind, std::string_view what) {
  fail_with(kind, what);
  unread_.clear();
  release();
}

void Transfer::release() {
  if (easy_ != nullptr) {
    multi_->remove(easy_);
    curl_easy_cleanup(easy_);
    easy_ = nullptr;
  }
  curl_slist_free_all(header_lines_);
  header_lines_ = nullptr;
}

bool Transfer::is_over() {
  if (error_ && unread_.empty()) return true;
  if (stop_.stopped()) {
    cancel(HttpErrorKind::Stopped, to_string(stop_.reason()));
    return true;
  }
  if (!finished_ && request_.total.has_passed(system_clock())) {
    cancel(HttpErrorKind::TimeoutTotal, "the exchange took too long");
    return true;
  }
  return false;
}

Task<> Transfer::wait_for_progress(Deadline part_deadline, HttpErrorKind on_deadline) {
  const Deadline deadline = part_deadline.earlier_of(request_.total);
  const std::uint64_t seen = progress_.version();
  const WaitOutcome outcome = co_await progress_.wait_beyond(seen, deadline, stop_);
  if (outcome != WaitOutcome::DeadlinePassed || finished_ || progress_.version() != seen) co_return;
  if (!request_.total.has_passed(system_clock())) cancel(on_deadline, "no answer in time");
}

Task<bool> Transfer::wait_for_head() {
  const Deadline first_byte = Deadline::after(system_clock(), request_.first_byte_timeout);
  while (true) {
    // A head counts even where the body broke off at once.
    if (head_complete_ && !stop_.stopped()) co_return true;
    if (is_over()) co_return false;
    if (finished_) fail_with(HttpErrorKind::Interrupted, "the response has no head");
    if (!finished_) co_await wait_for_progress(first_byte, HttpErrorKind::TimeoutFirstByte);
  }
}

Task<Result<std::optional<std::string>, HttpError>> Transfer::next() {
  while (!is_over()) {
    if (!unread_.empty()) {
      std::optional<std::string> piece = std::move(unread_);
      unread_.clear();
      if (paused_) resume();
      co_return piece;
    }
    if (finished_) co_return std::nullopt;
    const Deadline idle = Deadline::at(last_activity_ + request_.idle_timeout);
    co_await wait_for_progress(idle, HttpErrorKind::TimeoutIdle);
  }
  co_return fail(HttpError(*error_));
}

// Delivers what curl holds, from inside.
void Transfer::resume() {
  paused_ = false;
  last_activity_ = system_clock().steady_now();
  const CURLcode result = curl_easy_pause(easy_, CURLPAUSE_CONT);
  if (result != CURLE_OK && !finished_) on_finished(result);
}

}  // namespace detail

HttpStream::HttpStream(std::unique_ptr<detail::Transfer> transfer) : transfer_(std::move(transfer)) {}
HttpStream::~HttpStream() = default;
HttpStream::HttpStream(HttpStream&&) noexcept = default;
HttpStream& HttpStream::operator=(HttpStream&&) noexcept = default;

const ResponseHead& HttpStream::head() const { return transfer_->head(); }

Task<Result<std::optional<std::string>, HttpError>> HttpStream::next() { return transfer_->next(); }

void HttpStream::close() { transfer_->cancel(HttpErrorKind::Stopped, "closed by the reader"); }

HttpClient::HttpClient(Loop& loop) : multi_(std::make_shared<detail::CurlMulti>(loop.executor())) { multi_->start(); }
HttpClient::~HttpClient() = default;

Task<Result<HttpStream, HttpError>> HttpClient::open(OutgoingRequest request, StopToken stop) {
  auto transfer = std::make_unique<detail::Transfer>(multi_, std::move(request), std::move(stop));
  if (!transfer->start()) co_return fail(HttpError(transfer->error()));
  const bool has_head = co_await transfer->wait_for_head();
  if (!has_head) co_return fail(HttpError(transfer->error()));
  co_return HttpStream(std::move(transfer));
}

Task<Result<FullResponse, HttpError>> HttpClient::fetch(OutgoingRequest request, StopToken stop) {
  auto stream = co_await open(std::move(request), std::move(stop));
  if (!stream) co_return fail(std::move(stream.error()));
  FullResponse response;
  while (true) {
    auto piece = co_await stream->next();
    if (!piece) co_return fail(std::move(piece.error()));
    if (!*piece) break;
    response.body.append(**piece);
  }
  response.head = stream->head();
  co_return response;
}

}  // namespace assay::net

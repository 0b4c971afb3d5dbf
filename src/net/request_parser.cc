#include "net/request_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "net/websocket_frame.h"

namespace assay::net {

namespace asio = boost::asio;
namespace http = boost::beast::http;

struct RequestParser::Beast {
  http::request_parser<http::string_body> parser;
};

RequestParser::RequestParser(std::size_t header_bytes_max)
    : beast_(std::make_unique<Beast>()), header_bytes_max_(header_bytes_max) {
  // Both are enforced here, exactly; Beast counts the request line and the fields apart.
  beast_->parser.header_limit(static_cast<std::uint32_t>(header_bytes_max));
  beast_->parser.body_limit(boost::none);
}

RequestParser::~RequestParser() = default;

RequestParser::State RequestParser::refuse(int status, std::string message) {
  refusal_.status = status;
  refusal_.message = std::move(message);
  return State::Refused;
}

RequestParser::State RequestParser::feed(std::string& input) {
  auto& parser = beast_->parser;
  // An empty line before a request is forgiven (RFC 9112 section 2.2).
  if (!parser.got_some() && input.starts_with("\r\n")) input.erase(0, 2);
  const bool in_head = !parser.is_header_done();
  boost::system::error_code error;
  std::size_t used = 0;
  while (!error && used < input.size() && !parser.is_done()) {
    used += parser.put(asio::buffer(input.data() + used, input.size() - used), error);
    if (in_head && parser.is_header_done()) break;
  }
  const std::size_t unused = input.size() - used;
  input.erase(0, used);
  if (in_head) {
    header_bytes_ += used;
    const bool incomplete = !parser.is_header_done() && header_bytes_ + unused >= header_bytes_max_;
    if (header_bytes_ > header_bytes_max_ || incomplete || error == http::error::header_limit) {
      if (!error || error == http::error::need_more || error == http::error::header_limit) {
        return refuse(431, "The request's header fields are too large.");
      }
    }
  }
  if (error == http::error::bad_version) return refuse(505, "Only HTTP/1.0 and HTTP/1.1 are spoken here.");
  if (error && error != http::error::need_more) return refuse(400, "The request is not well-formed HTTP.");
  if (in_head) return parser.is_header_done() ? finish_head() : State::NeedsMore;

  if (parser.get().body().size() > body_bytes_max_) return refuse(413, "The request's body is too large.");
  // What stays unused inside a body is a chunk's header or the trailer fields.
  if (!parser.is_done() && unused >= header_bytes_max_) return refuse(400, "The chunked coding is malformed.");
  if (!parser.is_done()) return State::NeedsMore;
  request_.body = std::move(parser.get().body());
  return State::Complete;
}

RequestParser::State RequestParser::finish_head() {
  auto& parser = beast_->parser;
  const auto& message = parser.get();
  is_http_1_0_ = message.version() == 10;
  keeps_alive_ = parser.keep_alive();
  request_.method = message.method_string();
  request_.target = message.target();
  for (const auto& field : message) {
    request_.headers.add(std::string(field.name_string()), std::string(field.value()));
  }
  const HttpHeaders& headers = request_.headers;
  if (const std::size_t hosts = headers.count("Host"); hosts > 1 || (hosts == 0 && !is_http_1_0_)) {
    return refuse(400, "A request needs one Host field.");
  }
  if (const auto coding = headers.get("Transfer-Encoding")) {
    if (is_http_1_0_ || headers.has("Content-Length")) return refuse(400, "The body's length is ambiguous.");
    if (headers.count("Transfer-Encoding") > 1 || !equals_ignoring_case(*coding, "chunked")) {
      return refuse(501, "The only transfer coding understood is chunked.");
    }
  }
  if (const auto expectation = headers.get("Expect"); expectation && !is_http_1_0_) {
    if (!equals_ignoring_case(*expectation, "100-continue")) return refuse(417, "The expectation is unknown.");
    expects_continue_ = true;
  }
  auto target = parse_http_target(request_.target);
  if (!target) return refuse(400, "The request target is malformed.");
  request_.path = std::move(target->path);
  request_.query_parameters = std::move(target->query);
  judge_websocket();
  return State::HeadComplete;
}

RequestParser::State RequestParser::limit_body(std::size_t bytes_max) {
  body_bytes_max_ = bytes_max;
  const auto length = beast_->parser.content_length();
  if (length && *length > bytes_max) return refuse(413, "The request's body is too large.");
  beast_->parser.eager(true);
  if (!beast_->parser.is_done()) return State::NeedsMore;
  expects_continue_ = false;
  return State::Complete;
}

void RequestParser::judge_websocket() {
  const HttpHeaders& headers = request_.headers;
  const auto key = headers.get("Sec-WebSocket-Key");
  request_.asks_for_websocket = request_.method == "GET" && !is_http_1_0_ && headers.lists("Upgrade", "websocket") &&
                                headers.lists("Connection", "upgrade") &&
                                headers.get("Sec-WebSocket-Version") == "13" && key && is_websocket_key(*key);
}

}  // namespace assay::net

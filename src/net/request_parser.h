#pragma once
// Reads one HTTP/1.1 request from bytes split anywhere; the one place that knows Beast. No I/O. Internal to this room.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "net/http_server.h"

namespace assay::net {

class RequestParser {
 public:
  enum class State : std::uint8_t { NeedsMore, HeadComplete, Complete, Refused };

  struct Refusal {
    int status = 400;
    std::string message;
  };

  explicit RequestParser(std::size_t header_bytes_max);
  ~RequestParser();

  // Takes what it used off the front of `input`. First up to HeadComplete; then, on further calls, through the body to
  // Complete. Requires: neither Complete nor Refused was returned before.
  State feed(std::string& input);

  // Between HeadComplete and the next feed: what the body may hold. Refused (413) where its length is known and larger.
  State limit_body(std::size_t bytes_max);

  // From HeadComplete on.
  [[nodiscard]] const HttpRequest& request() const { return request_; }
  [[nodiscard]] bool expects_continue() const { return expects_continue_; }
  [[nodiscard]] bool keeps_alive() const { return keeps_alive_; }
  [[nodiscard]] bool is_http_1_0() const { return is_http_1_0_; }
  // After Complete; with the body.
  [[nodiscard]] HttpRequest take() { return std::move(request_); }
  // After Refused.
  [[nodiscard]] const Refusal& refusal() const { return refusal_; }

 private:
  struct Beast;

  State refuse(int status, std::string message);
  State finish_head();
  void judge_websocket();

  std::unique_ptr<Beast> beast_;
  std::size_t header_bytes_max_;
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_max_ = 0;
  bool expects_continue_ = false;
  bool keeps_alive_ = false;
  bool is_http_1_0_ = false;
  HttpRequest request_;
  Refusal refusal_;
};

}  // namespace assay::net

#pragma once
// Blocking HTTP for tests, on loopback.
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "json/document.h"

namespace assay::tests {

struct Reply {
  int status = 0;
  std::string body;

  // The body as JSON. Throws where it is none.
  [[nodiscard]] json::Document json() const;
};

class Http {
 public:
  // Requests go to `base_url` and carry the token.
  Http(std::string base_url, std::string token) : base_url_(std::move(base_url)), token_(std::move(token)) {}

  [[nodiscard]] Reply get(const std::string& path) const { return send("GET", path, ""); }
  [[nodiscard]] Reply post(const std::string& path, const std::string& body) const { return send("POST", path, body); }
  // Throws where the server does not answer.
  [[nodiscard]] Reply send(const std::string& method, const std::string& path, const std::string& body) const;

  // The same client with one more header field on every request.
  [[nodiscard]] Http with(std::string name, std::string value) const;

  // Follows an event stream and hands every event's data to `take` until that returns false. False when the stream
  // ended, or patience ran out, first.
  [[nodiscard]] bool follow(const std::string& path, const std::function<bool(const std::string& data)>& take) const;

 private:
  std::string base_url_;
  std::string token_;
  std::map<std::string, std::string> more_;
};

// The text of a member, or "" where there is none: `text(value, "status")`.
std::string text(json::Value object, std::string_view member);

}  // namespace assay::tests

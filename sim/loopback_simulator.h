#pragma once
// For tests only: a simulator and a client of it on one loop.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "net/http_client.h"
#include "net/loop.h"
#include "sim/byte_server.h"
#include "sim/script.h"
#include "sim/simulator.h"

namespace assay::sim {

class LoopbackSimulator {
 public:
  explicit LoopbackSimulator(const std::string& script = "{}") : simulator_(parsed(script)), http_(loop_) {
    ByteServerOptions options;
    options.points = &simulator_.points();
    options.plan = [this](SimRequest request, net::StopToken client) {
      return simulator_.plan(std::move(request), std::move(client));
    };
    options.on_done = [this](std::int64_t entry, const PlanResult& result) { simulator_.on_done(entry, result); };
    server_ = std::move(*ByteServer::listen(loop_, std::move(options)));
  }
  ~LoopbackSimulator() { loop_.run(server_->stop()); }
  LoopbackSimulator(const LoopbackSimulator&) = delete;
  LoopbackSimulator& operator=(const LoopbackSimulator&) = delete;

  net::Loop& loop() { return loop_; }
  net::HttpClient& http() { return http_; }
  Simulator& simulator() { return simulator_; }
  [[nodiscard]] std::string url(std::string_view path = "") const {
    return "http://127.0.0.1:" + std::to_string(server_->port()) + std::string(path);
  }

  net::FullResponse fetch(std::string method, std::string_view path, std::string body = "") {
    net::OutgoingRequest request;
    request.method = std::move(method);
    request.url = url(path);
    request.body = std::move(body);
    net::FullResponse response;
    loop_.run(fetch_into(std::move(request), &response));
    return response;
  }
  std::string journal() { return fetch("GET", "/sim/requests").body; }

 private:
  static Script parsed(const std::string& text) {
    auto script = parse_script(text);
    if (!script) ADD_FAILURE() << script.error();
    return script ? std::move(*script) : Script{};
  }
  net::Task<> fetch_into(net::OutgoingRequest request, net::FullResponse* response) {
    auto fetched = co_await http_.fetch(std::move(request));
    if (!fetched) {
      ADD_FAILURE() << fetched.error().message;
      co_return;
    }
    *response = std::move(*fetched);
  }

  net::Loop loop_;
  Simulator simulator_;
  net::HttpClient http_;
  std::unique_ptr<ByteServer> server_;
};

}  // namespace assay::sim

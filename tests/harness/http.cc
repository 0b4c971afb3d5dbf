#include "tests/harness/http.h"

#include <stdexcept>

#include "net/http_client.h"
#include "net/loop.h"
#include "providers/sse_parser.h"
#include "tests/harness/child_process.h"

namespace assay::tests {
namespace {

net::OutgoingRequest request_for(const std::string& url, const std::string& token) {
  net::OutgoingRequest request;
  request.url = url;
  if (!token.empty()) request.headers.add("Coder-Session-Token", token);
  request.total = Deadline::after(system_clock(), Milliseconds(kPatience));
  return request;
}

net::Task<> fetch(net::Loop& loop, net::OutgoingRequest request, std::optional<net::FullResponse>& response,
                  std::string& error) {
  net::HttpClient client(loop);
  auto result = co_await client.fetch(std::move(request));
  if (result) {
    response = std::move(*result);
  } else {
    error = result.error().message;
  }
}

net::Task<> read_events(net::Loop& loop, net::OutgoingRequest request,
                        const std::function<bool(const std::string&)>& take, bool& was_told_to_end) {
  net::HttpClient client(loop);
  auto stream = co_await client.open(std::move(request));
  if (!stream || stream->head().status != 200) co_return;
  providers::SseParser parser;
  while (!was_told_to_end) {
    auto chunk = co_await stream->next();
    if (!chunk || !chunk->has_value()) co_return;
    parser.feed(**chunk, [&](providers::SseItem&& item) {
      const auto* event = std::get_if<providers::SseEvent>(&item);
      if (event != nullptr && !event->data.empty() && !was_told_to_end) was_told_to_end = !take(event->data);
    });
  }
}

}  // namespace

json::Document Reply::json() const {
  auto document = json::Document::parse(body, json::kEnvelopeCaps);
  if (!document) throw std::runtime_error("no JSON: " + body);
  return std::move(*document);
}

Http Http::with(std::string name, std::string value) const {
  Http other = *this;
  other.more_[std::move(name)] = std::move(value);
  return other;
}

Reply Http::send(const std::string& method, const std::string& path, const std::string& body) const {
  net::OutgoingRequest request = request_for(base_url_ + path, token_);
  request.method = method;
  request.body = body;
  for (const auto& [name, value] : more_) request.headers.add(name, value);
  if (!body.empty()) request.headers.add("Content-Type", "application/json");
  net::Loop loop;
  std::optional<net::FullResponse> response;
  std::string error;
  loop.run(fetch(loop, std::move(request), response, error));
  if (!response) throw std::runtime_error(method + " " + path + ": " + error);
  return Reply{.status = response->head.status, .body = std::move(response->body)};
}

bool Http::follow(const std::string& path, const std::function<bool(const std::string&)>& take) const {
  net::OutgoingRequest request = request_for(base_url_ + path, token_);
  request.headers.add("Accept", "text/event-stream");
  net::Loop loop;
  bool was_told_to_end = false;
  loop.run(read_events(loop, std::move(request), take, was_told_to_end));
  return was_told_to_end;
}

std::string text(json::Value object, std::string_view member) {
  const auto value = object.find(member);
  if (!value) return {};
  return std::string(value->is(json::Kind::String) ? value->string() : value->raw());
}

}  // namespace assay::tests

#include "providers/client.h"

#include <boost/asio/this_coro.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "net/task_group.h"
#include "net/timer.h"
#include "providers/model_listing.h"
#include "providers/wire.h"

namespace assay::providers {
namespace {

// What is decoded before other tasks get their turn. A compressed answer arrives in large pieces.
constexpr std::size_t kFeedBytesMax = 16 * 1024;

TransportFault fault_of(net::HttpErrorKind kind) {
  switch (kind) {
    case net::HttpErrorKind::Resolve:
      return TransportFault::Resolve;
    case net::HttpErrorKind::Connect:
    case net::HttpErrorKind::TimeoutConnect:
      return TransportFault::Connect;
    case net::HttpErrorKind::Tls:
      return TransportFault::Tls;
    case net::HttpErrorKind::TimeoutFirstByte:
      return TransportFault::FirstByte;
    case net::HttpErrorKind::TimeoutIdle:
      return TransportFault::Idle;
    case net::HttpErrorKind::TimeoutTotal:
      return TransportFault::Total;
    case net::HttpErrorKind::InvalidUrl:
      return TransportFault::InvalidRequest;
    case net::HttpErrorKind::Stopped:
      return TransportFault::Canceled;
    case net::HttpErrorKind::Interrupted:
    case net::HttpErrorKind::TooLarge:
    case net::HttpErrorKind::Other:
      break;
  }
  return TransportFault::Cut;
}

Failure failure_of(const ProviderConfig& provider, const net::HttpError& error) {
  if (error.kind == net::HttpErrorKind::TooLarge) {
    return failure_from_protocol(provider.name, ProtocolFault::TooLarge);
  }
  return failure_from_transport(provider.name, fault_of(error.kind));
}

bool is_success(int status) { return status >= 200 && status < 300; }

std::vector<Header> headers_of(const net::ResponseHead& head) {
  std::vector<Header> headers;
  for (const net::HttpHeaders::Field& field : head.headers.fields()) headers.push_back({field.name, field.value});
  return headers;
}

std::optional<net::OutgoingRequest> make_request(const ProviderConfig& provider, std::string method, WireRequest wire,
                                                 const Clock& clock) {
  auto url = endpoint_url(provider.base_url, wire.path);
  if (!url) return std::nullopt;
  net::OutgoingRequest request;
  request.method = std::move(method);
  request.url = std::move(*url);
  for (Header& header : wire.headers) request.headers.add(std::move(header.name), std::move(header.value));
  request.body = std::move(wire.body);
  request.connect_timeout = provider.timeouts.connect;
  request.first_byte_timeout = provider.timeouts.first_byte;
  request.idle_timeout = provider.timeouts.idle;
  request.total = Deadline::after(clock, provider.timeouts.total);
  request.proxy = provider.proxy;
  request.ca_file = provider.ca_file;
  return request;
}

net::Task<> stop_after(net::StopSource* source, Milliseconds wait, net::StopToken token) {
  const bool has_passed = co_await net::sleep_for(wait, token);
  if (has_passed) source->stop(net::StopReason::DeadlinePassed);
}

// One exchange: its own stop source, which a caller's token or a watch ends.
struct Exchange {
  Exchange(boost::asio::any_io_executor executor, const net::StopToken& stop)
      : caller(stop), source(stop), watches(std::move(executor), stop) {}

  void end_after(Milliseconds wait) { watches.spawn("exchange limit", stop_after(&source, wait, watches.token())); }
  net::Task<> join() {
    watches.stop(net::StopReason::Superseded);
    return watches.join();
  }

  net::StopToken caller;
  net::StopSource source;
  net::TaskGroup watches;
};

net::Task<Failure> read_error(const ProviderConfig& provider, net::HttpStream& stream, Exchange& exchange,
                              const Clock& clock) {
  std::string body;
  exchange.end_after(kErrorBodyTimeMax);
  while (body.size() < kErrorBodyBytesMax) {
    auto piece = co_await stream.next();
    if (!piece || !*piece) break;
    body += **piece;
  }
  if (exchange.caller.stopped()) co_return failure_from_transport(provider.name, TransportFault::Canceled);
  const std::vector<Header> headers = headers_of(stream.head());
  co_return failure_from_response(provider.name, stream.head().status, headers, body, clock.wall_now());
}

net::Task<Result<chat::GeneratedStep, Failure>> read_answer(const ProviderConfig& provider, net::HttpStream& stream,
                                                            Decoder& decoder, const EventCallback& on_event,
                                                            Exchange& exchange) {
  bool is_ended = false;  // by the wire's own end, or by a failure
  while (true) {
    auto piece = co_await stream.next();
    if (!piece && exchange.caller.stopped()) {
      co_return fail(failure_from_transport(provider.name, TransportFault::Canceled));
    }
    if (!piece && !is_ended) co_return fail(failure_of(provider, piece.error()));
    if (!piece || !*piece) break;
    std::string_view rest = **piece;
    while (!is_ended && !rest.empty()) {
      const std::string_view portion = rest.substr(0, kFeedBytesMax);
      rest.remove_prefix(portion.size());
      is_ended = !decoder.feed(portion, on_event);
      if (is_ended) exchange.end_after(kTrailTimeMax);
      // A flood must not hold up everybody else.
      if (!rest.empty()) co_await net::yield();
    }
  }
  co_return decoder.finish(BodyEnd::Clean, on_event);
}

}  // namespace

net::Task<Result<chat::GeneratedStep, Failure>> ModelClient::generate(const ProviderConfig& provider,
                                                                      ModelSettings model, chat::Prompt prompt,
                                                                      EventCallback on_event, net::StopToken stop) {
  auto request = make_request(provider, "POST", encode(provider, model, prompt), *clock_);
  if (!request) co_return fail(failure_from_transport(provider.name, TransportFault::InvalidRequest));
  request->response_bytes_max = kAnswerBytesMax;
  const std::unique_ptr<Decoder> decoder = make_decoder(provider, model, prompt);

  Exchange exchange(co_await boost::asio::this_coro::executor, stop);
  auto stream = co_await http_->open(std::move(*request), exchange.source.token());
  if (!stream) co_return fail(failure_of(provider, stream.error()));
  if (!is_success(stream->head().status)) {
    Failure failure = co_await read_error(provider, *stream, exchange, *clock_);
    stream->close();
    co_await exchange.join();
    co_return fail(std::move(failure));
  }
  auto outcome = co_await read_answer(provider, *stream, *decoder, on_event, exchange);
  stream->close();
  co_await exchange.join();
  co_return outcome;
}

net::Task<Result<std::vector<std::string>, Failure>> ModelClient::list_models(const ProviderConfig& provider,
                                                                              net::StopToken stop) {
  WireRequest wire;
  wire.path = kModelsPath;
  wire.headers = request_headers(provider, {{"Accept", "application/json"}});
  auto request = make_request(provider, "GET", std::move(wire), *clock_);
  if (!request) co_return fail(failure_from_transport(provider.name, TransportFault::InvalidRequest));
  request->response_bytes_max = kModelListingBytesMax;
  auto response = co_await http_->fetch(std::move(*request), stop);
  if (!response) co_return fail(failure_of(provider, response.error()));
  if (!is_success(response->head.status)) {
    const std::vector<Header> headers = headers_of(response->head);
    co_return fail(
        failure_from_response(provider.name, response->head.status, headers, response->body, clock_->wall_now()));
  }
  co_return parse_model_listing(provider.name, std::move(response->body));
}

}  // namespace assay::providers

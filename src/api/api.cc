#include "api/api.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "api/changes.h"
#include "api/chats.h"
#include "api/error.h"
#include "api/models.h"
#include "api/router.h"
#include "api/streams.h"
#include "base/log.h"
#include "json/writer.h"
#include "store/pool.h"

namespace assay::api {

namespace {

// A probe asks again soon, so it shall learn soon that the database is away.
constexpr Milliseconds kReadinessTimeout{2'000};

constexpr int kServerErrors = 500;

net::HttpResponse text_response(int status, std::string body) {
  net::HttpResponse response;
  response.status = status;
  response.headers.add("Content-Type", "text/plain; charset=utf-8");
  response.body = std::move(body);
  return response;
}

std::string user_json(const store::User& user) {
  json::Writer writer;
  writer.begin_object();
  writer.member("id", user.id.to_string()).member("username", user.username);
  writer.member("created_at", to_rfc3339(user.created_at));
  writer.key("organization_ids").begin_array().string(user.organization_id.to_string()).end_array();
  writer.end_object();
  return writer.take();
}

// Empty: none was sent.
std::string_view token_of(const net::HttpRequest& request) {
  if (const auto token = request.headers.get("Coder-Session-Token")) return trimmed(*token);
  auto authorization = request.headers.get("Authorization").value_or("");
  constexpr std::string_view kScheme = "bearer ";
  if (!net::equals_ignoring_case(authorization.substr(0, kScheme.size()), kScheme)) return {};
  return trimmed(authorization.substr(kScheme.size()));
}

void write_pool(MetricsText& text, const store::PoolCounters& pool) {
  text.begin("assay_database_connections", MetricsText::Type::Gauge, "Connections of the pool.");
  text.sample(static_cast<std::int64_t>(pool.in_use), {{"state", "in_use"}});
  text.sample(static_cast<std::int64_t>(pool.idle), {{"state", "idle"}});
  text.begin("assay_database_waiting", MetricsText::Type::Gauge, "Calls that wait for a connection.");
  text.sample(static_cast<std::int64_t>(pool.waiting));
  text.begin("assay_database_checkout_timeouts_total", MetricsText::Type::Counter,
             "Calls that got no connection in time.");
  text.sample(static_cast<std::int64_t>(pool.checkout_timeouts));
  text.begin("assay_database_statements_total", MetricsText::Type::Counter, "Statements sent.");
  text.sample(static_cast<std::int64_t>(pool.statements));
}

int status_of(const net::HttpReply& reply) {
  if (const auto* response = std::get_if<net::HttpResponse>(&reply)) return response->status;
  return std::holds_alternative<net::WebSocketReply>(reply) ? 101 : 200;
}

}  // namespace

Api::Api(store::Store& store, live::Episodes& episodes, Offer offer, const Clock& clock, Random& random)
    : services_{.store = store,
                .episodes = episodes,
                .clock = clock,
                .random = random,
                .offer = std::move(offer),
                .started_at = clock.wall_now(),
                .streams = {}} {}

std::size_t Api::body_bytes_max(std::string_view, std::string_view) { return kBodyBytesMax; }

net::HttpResponse Api::refuse(int status, std::string_view message) {
  std::string detail;
  if (status == 413) detail = fmt::format("At most {} bytes are accepted.", kBodyBytesMax);
  return error_response(refusal(status, std::string(message), std::move(detail)));
}

net::Task<net::HttpReply> Api::handle(net::HttpRequest request) {
  const auto arrived = services_.clock.steady_now();
  auto routed = match_route(request.method, request.path);
  if (const auto* wrong = std::get_if<WrongMethod>(&routed)) {
    count("none", 405, arrived);
    auto response = error_response(refusal(405, "This method is not allowed here.", "Allowed: " + wrong->allow));
    response.headers.add("Allow", wrong->allow);
    co_return response;
  }
  auto* match = std::get_if<Match>(&routed);
  if (match == nullptr) {
    count("none", 404, arrived);
    co_return error_response(refusal(404, "There is no such route."));
  }
  const auto endpoint = name_of(match->endpoint);
  auto answered = co_await answer(std::move(*match), std::move(request));
  const int status = answered ? status_of(*answered) : answered.error().status;
  count(endpoint, status, arrived);
  if (!answered) co_return error_response(answered.error());
  co_return std::move(*answered);
}

void Api::count(std::string_view endpoint, int status, SteadyTime arrived) {
  requests_.add(endpoint, status);
  const auto took = std::chrono::duration_cast<Milliseconds>(services_.clock.steady_now() - arrived);
  const auto level = status >= kServerErrors ? log::Level::Warning : log::Level::Debug;
  log::write(level, "request answered", {{"endpoint", endpoint}, {"status", status}, {"ms", took.count()}});
}

net::Task<Answer> Api::answer(Match match, net::HttpRequest request) {
  const auto deadline = Deadline::after(services_.clock, kRequestTimeout);
  switch (match.endpoint) {
    case Endpoint::Health:
      co_return json_response(200, R"({"status":"ok"})");
    case Endpoint::Readiness:
      co_return co_await readiness(Deadline::after(services_.clock, kReadinessTimeout));
    case Endpoint::Metrics:
      co_return metrics();
    default:
      break;
  }
  auto user = co_await authenticate(request, deadline);
  if (!user) co_return fail(std::move(user.error()));
  Call call{.request = std::move(request),
            .parameters = std::move(match.parameters),
            .user = std::move(*user),
            .deadline = deadline};
  switch (match.endpoint) {
    case Endpoint::CreateChat:
      co_return co_await create_chat(services_, std::move(call));
    case Endpoint::ListChats:
      co_return co_await list_chats(services_, std::move(call));
    case Endpoint::GetChat:
      co_return co_await get_chat(services_, std::move(call));
    case Endpoint::PatchChat:
      co_return co_await patch_chat(services_, std::move(call));
    case Endpoint::ListMessages:
      co_return co_await list_messages(services_, std::move(call));
    case Endpoint::SendMessage:
      co_return co_await send_message(services_, std::move(call));
    case Endpoint::EditMessage:
      co_return co_await edit_message(services_, std::move(call));
    case Endpoint::PromoteQueuedMessage:
      co_return co_await promote_queued_message(services_, std::move(call));
    case Endpoint::Compact:
      co_return co_await compact_chat(services_, std::move(call));
    case Endpoint::Clear:
      co_return co_await clear_chat(services_, std::move(call));
    case Endpoint::DeleteQueuedMessage:
      co_return co_await delete_queued_message(services_, std::move(call));
    case Endpoint::Interrupt:
      co_return co_await interrupt_chat(services_, std::move(call));
    case Endpoint::ToolResults:
      co_return co_await submit_tool_results(services_, std::move(call));
    case Endpoint::ReconcileInvalid:
      co_return co_await reconcile_chat(services_, std::move(call));
    case Endpoint::Stream:
      co_return co_await stream_chat(services_, std::move(call));
    case Endpoint::ModelConfigs:
      co_return json_response(200,
                              model_configs_json(services_.offer, call.user.organization_id, services_.started_at));
    case Endpoint::OrganizationModels: {
      const auto organization = OrganizationId::parse(call.parameters.front());
      if (!organization) co_return fail(refusal(400, "The organization's id is not valid.", "It must be a UUID."));
      if (*organization != call.user.organization_id) co_return fail(refusal(404, "There is no such organization."));
      co_return json_response(200, organization_models_json(services_.offer, *organization, services_.started_at));
    }
    case Endpoint::CurrentUser:
      co_return json_response(200, user_json(call.user));
    case Endpoint::Health:
    case Endpoint::Readiness:
    case Endpoint::Metrics:
      break;
  }
  std::unreachable();
}

net::Task<Result<store::User, ApiError>> Api::authenticate(const net::HttpRequest& request, Deadline deadline) {
  const auto token = token_of(request);
  if (token.empty()) {
    co_return fail(
        refusal(401, "You are not signed in.",
                "Send a token as Coder-Session-Token or as Authorization: Bearer. `assay token create` makes "
                "one."));
  }
  auto user = co_await services_.store.people().find_user_by_token(std::string(token), deadline);
  if (!user) co_return fail(error_of(user.error()));
  if (!*user) co_return fail(refusal(401, "The token is not valid."));
  co_return std::move(**user);
}

net::Task<Answer> Api::readiness(Deadline deadline) {
  const auto answered = co_await services_.store.ping(deadline);
  if (answered) co_return json_response(200, R"({"status":"ready"})");
  co_return fail(refusal(503, "The server is not ready.", "The database does not answer."));
}

net::HttpResponse Api::metrics() const {
  MetricsText text;
  requests_.write(text);
  const auto& streams = services_.streams;
  text.begin("assay_streams_open", MetricsText::Type::Gauge, "Streams that clients hold open.");
  text.sample(streams.open);
  text.begin("assay_streams_opened_total", MetricsText::Type::Counter, "Streams that were opened.");
  text.sample(streams.opened);
  text.begin("assay_stream_events_total", MetricsText::Type::Counter, "Events sent on all streams.");
  text.sample(streams.events);
  text.begin("assay_episodes", MetricsText::Type::Gauge, "Turns whose preview is kept.");
  text.sample(static_cast<std::int64_t>(services_.episodes.size()));
  write_pool(text, services_.store.pool().counters());
  for (const auto& writer : more_metrics_) writer(text);
  return text_response(200, text.take());
}

}  // namespace assay::api

#include "sim/simulator.h"

#include <algorithm>
#include <utility>

#include "json/decimal.h"
#include "json/document.h"
#include "json/limits.h"
#include "json/writer.h"
#include "sim/value_generator.h"
#include "structured/finalizer.h"

namespace assay::sim {
namespace {

constexpr std::string_view kDefaultModel = "assay-sim";
constexpr std::size_t kEchoBytesMax = 200;
constexpr Milliseconds kAwaitDefault{30'000};
constexpr json::Caps kBodyCaps{.bytes_max = kRequestBodyBytesMax, .depth_max = 128};

constexpr std::pair<std::string_view, Simulator::RequestParser> kRequestParsers[] = {
    {"/chat/completions", parse_chat_request},
    {"/responses", parse_responses_request},
    {"/messages", parse_messages_request},
};

Plan error_plan(int status, std::string_view message, std::string_view type) {
  json::Writer writer;
  // The vendors' shapes in one.
  writer.begin_object()
      .member("type", "error")
      .key("error")
      .begin_object()
      .member("message", message)
      .member("type", type);
  writer.key("param").null().key("code").null().end_object().end_object();
  return render_json(status, writer.take());
}

std::optional<std::string> output_schema(const OfferedTool& finalizer) {
  const auto parameters = json::Document::parse(finalizer.parameters, kBodyCaps);
  if (!parameters) return std::nullopt;
  const auto properties = parameters->root().find("properties");
  if (!properties || !properties->is(json::Kind::Object)) return std::nullopt;
  const auto output = properties->find(structured::kOutputMember);
  if (!output) return std::nullopt;
  return std::string(output->raw());
}

// At most `bytes_max` bytes, cut between code points.
std::string front_of(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xC0) == 0x80) --bytes_max;
  return std::string(text.substr(0, bytes_max)) + "...";
}

// Keys belong into no journal: what scheme was used, and how long the credential is.
std::string journal_value(const std::string& name, const std::string& value) {
  if (name == "x-api-key") return "(" + std::to_string(value.size()) + " bytes)";
  if (name != "authorization") return value;
  const std::size_t space = value.find(' ');
  const std::size_t scheme = space == std::string::npos ? 0 : space;
  return value.substr(0, scheme) + " (" + std::to_string(value.size() - scheme) + " bytes)";
}

struct ControlBody {
  std::optional<std::string> point;
  std::optional<std::int64_t> count;
  std::optional<std::int64_t> requests;
  std::optional<std::int64_t> done;
  std::optional<std::int64_t> timeout_ms;
  bool is_all = false;
};

std::optional<ControlBody> parse_control(const std::string& body) {
  const auto document = json::Document::parse(body.empty() ? "{}" : body, kBodyCaps);
  if (!document || !document->root().is(json::Kind::Object)) return std::nullopt;
  ControlBody control;
  for (const json::Member member : document->root().members()) {
    if (member.key == "point" && member.value.is(json::Kind::String)) control.point = member.value.string();
    if (member.key == "all" && member.value.is(json::Kind::Boolean)) control.is_all = member.value.boolean();
    if (!member.value.is(json::Kind::Number)) continue;
    if (member.key == "count") control.count = json::to_int64(member.value);
    if (member.key == "requests") control.requests = json::to_int64(member.value);
    if (member.key == "done") control.done = json::to_int64(member.value);
    if (member.key == "timeout_ms") control.timeout_ms = json::to_int64(member.value);
  }
  return control;
}

}  // namespace

Simulator::Simulator(Script script, const Clock& clock) : script_(std::move(script)), clock_(&clock) {
  uses_.resize(script_.rules.size());
}

net::Task<Plan> Simulator::plan(SimRequest request, net::StopToken client) {
  if (request.path == "/sim/await" && request.method == "POST") {
    co_return co_await plan_await(std::move(request), std::move(client));
  }
  if (request.path.starts_with("/sim/") || request.method == "GET") co_return plan_control(request);
  if (request.method == "POST") {
    for (const auto& [path, parse] : kRequestParsers) {
      if (request.path.ends_with(path)) co_return plan_chat(std::move(request), parse);
    }
  }
  co_return error_plan(404, "assay-sim knows /v1/chat/completions, /v1/responses, /v1/messages and /v1/models.",
                       "not_found_error");
}

Plan Simulator::plan_chat(SimRequest request, RequestParser parse) {
  auto chat = parse(request.body);
  ++chat_requests_;
  Entry& entry = record(std::move(request));
  const std::int64_t entry_number = entry.number;
  const auto finish = [&](Plan plan) {
    plan.journal_entry = entry_number;
    requests_changed_.notify();
    return plan;
  };
  if (!chat) return finish(error_plan(400, chat.error(), "invalid_request_error"));
  const RenderingContext context{
      .model = answering_model(chat->model),
      .created_s = std::chrono::duration_cast<std::chrono::seconds>(clock_->wall_now().time_since_epoch()).count(),
      .number = entry_number};
  for (std::size_t position = 0; position < script_.rules.size(); ++position) {
    const Rule& rule = script_.rules[position];
    if (rule.times && uses_[position] >= *rule.times) continue;
    if (!matches(rule.when, *chat, chat_requests_)) continue;
    ++uses_[position];
    entry.rule = rule.name;
    Answer answer = rule.answer;
    if (auto* reply = std::get_if<Reply>(&answer); reply != nullptr && reply->fits_schema) {
      Reply fitting = fitting_reply(*chat);
      reply->text += fitting.text;
      for (ScriptedCall& call : fitting.tool_calls) reply->tool_calls.push_back(std::move(call));
    }
    return finish(render(answer, rule.delivery, *chat, context));
  }
  Delivery delivery;
  delivery.event_delay = kUnscriptedEventDelay;
  delivery.chunk_characters = kUnscriptedChunkCharacters;
  return finish(render(unscripted(*chat), delivery, *chat, context));
}

Answer Simulator::unscripted(const ChatRequest& request) const {
  if (request.tool(structured::kFinalizerName) != nullptr) return fitting_reply(request);
  Reply reply;
  reply.text = "This answer comes from assay-sim, a simulator: no model has read the message. It ended with: " +
               front_of(request.user_text, kEchoBytesMax);
  return reply;
}

Reply Simulator::fitting_reply(const ChatRequest& request) const {
  Reply reply;
  const OfferedTool* finalizer = request.tool(structured::kFinalizerName);
  const auto schema = finalizer != nullptr ? output_schema(*finalizer) : std::nullopt;
  auto value = schema ? generate_value(*schema) : std::nullopt;
  if (!value) {
    reply.text = "This answer comes from assay-sim, a simulator, which found no value that fits the requested schema.";
    return reply;
  }
  json::Writer writer;
  writer.begin_object().raw_member(structured::kOutputMember, *value).end_object();
  ScriptedCall call;
  call.name = structured::kFinalizerName;
  call.arguments = writer.take();
  reply.tool_calls.push_back(std::move(call));
  return reply;
}

Plan Simulator::plan_control(const SimRequest& request) {
  if (request.method == "GET" && request.path == "/sim/requests") return render_json(200, journal_json());
  if (request.method == "GET" && request.path.ends_with("/models")) return render_json(200, models_json());
  if (request.method == "GET" && request.path == "/healthz") return render_json(200, R"({"simulator":true})");
  const auto control = parse_control(request.body);
  if (request.method == "POST" && !control)
    return error_plan(400, "The body is no JSON object.", "invalid_request_error");
  if (request.method == "POST" && request.path == "/sim/release") {
    if (!control->point) return error_plan(400, "'point' is missing.", "invalid_request_error");
    if (control->is_all) {
      points_.release_all(*control->point);
    } else {
      points_.release(*control->point);
    }
    return render_json(200, "{}");
  }
  if (request.method == "POST" && request.path == "/sim/reset") {
    std::fill(uses_.begin(), uses_.end(), 0);
    journal_.clear();
    journal_bytes_ = 0;
    chat_requests_ = 0;
    chat_requests_done_ = 0;
    return render_json(200, "{}");
  }
  return error_plan(404, "assay-sim knows no such address.", "not_found_error");
}

net::Task<Plan> Simulator::plan_await(SimRequest request, net::StopToken client) {
  const auto control = parse_control(request.body);
  if (!control || (!control->point && !control->requests && !control->done)) {
    co_return error_plan(400, "'point', 'requests' or 'done' is missing.", "invalid_request_error");
  }
  const Milliseconds wait(control->timeout_ms.value_or(kAwaitDefault.count()));
  const Deadline deadline = Deadline::after(*clock_, wait);
  bool is_reached = true;
  if (control->point) {
    is_reached = co_await points_.wait_for_waiters(*control->point, control->count.value_or(1), deadline, client);
  }
  const std::int64_t requests = control->requests.value_or(0);
  const std::int64_t done = control->done.value_or(0);
  while (is_reached && (chat_requests_ < requests || chat_requests_done_ < done)) {
    const net::WaitOutcome outcome =
        co_await requests_changed_.wait_beyond(requests_changed_.version(), deadline, client);
    if (outcome != net::WaitOutcome::Signalled) is_reached = chat_requests_ >= requests && chat_requests_done_ >= done;
  }
  if (!is_reached) co_return error_plan(408, "It did not happen in time.", "timeout_error");
  co_return render_json(200, "{}");
}

Simulator::Entry& Simulator::record(SimRequest request) {
  Entry entry;
  entry.number = ++last_entry_;
  entry.request = std::move(request);
  journal_bytes_ += entry.request.body.size();
  journal_.push_back(std::move(entry));
  while (journal_.size() > 1 && (journal_.size() > kJournalEntriesMax || journal_bytes_ > kJournalBytesMax)) {
    journal_bytes_ -= journal_.front().request.body.size();
    journal_.pop_front();
  }
  return journal_.back();
}

void Simulator::on_done(std::int64_t journal_entry, const PlanResult& result) {
  for (Entry& entry : journal_) {
    if (entry.number != journal_entry) continue;
    entry.bytes_sent = result.bytes_sent;
    entry.outcome = result.outcome == PlanOutcome::Answered ? "answered"
                    : result.outcome == PlanOutcome::Cut    ? "cut"
                                                            : "client left";
    ++chat_requests_done_;
  }
  requests_changed_.notify();
}

std::string Simulator::journal_json() const {
  json::Writer writer;
  writer.begin_object().key("requests").begin_array();
  for (const Entry& entry : journal_) {
    writer.begin_object().member("number", entry.number).key("rule");
    if (entry.rule.empty()) {
      writer.null();
    } else {
      writer.string(entry.rule);
    }
    writer.member("connection", entry.request.connection);
    writer.member("path", entry.request.path).member("outcome", entry.outcome).member("bytes_sent", entry.bytes_sent);
    writer.key("headers").begin_object();
    for (const auto& [name, value] : entry.request.headers) writer.member(name, journal_value(name, value));
    writer.end_object().key("body");
    if (json::Document::parse(entry.request.body, kBodyCaps, json::Dialect::Lenient)) {
      writer.raw(entry.request.body);
    } else {
      writer.string(entry.request.body);
    }
    writer.end_object();
  }
  writer.end_array().end_object();
  return writer.take();
}

std::string Simulator::models_json() const {
  json::Writer writer;
  writer.begin_object().member("object", "list").key("data").begin_array();
  const auto add = [&](std::string_view id) {
    writer.begin_object().member("id", id).member("object", "model").member("created", 0);
    writer.member("owned_by", "assay-sim (simulator)").end_object();
  };
  if (script_.models.empty()) add(kDefaultModel);
  for (const std::string& model : script_.models) add(model);
  writer.end_array().end_object();
  return writer.take();
}

}  // namespace assay::sim

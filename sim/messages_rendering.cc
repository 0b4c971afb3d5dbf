#include "sim/messages_rendering.h"

#include <functional>
#include <utility>

#include "json/decimal.h"
#include "json/document.h"
#include "json/writer.h"
#include "sim/request_json.h"

namespace assay::sim {
namespace {

using Write = std::function<void(json::Writer&)>;

std::string stop_reason_of(const Reply& reply) {
  if (!reply.finish_reason) {
    if (!reply.refusal.empty()) return "refusal";
    return reply.tool_calls.empty() ? "end_turn" : "tool_use";
  }
  for (const auto& [word, reason] : {std::pair("stop", "end_turn"),
                                     {"tool_calls", "tool_use"},
                                     {"length", "max_tokens"},
                                     {"content_filter", "refusal"}}) {
    if (*reply.finish_reason == word) return reason;
  }
  return *reply.finish_reason;
}

// Chat Completions' counts by their names here; any other object as it is.
std::string usage_of(const Reply& reply, const ChatRequest& request) {
  TokenCounts counted = counted_tokens(reply, request);
  if (reply.usage) {
    const auto given = json::Document::parse(*reply.usage, kRequestCaps);
    const auto count = [&](std::string_view key) -> std::optional<std::int64_t> {
      const auto number = given ? member(given->root(), key, json::Kind::Number) : std::nullopt;
      return number ? json::to_int64(*number) : std::nullopt;
    };
    const auto prompt = count("prompt_tokens");
    if (!prompt) return *reply.usage;
    counted = {.input = *prompt, .output = count("completion_tokens").value_or(0)};
  }
  json::Writer writer;
  writer.begin_object().member("input_tokens", counted.input).member("output_tokens", counted.output).end_object();
  return writer.take();
}

std::string search_id(const RenderingContext& context, std::size_t position) {
  return "srvtoolu_sim_" + std::to_string(context.number) + "_" + std::to_string(position);
}

void write_search_result(json::Writer& writer, const ScriptedSearch& search, const std::string& id) {
  writer.member("type", "web_search_tool_result").member("tool_use_id", id).key("content").begin_array();
  for (const auto& [url, title] : search.results) {
    writer.begin_object().member("type", "web_search_result").member("url", url).member("title", title);
    writer.member("encrypted_content", "sim").key("page_age").null().end_object();
  }
  writer.end_array();
}

void write_stop(json::Writer& writer, const Reply& reply) {
  const std::string reason = stop_reason_of(reply);
  writer.key("stop_reason");
  if (reason.empty()) {
    writer.null();
  } else {
    writer.string(reason);
  }
  writer.key("stop_sequence").null().key("stop_details");
  if (reason == "refusal") {
    writer.begin_object().member("type", "refusal").key("category").null();
    writer.member("explanation", reply.refusal).end_object();
  } else {
    writer.null();
  }
}

class EventWriter {
 public:
  EventWriter(const Delivery& delivery, std::vector<RenderedEvent>& events) : delivery_(delivery), events_(events) {}

  void event(std::string_view type, const Write& write) {
    json::Writer writer;
    writer.begin_object().member("type", type);
    if (write) write(writer);
    writer.end_object();
    events_.push_back({std::string(type), writer.take()});
  }
  void block(const Write& head, std::string_view delta_type, std::string_view key, std::string_view text,
             const Write& last_delta = {}) {
    event("content_block_start", [&](json::Writer& writer) {
      writer.member("index", index_).key("content_block").begin_object();
      head(writer);
      writer.end_object();
    });
    while (!text.empty()) {
      const std::string_view piece = take_piece(text, delivery_.chunk_characters);
      delta([&](json::Writer& writer) { writer.member("type", delta_type).member(key, piece); });
    }
    if (last_delta) delta(last_delta);
    event("content_block_stop", [&](json::Writer& writer) { writer.member("index", index_); });
    ++index_;
  }

 private:
  void delta(const Write& write) {
    event("content_block_delta", [&](json::Writer& writer) {
      writer.member("index", index_).key("delta").begin_object();
      write(writer);
      writer.end_object();
    });
  }

  const Delivery& delivery_;
  std::vector<RenderedEvent>& events_;
  std::size_t index_ = 0;
};

void write_message_head(json::Writer& writer, const RenderingContext& context) {
  writer.member("id", "msg_sim_" + std::to_string(context.number)).member("type", "message");
  writer.member("role", "assistant").member("model", context.model);
}

}  // namespace

std::string thinking_signature(std::string_view thinking) {
  std::uint64_t hash = 14'695'981'039'346'656'037U;  // FNV-1a
  for (const char c : thinking) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  return "sim-" + std::to_string(hash) + "/+=";
}

std::vector<RenderedEvent> messages_events(const Reply& reply, const Delivery& delivery, const ChatRequest& request,
                                           const RenderingContext& context) {
  std::vector<RenderedEvent> events;
  EventWriter out(delivery, events);
  const std::string usage = usage_of(reply, request);
  out.event("message_start", [&](json::Writer& writer) {
    writer.key("message").begin_object();
    write_message_head(writer, context);
    writer.key("content").begin_array().end_array().key("stop_reason").null().key("stop_sequence").null();
    writer.key("usage").begin_object().member("input_tokens", counted_tokens(reply, request).input);
    writer.member("output_tokens", 1).end_object().end_object();
  });
  out.event("ping", {});
  if (!reply.reasoning.empty()) {
    out.block([](json::Writer& w) { w.member("type", "thinking").member("thinking", "").member("signature", ""); },
              "thinking_delta", "thinking", reply.reasoning,
              [&](json::Writer& w) {
                w.member("type", "signature_delta").member("signature", thinking_signature(reply.reasoning));
              });
  }
  if (!reply.redacted_reasoning.empty()) {
    out.block([&](json::Writer& w) { w.member("type", "redacted_thinking").member("data", reply.redacted_reasoning); },
              "", "", "");
  }
  for (std::size_t position = 0; position < reply.searches.size(); ++position) {
    const ScriptedSearch& search = reply.searches[position];
    const std::string id = search_id(context, position);
    json::Writer input;
    input.begin_object().member("query", search.query).end_object();
    out.block(
        [&](json::Writer& w) {
          w.member("type", "server_tool_use").member("id", id).member("name", "web_search");
          w.key("input").begin_object().end_object();
        },
        "input_json_delta", "partial_json", input.take());
    out.block([&](json::Writer& w) { write_search_result(w, search, id); }, "", "", "");
  }
  for (const std::string& text : {reply.text, reply.refusal}) {
    if (text.empty()) continue;
    out.block([](json::Writer& w) { w.member("type", "text").member("text", ""); }, "text_delta", "text", text);
  }
  for (std::size_t position = 0; position < reply.tool_calls.size(); ++position) {
    const ScriptedCall& call = reply.tool_calls[position];
    out.block(
        [&](json::Writer& w) {
          w.member("type", "tool_use").member("id", call_id(call, context, position)).member("name", call.name);
          w.key("input").begin_object().end_object();
        },
        "input_json_delta", "partial_json", call.arguments);
  }
  out.event("message_delta", [&](json::Writer& writer) {
    writer.key("delta").begin_object();
    write_stop(writer, reply);
    writer.end_object();
    if (!usage.empty()) writer.raw_member("usage", usage);
  });
  if (delivery.sends_done) out.event("message_stop", {});
  return events;
}

std::string messages_object(const Reply& reply, const ChatRequest& request, const RenderingContext& context) {
  json::Writer writer;
  writer.begin_object();
  write_message_head(writer, context);
  writer.key("content").begin_array();
  if (!reply.reasoning.empty()) {
    writer.begin_object().member("type", "thinking").member("thinking", reply.reasoning);
    writer.member("signature", thinking_signature(reply.reasoning)).end_object();
  }
  for (const std::string& text : {reply.text, reply.refusal}) {
    if (!text.empty()) writer.begin_object().member("type", "text").member("text", text).end_object();
  }
  for (std::size_t position = 0; position < reply.tool_calls.size(); ++position) {
    const ScriptedCall& call = reply.tool_calls[position];
    writer.begin_object().member("type", "tool_use").member("id", call_id(call, context, position));
    writer.member("name", call.name).key("input");
    // Bytes that are no JSON can only be streamed.
    const bool is_json = json::Document::parse(call.arguments, kRequestCaps, json::Dialect::Lenient).has_value();
    writer.raw(is_json ? std::string_view(call.arguments) : std::string_view("{}")).end_object();
  }
  writer.end_array();
  write_stop(writer, reply);
  const std::string usage = usage_of(reply, request);
  if (!usage.empty()) writer.raw_member("usage", usage);
  writer.end_object();
  return writer.take();
}

}  // namespace assay::sim

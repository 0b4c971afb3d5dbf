#include "sim/responses_rendering.h"

#include <functional>
#include <optional>

#include "json/document.h"
#include "json/limits.h"
#include "json/writer.h"

namespace assay::sim {
namespace {

// What no client may look into: it only has to come back.
constexpr std::string_view kEncryptedReasoning = "YXNzYXktc2ltOiBubyByZWFzb25pbmcgYmVoaW5kIHRoaXM=";

struct End {
  std::string status;  // of the response
  std::string reason;  // of an incomplete one
  [[nodiscard]] bool is_cut() const { return !reason.empty(); }
};
End end_of(const Reply& reply) {
  const std::string reason = finish_reason_of(reply);
  if (reason == "stop" || reason == "tool_calls" || reason == "function_call") return {"completed", ""};
  if (reason == "length") return {"incomplete", "max_output_tokens"};
  if (reason == "content_filter") return {"incomplete", "content_filter"};
  return {reason, ""};
}

// Scripts count in Chat Completions' words.
std::string usage_of(const Reply& reply, const ChatRequest& request) {
  TokenCounts counts = counted_tokens(reply, request);
  if (reply.usage) {
    const auto given = json::Document::parse(*reply.usage, json::kEnvelopeCaps, json::Dialect::Lenient);
    if (!given || !given->root().is(json::Kind::Object)) return *reply.usage;
    if (!given->root().find("prompt_tokens")) return *reply.usage;
    const auto count = [&](std::string_view key) {
      const auto found = given->root().find(key);
      return std::string(found ? found->raw() : std::string_view("0"));
    };
    json::Writer writer;
    writer.begin_object().raw_member("input_tokens", count("prompt_tokens"));
    writer.key("input_tokens_details").begin_object().member("cached_tokens", 0).end_object();
    writer.raw_member("output_tokens", count("completion_tokens"));
    writer.key("output_tokens_details").begin_object().member("reasoning_tokens", 0).end_object();
    writer.raw_member("total_tokens", count("total_tokens")).end_object();
    return writer.take();
  }
  json::Writer writer;
  writer.begin_object().member("input_tokens", counts.input);
  writer.key("input_tokens_details").begin_object().member("cached_tokens", 0).end_object();
  writer.member("output_tokens", counts.output);
  writer.key("output_tokens_details").begin_object().member("reasoning_tokens", 0).end_object();
  writer.member("total_tokens", counts.input + counts.output).end_object();
  return writer.take();
}

std::string reasoning_item(const std::string& id, std::string_view text, const ChatRequest& request, bool is_done) {
  json::Writer writer;
  writer.begin_object().member("id", id).member("type", "reasoning").key("summary").begin_array();
  if (is_done) writer.begin_object().member("type", "summary_text").member("text", text).end_object();
  writer.end_array();
  if (is_done && request.wants_encrypted_reasoning) writer.member("encrypted_content", kEncryptedReasoning);
  writer.end_object();
  return writer.take();
}

std::string content_part(std::string_view type, std::string_view text) {
  json::Writer writer;
  writer.begin_object().member("type", type);
  if (type == "refusal") {
    writer.member("refusal", text);
  } else {
    writer.key("annotations").begin_array().end_array().key("logprobs").begin_array().end_array().member("text", text);
  }
  writer.end_object();
  return writer.take();
}

std::string message_item(const std::string& id, std::string_view status, const std::vector<std::string>& parts) {
  json::Writer writer;
  writer.begin_object().member("id", id).member("type", "message").member("role", "assistant");
  writer.member("status", status).key("content").begin_array();
  for (const std::string& part : parts) writer.raw(part);
  writer.end_array().end_object();
  return writer.take();
}

std::string call_item(const std::string& id, const std::string& call_id, const ScriptedCall& call,
                      std::string_view arguments, std::string_view status) {
  json::Writer writer;
  writer.begin_object().member("id", id).member("type", "function_call").member("call_id", call_id);
  writer.member("name", call.name).member("arguments", arguments).member("status", status).end_object();
  return writer.take();
}

class ResponseWriter {
 public:
  ResponseWriter(const Reply& reply, const Delivery& delivery, const ChatRequest& request,
                 const RenderingContext& context)
      : reply_(reply), delivery_(delivery), request_(request), context_(context), end_(end_of(reply)) {}

  std::vector<RenderedEvent> events() {
    event("response.created", [&](json::Writer& w) { w.raw_member("response", response("in_progress")); });
    event("response.in_progress", [&](json::Writer& w) { w.raw_member("response", response("in_progress")); });
    write_items();
    if (finish_reason_of(reply_).empty()) return std::move(events_);
    const std::string type = end_.status == "incomplete" ? "response.incomplete" : "response.completed";
    event(type, [&](json::Writer& w) { w.raw_member("response", response(end_.status)); });
    return std::move(events_);
  }
  std::string object() {
    write_items();
    return response(end_.status.empty() ? "in_progress" : end_.status);
  }

 private:
  using Write = std::function<void(json::Writer&)>;

  void event(std::string type, const Write& write) {
    json::Writer writer;
    writer.begin_object().member("type", type).member("sequence_number", events_.size());
    write(writer);
    writer.end_object();
    events_.push_back({std::move(type), writer.take()});
  }
  std::string response(std::string_view status) {
    json::Writer writer;
    writer.begin_object().member("id", "resp_sim_" + std::to_string(context_.number)).member("object", "response");
    writer.member("created_at", context_.created_s).member("status", status).key("error").null();
    writer.key("incomplete_details");
    if (status == "incomplete") {
      writer.begin_object().member("reason", end_.reason).end_object();
    } else {
      writer.null();
    }
    writer.key("instructions").null().key("metadata").begin_object().end_object().member("model", context_.model);
    writer.key("output").begin_array();
    for (const std::string& item : items_) writer.raw(item);
    writer.end_array().member("parallel_tool_calls", true).key("temperature").null().member("tool_choice", "auto");
    writer.key("tools").begin_array().end_array().key("top_p").null().member("store", false).key("usage");
    const std::string usage = status == "in_progress" ? "" : usage_of(reply_, request_);
    if (usage.empty()) {
      writer.null();
    } else {
      writer.raw(usage);
    }
    writer.end_object();
    return writer.take();
  }

  std::string item_id(std::string_view prefix) const {
    return std::string(prefix) + "_sim_" + std::to_string(context_.number) + "_" + std::to_string(items_.size());
  }
  void item_event(std::string type, const std::string& item) {
    event(std::move(type), [&](json::Writer& w) { w.member("output_index", items_.size()).raw_member("item", item); });
  }
  void part_event(std::string type, const std::string& id, std::string_view index_key, std::size_t index,
                  const Write& write) {
    event(std::move(type), [&](json::Writer& w) {
      w.member("item_id", id).member("output_index", items_.size());
      if (!index_key.empty()) w.member(index_key, index);
      write(w);
    });
  }
  // Deltas of one text, then the event that holds all of it.
  void stream(const std::string& type, const std::string& id, std::string_view index_key, std::size_t index,
              std::string_view text, std::string_view key, bool has_logprobs = false) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::string_view piece = take_piece(rest, delivery_.chunk_characters);
      part_event(type + ".delta", id, index_key, index, [&](json::Writer& w) {
        w.member("delta", piece);
        if (has_logprobs) w.key("logprobs").begin_array().end_array();
      });
    }
    part_event(type + ".done", id, index_key, index, [&](json::Writer& w) {
      w.member(key, text);
      if (has_logprobs) w.key("logprobs").begin_array().end_array();
    });
  }
  void end_item(std::string item) {
    item_event("response.output_item.done", item);
    items_.push_back(std::move(item));
  }

  void write_items() {
    if (!reply_.reasoning.empty()) write_reasoning();
    if (!reply_.text.empty() || !reply_.refusal.empty()) write_message();
    for (std::size_t position = 0; position < reply_.tool_calls.size(); ++position) write_call(position);
  }
  void write_reasoning() {
    const std::string id = item_id("rs");
    item_event("response.output_item.added", reasoning_item(id, "", request_, false));
    const auto part = [&](std::string_view text) {
      return [text](json::Writer& w) {
        w.key("part").begin_object().member("type", "summary_text").member("text", text).end_object();
      };
    };
    part_event("response.reasoning_summary_part.added", id, "summary_index", 0, part(""));
    stream("response.reasoning_summary_text", id, "summary_index", 0, reply_.reasoning, "text");
    part_event("response.reasoning_summary_part.done", id, "summary_index", 0, part(reply_.reasoning));
    end_item(reasoning_item(id, reply_.reasoning, request_, true));
  }
  void write_message() {
    const std::string id = item_id("msg");
    item_event("response.output_item.added", message_item(id, "in_progress", {}));
    std::vector<std::string> parts;
    const auto write_part = [&](const std::string& type, std::string_view key, const std::string& text) {
      if (text.empty()) return;
      const std::size_t index = parts.size();
      part_event("response.content_part.added", id, "content_index", index,
                 [&](json::Writer& w) { w.raw_member("part", content_part(type, "")); });
      stream("response." + type, id, "content_index", index, text, key, type == "output_text");
      parts.push_back(content_part(type, text));
      part_event("response.content_part.done", id, "content_index", index,
                 [&](json::Writer& w) { w.raw_member("part", parts.back()); });
    };
    write_part("output_text", "text", reply_.text);
    write_part("refusal", "refusal", reply_.refusal);
    end_item(message_item(id, end_.is_cut() && reply_.tool_calls.empty() ? "incomplete" : "completed", parts));
  }
  void write_call(std::size_t position) {
    const ScriptedCall& call = reply_.tool_calls[position];
    const std::string id = item_id("fc");
    const std::string pair = call_id(call, context_, position);
    item_event("response.output_item.added", call_item(id, pair, call, "", "in_progress"));
    std::string_view rest = call.arguments;
    while (!rest.empty()) {
      const std::string_view piece = take_piece(rest, delivery_.chunk_characters);
      part_event("response.function_call_arguments.delta", id, "", 0,
                 [&](json::Writer& w) { w.member("delta", piece); });
    }
    part_event("response.function_call_arguments.done", id, "", 0,
               [&](json::Writer& w) { w.member("name", call.name).member("arguments", call.arguments); });
    const bool is_cut = end_.is_cut() && position + 1 == reply_.tool_calls.size();
    end_item(call_item(id, pair, call, call.arguments, is_cut ? "incomplete" : "completed"));
  }

  const Reply& reply_;
  const Delivery& delivery_;
  const ChatRequest& request_;
  const RenderingContext& context_;
  End end_;
  std::vector<RenderedEvent> events_;
  std::vector<std::string> items_;  // those that are done
};

}  // namespace

std::vector<RenderedEvent> responses_events(const Reply& reply, const Delivery& delivery, const ChatRequest& request,
                                            const RenderingContext& context) {
  return ResponseWriter(reply, delivery, request, context).events();
}

std::string responses_object(const Reply& reply, const ChatRequest& request, const RenderingContext& context) {
  return ResponseWriter(reply, Delivery{}, request, context).object();
}

}  // namespace assay::sim

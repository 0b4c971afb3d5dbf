#include "sim/rendering.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "json/writer.h"
#include "net/http_message.h"
#include "sim/messages_rendering.h"
#include "sim/responses_rendering.h"

namespace assay::sim {
namespace {

std::string usage_of(const Reply& reply, const ChatRequest& request) {
  if (reply.usage) return *reply.usage;
  const TokenCounts counts = counted_tokens(reply, request);
  json::Writer writer;
  writer.begin_object().member("prompt_tokens", counts.input).member("completion_tokens", counts.output);
  writer.member("total_tokens", counts.input + counts.output).end_object();
  return writer.take();
}

class ChunkWriter {
 public:
  ChunkWriter(const RenderingContext& context, std::vector<RenderedEvent>& events)
      : context_(context), events_(events) {}

  void delta(const std::function<void(json::Writer&)>& write) { chunk(write, ""); }
  void finish(std::string_view reason) { chunk({}, reason); }
  void usage(std::string_view usage) {
    json::Writer writer = begin();
    writer.begin_array().end_array().raw_member("usage", usage).end_object();
    events_.push_back({"", writer.take()});
  }

 private:
  json::Writer begin() const {
    json::Writer writer;
    writer.begin_object().member("id", "chatcmpl-sim-" + std::to_string(context_.number));
    writer.member("object", "chat.completion.chunk").member("created", context_.created_s);
    writer.member("model", context_.model).key("choices");
    return writer;
  }
  void chunk(const std::function<void(json::Writer&)>& write, std::string_view reason) {
    json::Writer writer = begin();
    writer.begin_array().begin_object().member("index", 0).key("delta").begin_object();
    if (write) write(writer);
    writer.end_object().key("finish_reason");
    if (reason.empty()) {
      writer.null();
    } else {
      writer.string(reason);
    }
    writer.end_object().end_array().end_object();
    events_.push_back({"", writer.take()});
  }

  const RenderingContext& context_;
  std::vector<RenderedEvent>& events_;
};

void write_call_head(json::Writer& writer, std::size_t position, const std::string& id, const std::string& name) {
  writer.key("tool_calls").begin_array().begin_object().member("index", position).member("id", id);
  writer.member("type", "function").key("function").begin_object().member("name", name).member("arguments", "");
  writer.end_object().end_object().end_array();
}

void write_call_arguments(json::Writer& writer, std::size_t position, std::string_view piece) {
  writer.key("tool_calls").begin_array().begin_object().member("index", position).key("function").begin_object();
  writer.member("arguments", piece).end_object().end_object().end_array();
}

std::vector<RenderedEvent> chat_events(const Reply& reply, const Delivery& delivery, const ChatRequest& request,
                                       const RenderingContext& context) {
  std::vector<RenderedEvent> events;
  ChunkWriter chunks(context, events);
  chunks.delta([](json::Writer& writer) { writer.member("role", "assistant").member("content", ""); });
  const auto stream = [&](std::string_view key, std::string_view text) {
    while (!text.empty()) {
      const std::string_view piece = take_piece(text, delivery.chunk_characters);
      chunks.delta([&](json::Writer& writer) { writer.member(key, piece); });
    }
  };
  stream("reasoning_content", reply.reasoning);
  stream("content", reply.text);
  stream("refusal", reply.refusal);
  for (std::size_t position = 0; position < reply.tool_calls.size(); ++position) {
    const ScriptedCall& call = reply.tool_calls[position];
    const std::string id = call_id(call, context, position);
    chunks.delta([&](json::Writer& writer) { write_call_head(writer, position, id, call.name); });
    std::string_view arguments = call.arguments;
    while (!arguments.empty()) {
      const std::string_view piece = take_piece(arguments, delivery.chunk_characters);
      chunks.delta([&](json::Writer& writer) { write_call_arguments(writer, position, piece); });
    }
  }
  const std::string reason = finish_reason_of(reply);
  if (!reason.empty()) chunks.finish(reason);
  const std::string usage = usage_of(reply, request);
  if (!usage.empty() && (request.wants_usage || reply.usage)) chunks.usage(usage);
  return events;
}

std::string chat_object(const Reply& reply, const ChatRequest& request, const RenderingContext& context) {
  json::Writer writer;
  writer.begin_object().member("id", "chatcmpl-sim-" + std::to_string(context.number));
  writer.member("object", "chat.completion").member("created", context.created_s).member("model", context.model);
  writer.key("choices").begin_array().begin_object().member("index", 0);
  writer.key("message").begin_object().member("role", "assistant").key("content");
  if (reply.text.empty()) {
    writer.null();
  } else {
    writer.string(reply.text);
  }
  writer.key("refusal");
  if (reply.refusal.empty()) {
    writer.null();
  } else {
    writer.string(reply.refusal);
  }
  if (!reply.reasoning.empty()) writer.member("reasoning_content", reply.reasoning);
  if (!reply.tool_calls.empty()) {
    writer.key("tool_calls").begin_array();
    for (std::size_t position = 0; position < reply.tool_calls.size(); ++position) {
      const ScriptedCall& call = reply.tool_calls[position];
      writer.begin_object().member("id", call_id(call, context, position)).member("type", "function");
      writer.key("function").begin_object().member("name", call.name).member("arguments", call.arguments);
      writer.end_object().end_object();
    }
    writer.end_array();
  }
  writer.end_object().key("finish_reason");
  const std::string reason = finish_reason_of(reply);
  if (reason.empty()) {
    writer.null();
  } else {
    writer.string(reason);
  }
  writer.end_object().end_array();
  const std::string usage = usage_of(reply, request);
  if (!usage.empty()) writer.raw_member("usage", usage);
  writer.end_object();
  return writer.take();
}

std::string response_head(int status, std::string_view content_type, std::string_view framing,
                          const std::vector<std::pair<std::string, std::string>>& extra) {
  std::string head = "HTTP/1.1 " + std::to_string(status) + " " + std::string(net::reason_phrase(status)) + "\r\n";
  const auto is_given = [&](std::string_view name) {
    return std::any_of(extra.begin(), extra.end(),
                       [&](const auto& header) { return net::equals_ignoring_case(header.first, name); });
  };
  if (!is_given("Content-Type")) head += "Content-Type: " + std::string(content_type) + "\r\n";
  head += "Server: assay-sim\r\n" + std::string(framing) + "\r\n";
  for (const auto& [name, value] : extra) head += name + ": " + value + "\r\n";
  return head + "\r\n";
}

std::string as_http_chunk(std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string size;
  for (std::size_t rest = bytes.size(); rest > 0; rest /= 16) size.insert(size.begin(), kHex[rest % 16]);
  return size + "\r\n" + std::string(bytes) + "\r\n";
}

// The events of a streamed answer, or one raw body, as the pieces to be written and the positions that matter.
class BodySender {
 public:
  BodySender(const Delivery& delivery, Plan& plan) : delivery_(delivery), plan_(plan) {}

  void send_event(std::string_view bytes) {
    hold_where_due();
    if (events_sent_ > 0 && delivery_.event_delay > Milliseconds(0))
      plan_.steps.emplace_back(Pause{delivery_.event_delay});
    send(bytes);
    ++events_sent_;
  }
  void finish() {
    hold_where_due();
    if (!is_over_) plan_.steps.emplace_back(Send{"0\r\n\r\n"});
  }

 private:
  void hold_where_due() {
    const auto& hold = delivery_.hold_after_events;
    if (!is_over_ && hold && !has_held_ && hold->first <= events_sent_) {
      has_held_ = true;
      plan_.steps.emplace_back(Hold{hold->second});
    }
  }
  void send(std::string_view bytes) {
    while (!bytes.empty() && !is_over_) {
      std::size_t size = delivery_.split_bytes > 0 ? std::min(delivery_.split_bytes, bytes.size()) : bytes.size();
      const std::size_t end = std::min(delivery_.cut_after_bytes.value_or(std::string::npos),
                                       delivery_.stall_after_bytes.value_or(std::string::npos));
      size = std::min(size, end - body_bytes_);
      if (size > 0) plan_.steps.emplace_back(Send{as_http_chunk(bytes.substr(0, size))});
      bytes.remove_prefix(size);
      body_bytes_ += size;
      if (body_bytes_ == end) end_early();
    }
  }
  void end_early() {
    is_over_ = true;
    if (delivery_.cut_after_bytes == body_bytes_) {
      plan_.steps.emplace_back(Cut{delivery_.is_reset});
    } else {
      plan_.steps.emplace_back(Stall{});
    }
  }

  const Delivery& delivery_;
  Plan& plan_;
  std::int64_t events_sent_ = 0;
  std::size_t body_bytes_ = 0;
  bool has_held_ = false;
  bool is_over_ = false;
};

struct WireRendering {
  SimWire wire;
  std::vector<RenderedEvent> (*events)(const Reply&, const Delivery&, const ChatRequest&, const RenderingContext&);
  std::string (*object)(const Reply&, const ChatRequest&, const RenderingContext&);
  bool ends_with_done;
};
constexpr WireRendering kWires[] = {
    {SimWire::ChatCompletions, chat_events, chat_object, true},
    {SimWire::Responses, responses_events, responses_object, false},
    {SimWire::Messages, messages_events, messages_object, false},
};
const WireRendering& rendering_of(SimWire wire) {
  return *std::find_if(std::begin(kWires), std::end(kWires),
                       [&](const WireRendering& row) { return row.wire == wire; });
}

void render_events(std::vector<RenderedEvent> events, bool ends_with_done, const Delivery& delivery, Plan& plan) {
  plan.steps.emplace_back(
      Send{response_head(200, "text/event-stream", "Transfer-Encoding: chunked", delivery.headers)});
  if (delivery.sends_done && ends_with_done) events.push_back({"", "[DONE]"});
  BodySender sender(delivery, plan);
  for (const RenderedEvent& event : events) {
    std::string bytes;
    if (delivery.sends_comments) bytes += ": assay-sim" + delivery.line_end + delivery.line_end;
    if (!event.name.empty()) bytes += "event: " + event.name + delivery.line_end;
    sender.send_event(bytes + "data: " + event.data + delivery.line_end + delivery.line_end);
  }
  sender.finish();
}

}  // namespace

std::string answering_model(std::string_view requested) {
  if (requested == "assay-sim") return "assay-sim (simulator)";
  return std::string(requested) + " (assay-sim, a simulator)";
}

Plan render_json(int status, std::string body) {
  Plan plan;
  const std::string framing = "Content-Length: " + std::to_string(body.size());
  plan.steps.emplace_back(Send{response_head(status, "application/json", framing, {}) + body});
  return plan;
}

Plan render(const Answer& answer, const Delivery& delivery, const ChatRequest& request,
            const RenderingContext& context) {
  Plan plan;
  if (delivery.hold) plan.steps.emplace_back(Hold{*delivery.hold});
  if (delivery.first_byte_delay > Milliseconds(0)) plan.steps.emplace_back(Pause{delivery.first_byte_delay});
  const auto send_whole = [&](int status, std::string_view type, std::string_view body) {
    const bool is_chunked = delivery.cut_after_bytes || delivery.stall_after_bytes || delivery.split_bytes > 0;
    if (!is_chunked) {
      const std::string framing = "Content-Length: " + std::to_string(body.size());
      plan.steps.emplace_back(Send{response_head(status, type, framing, delivery.headers) + std::string(body)});
      return;
    }
    plan.steps.emplace_back(Send{response_head(status, type, "Transfer-Encoding: chunked", delivery.headers)});
    BodySender sender(delivery, plan);
    sender.send_event(body);
    sender.finish();
  };
  const WireRendering& wire = rendering_of(request.wire);
  if (const auto* reply = std::get_if<Reply>(&answer)) {
    if (request.is_streamed) {
      render_events(wire.events(*reply, delivery, request, context), wire.ends_with_done, delivery, plan);
    } else {
      send_whole(200, "application/json", wire.object(*reply, request, context));
    }
  } else if (const auto* http = std::get_if<HttpAnswer>(&answer)) {
    send_whole(http->status, "application/json", http->body);
  } else if (const auto* events = std::get_if<RawEvents>(&answer)) {
    std::vector<RenderedEvent> given;
    for (const std::string& data : events->events) given.push_back({"", data});
    render_events(std::move(given), wire.ends_with_done, delivery, plan);
  } else if (const auto* body = std::get_if<RawBody>(&answer)) {
    send_whole(200, "text/event-stream", body->bytes);
  } else if (const auto* response = std::get_if<RawResponse>(&answer)) {
    plan.steps.emplace_back(Send{response->bytes});
    plan.keeps_connection = false;
  }
  return plan;
}

}  // namespace assay::sim

#include "api/projection.h"

#include <optional>
#include <utility>

#include "chat/state.h"
#include "json/compact.h"
#include "json/document.h"
#include "structured/outcome.h"

namespace assay::api {

namespace {

std::string_view role_name(chat::Role role) {
  switch (role) {
    case chat::Role::System:
      return "system";
    case chat::Role::User:
      return "user";
    case chat::Role::Assistant:
      return "assistant";
    case chat::Role::Tool:
      return "tool";
  }
  std::unreachable();
}

// The JSON text on one line; nothing where it is no JSON, which would break the frame around it.
std::optional<std::string> one_line(std::string_view text) {
  const auto document = json::Document::parse(std::string(text), json::kEnvelopeCaps, json::Dialect::Lenient);
  if (!document) return std::nullopt;
  return json::compact(document->root());
}

void write_optional(json::Writer& writer, std::string_view name, std::string_view text) {
  if (!text.empty()) writer.member(name, text);
}

template <class Tag>
void write_optional(json::Writer& writer, std::string_view name, const std::optional<UuidOf<Tag>>& id) {
  if (id) writer.member(name, id->to_string());
}

// Opens a part of the given type with what every part carries: the nullable ids are present as null, since their
// types know no absence on the other side.
void begin_part(json::Writer& writer, std::string_view type) {
  writer.begin_object();
  writer.member("type", type);
  writer.key("mcp_server_config_id").null();
  writer.key("file_id").null();
  writer.key("context_file_agent_id").null();
}

struct PartWriter {
  json::Writer& writer;

  void operator()(const chat::TextPart& part) const {
    begin_part(writer, "text");
    writer.member("text", part.text).end_object();
  }
  void operator()(const chat::ReasoningPart& part) const {
    if (part.text.empty()) return;  // kept for the provider alone
    begin_part(writer, "reasoning");
    writer.member("text", part.text).end_object();
  }
  void operator()(const chat::ToolCallPart& part) const {
    begin_part(writer, "tool-call");
    write_optional(writer, "tool_call_id", part.id);
    write_optional(writer, "tool_name", part.name);
    writer.raw_member("args", one_line(part.arguments).value_or("{}"));
    if (part.provider_executed) writer.member("provider_executed", true);
    writer.end_object();
  }
  void operator()(const chat::ToolResultPart& part) const {
    begin_part(writer, "tool-result");
    write_optional(writer, "tool_call_id", part.call_id);
    write_optional(writer, "tool_name", part.name);
    if (const auto result = one_line(part.result)) {
      writer.raw_member("result", *result);
    } else {
      writer.member("result", part.result);
    }
    if (part.is_error) writer.member("is_error", true);
    if (part.provider_executed) writer.member("provider_executed", true);
    writer.end_object();
  }
  void operator()(const chat::SourcePart& part) const {
    begin_part(writer, "source");
    writer.member("url", part.url);
    write_optional(writer, "source_id", part.id);
    write_optional(writer, "title", part.title);
    writer.end_object();
  }
  void operator()(const chat::FileReferencePart& part) const {
    begin_part(writer, "file-reference");
    writer.member("file_name", part.file_name);
    writer.member("start_line", part.start_line).member("end_line", part.end_line);
    writer.member("content", part.content).end_object();
  }
  void operator()(const live::ArgumentsDelta& part) const {
    begin_part(writer, "tool-call");
    write_optional(writer, "tool_call_id", part.call_id);
    write_optional(writer, "tool_name", part.name);
    writer.member("args_delta", part.text).end_object();
  }
  void operator()(const chat::ProviderItemPart&) const {}
  void operator()(const chat::PausePart&) const {}
  // The internal parts of structured output.
  void operator()(const structured::RequestPart&) const {}
  void operator()(const structured::ControlPart&) const {}
  void operator()(const structured::OutcomePart&) const {}
};

bool is_internal(const chat::Part& part) {
  if (const auto* reasoning = std::get_if<chat::ReasoningPart>(&part)) return reasoning->text.empty();
  return std::holds_alternative<chat::ProviderItemPart>(part) || std::holds_alternative<chat::PausePart>(part) ||
         std::holds_alternative<structured::RequestPart>(part) ||
         std::holds_alternative<structured::ControlPart>(part) || std::holds_alternative<structured::OutcomePart>(part);
}

void write_parts(json::Writer& writer, const chat::Content& content) {
  writer.begin_array();
  for (const auto& part : content) std::visit(PartWriter{writer}, part);
  writer.end_array();
}

template <class Internal>
const Internal* find_part(const chat::Content& content) {
  for (const auto& part : content) {
    if (const auto* found = std::get_if<Internal>(&part)) return found;
  }
  return nullptr;
}

void write_outcome(json::Writer& writer, const structured::OutcomePart& outcome) {
  writer.begin_object();
  writer.member("request_id", outcome.request_id.to_string());
  writer.member("status", structured::name_of(outcome.status));
  if (outcome.status == structured::OutcomeStatus::Succeeded) {
    writer.raw_member("value", outcome.value);
  } else if (outcome.error) {
    writer.key("error").begin_object();
    writer.member("code", structured::name_of(outcome.error->code)).member("message", outcome.error->message);
    writer.end_object();
  }
  writer.end_object();
}

void write_count(json::Writer& writer, std::string_view name, std::optional<std::int64_t> count) {
  if (count) writer.member(name, *count);
}

void write_usage(json::Writer& writer, const chat::Usage& usage) {
  writer.begin_object();
  write_count(writer, "input_tokens", usage.input_tokens);
  write_count(writer, "output_tokens", usage.output_tokens);
  write_count(writer, "total_tokens", usage.total_tokens);
  write_count(writer, "reasoning_tokens", usage.reasoning_tokens);
  write_count(writer, "cache_creation_tokens", usage.cache_creation_tokens);
  write_count(writer, "cache_read_tokens", usage.cache_read_tokens);
  write_count(writer, "context_limit", usage.context_limit);
  writer.end_object();
}

void write_error(json::Writer& writer, const chat::ChatError& error) {
  writer.begin_object();
  writer.member("message", error.message);
  write_optional(writer, "detail", error.detail);
  write_optional(writer, "kind", error.kind);
  write_optional(writer, "provider", error.provider);
  writer.member("retryable", error.retryable);
  if (error.status_code) writer.member("status_code", *error.status_code);
  writer.end_object();
}

void write_retry(json::Writer& writer, const chat::RetryState& retry) {
  writer.begin_object();
  writer.member("attempt", retry.attempt).member("delay_ms", retry.delay_ms).member("error", retry.error.message);
  write_optional(writer, "kind", retry.error.kind);
  write_optional(writer, "provider", retry.error.provider);
  if (retry.error.status_code) writer.member("status_code", *retry.error.status_code);
  writer.member("retrying_at", to_rfc3339(retry.retrying_at)).end_object();
}

void write_queue(json::Writer& writer, std::span<const chat::QueuedMessage> queue) {
  writer.begin_array();
  for (const auto& message : queue) write_queued_message(writer, message);
  writer.end_array();
}

void write_labels(json::Writer& writer, const std::map<std::string, std::string>& labels) {
  writer.begin_object();
  for (const auto& [key, value] : labels) writer.member(key, value);
  writer.end_object();
}

struct PayloadWriter {
  json::Writer& writer;

  void operator()(const live::HistoryResetEvent&) const {}
  void operator()(const live::PreviewResetEvent&) const {}
  void operator()(const live::MessageEvent& event) const { write_message(writer.key("message"), event.message); }
  void operator()(const live::QueueEvent& event) const {
    // Clients read a missing list as an empty one.
    if (!event.queue.empty()) write_queue(writer.key("queued_messages"), event.queue);
  }
  void operator()(const live::StatusEvent& event) const {
    writer.key("status").begin_object().member("status", chat::name_of(event.status)).end_object();
  }
  void operator()(const live::ErrorEvent& event) const { write_error(writer.key("error"), event.error); }
  void operator()(const live::ActionRequiredEvent& event) const {
    writer.key("action_required").begin_object().key("tool_calls").begin_array();
    for (const auto& call : event.calls) {
      writer.begin_object().member("tool_call_id", call.id).member("tool_name", call.name);
      writer.member("args", call.arguments).end_object();
    }
    writer.end_array().end_object();
  }
  void operator()(const live::RetryEvent& event) const { write_retry(writer.key("retry"), event.retry); }
  void operator()(const live::PartEvent& event) const {
    const auto& part = event.episode->parts()[event.index];
    const auto key = event.episode->key();
    writer.key("message_part").begin_object();
    writer.member("role", role_name(part.role)).key("part");
    std::visit(PartWriter{writer}, part.content);
    writer.member("history_version", key.history_version).member("generation_attempt", key.generation_attempt);
    writer.member("seq", part.seq).end_object();
  }
};

struct EventNames {
  std::string_view operator()(const live::HistoryResetEvent&) const { return "history_reset"; }
  std::string_view operator()(const live::MessageEvent&) const { return "message"; }
  std::string_view operator()(const live::QueueEvent&) const { return "queue_update"; }
  std::string_view operator()(const live::StatusEvent&) const { return "status"; }
  std::string_view operator()(const live::ErrorEvent&) const { return "error"; }
  std::string_view operator()(const live::ActionRequiredEvent&) const { return "action_required"; }
  std::string_view operator()(const live::RetryEvent&) const { return "retry"; }
  std::string_view operator()(const live::PreviewResetEvent&) const { return "preview_reset"; }
  std::string_view operator()(const live::PartEvent&) const { return "message_part"; }
};

}  // namespace

bool is_visible(const chat::Message& message) {
  return !message.deleted && message.visibility != chat::Visibility::Model;
}

void write_chat(json::Writer& writer, const chat::Chat& chat, std::string_view owner_name) {
  writer.begin_object();
  writer.member("id", chat.id.to_string());
  writer.member("organization_id", chat.organization_id.to_string());
  writer.member("owner_id", chat.owner_id.to_string());
  write_optional(writer, "owner_username", owner_name);
  write_optional(writer, "parent_chat_id", chat.parent_chat_id);
  write_optional(writer, "root_chat_id", chat.root_chat_id);
  writer.member("last_model_config_id", chat.last_model_config.to_string());
  write_optional(writer, "last_reasoning_effort", chat.reasoning_effort.value_or(""));
  writer.member("title", chat.title);
  writer.member("status", chat::name_of(chat.status));
  write_optional(writer, "mode", chat.mode);
  write_optional(writer, "plan_mode", chat.plan_mode);
  if (chat.last_error) write_error(writer.key("last_error"), *chat.last_error);
  if (chat.requires_action_deadline) {
    writer.member("requires_action_deadline_at", to_rfc3339(*chat.requires_action_deadline));
  }
  writer.key("last_turn_summary").null();
  writer.key("summary").null();
  writer.member("created_at", to_rfc3339(chat.created_at));
  writer.member("updated_at", to_rfc3339(chat.updated_at));
  writer.member("archived", chat.archived);
  writer.member("shared", false);
  writer.member("pin_order", 0);
  writer.key("mcp_server_ids").begin_array().end_array();
  write_labels(writer.key("labels"), chat.labels);
  writer.member("has_unread", chat.last_message_id > chat.last_read_message_id);
  writer.member("client_type", chat.client_type);
  writer.key("children").begin_array().end_array();
  writer.end_object();
}

void write_message(json::Writer& writer, const chat::Message& message) {
  writer.begin_object();
  writer.member("id", message.id);
  writer.member("chat_id", message.chat_id.to_string());
  write_optional(writer, "created_by", message.created_by);
  write_optional(writer, "model_config_id", message.model_config);
  writer.member("created_at", to_rfc3339(message.created_at));
  writer.member("role", role_name(message.role));
  bool has_content = false;
  for (const auto& part : message.content) has_content = has_content || !is_internal(part);
  if (has_content) write_parts(writer.key("content"), message.content);
  if (!message.usage.empty()) write_usage(writer.key("usage"), message.usage);
  if (const auto* request = find_part<structured::RequestPart>(message.content)) {
    writer.member("structured_output_request_id", request->request_id.to_string());
  }
  if (const auto* outcome = find_part<structured::OutcomePart>(message.content)) {
    write_outcome(writer.key("structured_output"), *outcome);
  }
  writer.end_object();
}

void write_queued_message(json::Writer& writer, const chat::QueuedMessage& message) {
  writer.begin_object();
  writer.member("id", message.id);
  writer.member("chat_id", message.chat_id.to_string());
  write_optional(writer, "model_config_id", message.model_config);
  write_parts(writer.key("content"), message.content);
  writer.member("created_at", to_rfc3339(message.created_at));
  if (const auto* request = find_part<structured::RequestPart>(message.content)) {
    writer.member("structured_output_request_id", request->request_id.to_string());
  }
  writer.end_object();
}

std::string_view event_name(const live::Event& event) { return std::visit(EventNames{}, event); }

void write_event(json::Writer& writer, ChatId chat, const live::Event& event) {
  writer.begin_object();
  writer.member("type", event_name(event)).member("chat_id", chat.to_string());
  std::visit(PayloadWriter{writer}, event);
  writer.end_object();
}

std::string event_json(ChatId chat, const live::Event& event) {
  json::Writer writer;
  write_event(writer, chat, event);
  return writer.take();
}

std::string messages_json(std::span<const chat::Message> messages, std::span<const chat::QueuedMessage> queue,
                          bool has_more) {
  json::Writer writer;
  writer.begin_object().key("messages").begin_array();
  for (const auto& message : messages) {
    if (is_visible(message)) write_message(writer, message);
  }
  writer.end_array();
  write_queue(writer.key("queued_messages"), queue);
  writer.member("has_more", has_more).end_object();
  return writer.take();
}

}  // namespace assay::api

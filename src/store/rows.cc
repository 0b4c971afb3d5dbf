#include "store/rows.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "chat/content.h"
#include "json/document.h"
#include "json/limits.h"
#include "json/member.h"
#include "json/writer.h"

namespace assay::store {

namespace {

template <class Enum, std::size_t Size>
using Names = std::array<std::pair<Enum, std::string_view>, Size>;

constexpr Names<chat::Status, 5> kStatuses{{{chat::Status::Waiting, "waiting"},
                                            {chat::Status::Running, "running"},
                                            {chat::Status::Interrupting, "interrupting"},
                                            {chat::Status::RequiresAction, "requires_action"},
                                            {chat::Status::Error, "error"}}};
constexpr Names<chat::Role, 4> kRoles{{{chat::Role::System, "system"},
                                       {chat::Role::User, "user"},
                                       {chat::Role::Assistant, "assistant"},
                                       {chat::Role::Tool, "tool"}}};
constexpr Names<chat::Visibility, 3> kVisibilities{
    {{chat::Visibility::User, "user"}, {chat::Visibility::Model, "model"}, {chat::Visibility::Both, "both"}}};

template <class Enum, std::size_t Size>
std::string_view name_in(const Names<Enum, Size>& names, Enum wanted) {
  for (const auto& [value, name] : names) {
    if (value == wanted) return name;
  }
  return names.back().second;
}

// CHECK constraints of the schema allow no other name.
template <class Enum, std::size_t Size>
Enum value_in(const Names<Enum, Size>& names, std::string_view wanted) {
  for (const auto& [value, name] : names) {
    if (name == wanted) return value;
  }
  return names.back().first;
}

template <class Id>
std::optional<Id> optional_id(const Rows& rows, std::size_t row, int column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return Id{rows.uuid(row, column)};
}

std::optional<std::string> optional_text(const Rows& rows, std::size_t row, int column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return std::string(rows.text(row, column));
}

std::optional<std::int64_t> optional_integer(const Rows& rows, std::size_t row, int column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return rows.integer(row, column);
}

auto corrupt(std::string message) { return fail(StoreError{StoreErrorKind::Corrupt, std::move(message), ""}); }

// --- JSON columns of a chat. Members that are absent or of the wrong kind read as empty: they are display data.

std::optional<json::Document> parse_column(std::string_view text) {
  auto document = json::Document::parse(std::string(text), json::kEnvelopeCaps);
  if (!document || !document->root().is(json::Kind::Object)) return std::nullopt;
  return std::move(*document);
}

std::string text_of(json::Value object, std::string_view name) {
  return std::string(json::string_member(object, name).value_or(std::string_view()));
}

std::optional<std::int64_t> integer_member(const json::Value& object, std::string_view name) {
  const auto member = object.find(name);
  if (!member || !member->is(json::Kind::Number)) return std::nullopt;
  const std::string_view literal = member->number();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(literal.data(), literal.data() + literal.size(), value);
  if (error != std::errc() || end != literal.data() + literal.size()) return std::nullopt;
  return value;
}

chat::ChatError read_error(const json::Value& object) {
  chat::ChatError error;
  error.message = text_of(object, "message");
  error.detail = text_of(object, "detail");
  error.kind = text_of(object, "kind");
  error.provider = text_of(object, "provider");
  const auto retryable = object.find("retryable");
  error.retryable = retryable && retryable->is(json::Kind::Boolean) && retryable->boolean();
  if (const auto code = integer_member(object, "status_code")) error.status_code = static_cast<int>(*code);
  return error;
}

void write_error(json::Writer& out, const chat::ChatError& error) {
  out.begin_object().member("message", error.message).member("retryable", error.retryable);
  if (!error.detail.empty()) out.member("detail", error.detail);
  if (!error.kind.empty()) out.member("kind", error.kind);
  if (!error.provider.empty()) out.member("provider", error.provider);
  if (error.status_code) out.member("status_code", *error.status_code);
  out.end_object();
}

bool read_json_columns(const Rows& rows, std::size_t row, chat::Chat& chat) {
  const auto labels = parse_column(rows.text(row, 9));
  if (!labels) return false;
  for (const json::Member& label : labels->root().members()) {
    if (!label.value.is(json::Kind::String)) return false;
    chat.labels.emplace(label.key, label.value.string());
  }
  if (!rows.is_null(row, 16)) {
    const auto error = parse_column(rows.text(row, 16));
    if (!error) return false;
    chat.last_error = read_error(error->root());
  }
  if (!rows.is_null(row, 17)) {
    const auto document = parse_column(rows.text(row, 17));
    if (!document) return false;
    const json::Value state = document->root();
    chat::RetryState retry;
    retry.attempt = integer_member(state, "attempt").value_or(0);
    retry.delay_ms = integer_member(state, "delay_ms").value_or(0);
    retry.retrying_at = WallTime(std::chrono::microseconds(integer_member(state, "retrying_at_us").value_or(0)));
    const auto error = state.find("error");
    if (error && error->is(json::Kind::Object)) retry.error = read_error(*error);
    chat.retry_state = std::move(retry);
  }
  return true;
}

// --- Rows on their way in.

template <class Tag>
void member(json::Writer& out, std::string_view name, const std::optional<UuidOf<Tag>>& id) {
  if (id) out.member(name, id->to_string());
}

void member(json::Writer& out, std::string_view name, const std::optional<std::string>& text) {
  if (text) out.member(name, *text);
}

void member(json::Writer& out, std::string_view name, const std::optional<std::int64_t>& number) {
  if (number) out.member(name, *number);
}

}  // namespace

Result<chat::Chat, StoreError> read_chat(const Rows& rows, std::size_t row) {
  chat::Chat chat;
  chat.id = ChatId{rows.uuid(row, 0)};
  chat.organization_id = OrganizationId{rows.uuid(row, 1)};
  chat.owner_id = UserId{rows.uuid(row, 2)};
  chat.parent_chat_id = optional_id<ChatId>(rows, row, 3);
  chat.root_chat_id = optional_id<ChatId>(rows, row, 4);
  chat.title = rows.text(row, 5);
  chat.mode = rows.text(row, 6);
  chat.plan_mode = rows.text(row, 7);
  chat.client_type = rows.text(row, 8);
  if (!read_json_columns(rows, row, chat)) {
    return corrupt(fmt::format("the row of chat {} does not decode", chat.id.to_string()));
  }
  chat.dynamic_tools = rows.text(row, 10);
  chat.last_model_config = ModelConfigId{rows.uuid(row, 11)};
  chat.reasoning_effort = optional_text(rows, row, 12);
  chat.status = value_in(kStatuses, rows.text(row, 13));
  chat.archived = rows.boolean(row, 14);
  chat.queue_length = rows.integer(row, 15);
  if (!rows.is_null(row, 18)) chat.requires_action_deadline = rows.instant(row, 18);
  chat.worker_id = optional_id<ReplicaId>(rows, row, 19);
  chat.runner_id = optional_id<RunnerId>(rows, row, 20);
  chat.snapshot_version = rows.integer(row, 21);
  chat.history_version = rows.integer(row, 22);
  chat.queue_version = rows.integer(row, 23);
  chat.retry_state_version = rows.integer(row, 24);
  chat.generation_attempt = rows.integer(row, 25);
  chat.last_read_message_id = rows.integer(row, 26);
  chat.last_message_id = rows.integer(row, 27);
  chat.created_at = rows.instant(row, 28);
  chat.updated_at = rows.instant(row, 29);
  chat.compaction_due = rows.boolean(row, 30);
  return chat;
}

Result<chat::Message, StoreError> read_message(const Rows& rows, std::size_t row, ChatId chat) {
  chat::Message message;
  message.id = rows.integer(row, 0);
  message.chat_id = chat;
  message.role = value_in(kRoles, rows.text(row, 1));
  message.visibility = value_in(kVisibilities, rows.text(row, 2));
  auto content = chat::decode_content(rows.text(row, 3));
  if (content) {
    message.content = std::move(*content);
  } else {
    message.corruption = std::move(content.error());
  }
  message.created_by = optional_id<UserId>(rows, row, 4);
  message.model_config = optional_id<ModelConfigId>(rows, row, 5);
  message.reasoning_effort = optional_text(rows, row, 6);
  message.usage.input_tokens = optional_integer(rows, row, 7);
  message.usage.output_tokens = optional_integer(rows, row, 8);
  message.usage.total_tokens = optional_integer(rows, row, 9);
  message.usage.reasoning_tokens = optional_integer(rows, row, 10);
  message.usage.cache_creation_tokens = optional_integer(rows, row, 11);
  message.usage.cache_read_tokens = optional_integer(rows, row, 12);
  message.usage.context_limit = optional_integer(rows, row, 13);
  message.compressed = rows.boolean(row, 14);
  message.deleted = rows.boolean(row, 15);
  message.revision = rows.integer(row, 16);
  message.created_at = rows.instant(row, 17);
  return message;
}

Result<chat::QueuedMessage, StoreError> read_queued_message(const Rows& rows, std::size_t row, ChatId chat) {
  chat::QueuedMessage message;
  message.id = rows.integer(row, 0);
  message.chat_id = chat;
  message.position = rows.integer(row, 1);
  auto content = chat::decode_content(rows.text(row, 2));
  if (content) {
    message.content = std::move(*content);
  } else {
    message.corruption = std::move(content.error());
  }
  message.model_config = optional_id<ModelConfigId>(rows, row, 3);
  message.reasoning_effort = optional_text(rows, row, 4);
  message.created_by = UserId{rows.uuid(row, 5)};
  message.created_at = rows.instant(row, 6);
  return message;
}

Result<std::vector<chat::Message>, StoreError> read_messages(const Rows& rows, ChatId chat) {
  std::vector<chat::Message> messages;
  messages.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    auto message = read_message(rows, row, chat);
    if (!message) return fail(std::move(message).error());
    messages.push_back(std::move(*message));
  }
  return messages;
}

Result<std::vector<chat::QueuedMessage>, StoreError> read_queue(const Rows& rows, ChatId chat) {
  std::vector<chat::QueuedMessage> queue;
  queue.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    auto message = read_queued_message(rows, row, chat);
    if (!message) return fail(std::move(message).error());
    queue.push_back(std::move(*message));
  }
  return queue;
}

std::string messages_json(std::span<const chat::NewMessage> messages, std::int64_t first_id) {
  json::Writer out;
  out.begin_array();
  for (const chat::NewMessage& message : messages) {
    out.begin_object().member("id", first_id++);
    out.member("role", name_in(kRoles, message.role)).member("visibility", name_in(kVisibilities, message.visibility));
    out.raw_member("content", chat::encode_content(message.content));
    member(out, "created_by", message.created_by);
    member(out, "model_config_id", message.model_config);
    member(out, "reasoning_effort", message.reasoning_effort);
    member(out, "input_tokens", message.usage.input_tokens);
    member(out, "output_tokens", message.usage.output_tokens);
    member(out, "total_tokens", message.usage.total_tokens);
    member(out, "reasoning_tokens", message.usage.reasoning_tokens);
    member(out, "cache_creation_tokens", message.usage.cache_creation_tokens);
    member(out, "cache_read_tokens", message.usage.cache_read_tokens);
    member(out, "context_limit", message.usage.context_limit);
    out.member("compressed", message.compressed).end_object();
  }
  out.end_array();
  return out.take();
}

std::string queued_messages_json(std::span<const chat::EnqueueMessage> messages, std::int64_t first_id) {
  json::Writer out;
  out.begin_array();
  for (const chat::EnqueueMessage& message : messages) {
    out.begin_object().member("id", first_id++);
    out.raw_member("content", chat::encode_content(message.content));
    member(out, "model_config_id", message.model_config);
    member(out, "reasoning_effort", message.reasoning_effort);
    out.member("created_by", message.created_by.to_string()).end_object();
  }
  out.end_array();
  return out.take();
}

std::string labels_json(const std::map<std::string, std::string>& labels) {
  json::Writer out;
  out.begin_object();
  for (const auto& [name, value] : labels) out.member(name, value);
  out.end_object();
  return out.take();
}

std::string error_json(const chat::ChatError& error) {
  json::Writer out;
  write_error(out, error);
  return out.take();
}

std::string retry_state_json(const chat::RetryState& state) {
  json::Writer out;
  out.begin_object().member("attempt", state.attempt).member("delay_ms", state.delay_ms);
  out.member("retrying_at_us", static_cast<std::int64_t>(state.retrying_at.time_since_epoch().count()));
  out.key("error");
  write_error(out, state.error);
  out.end_object();
  return out.take();
}

}  // namespace assay::store

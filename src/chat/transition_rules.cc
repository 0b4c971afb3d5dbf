#include "chat/transition_rules.h"

#include <algorithm>
#include <utility>

#include "chat/turn.h"
#include "structured/request_state.h"

namespace assay::chat {

std::optional<Refusal> check_table(const Chat& chat, Transition transition) {
  const State from = state_of(chat);
  if (is_allowed(transition, from)) return std::nullopt;
  return refuse(from, transition);
}

std::optional<Refusal> check_fence(const Chat& chat, const Fence& fence, Transition transition) {
  if (chat.runner_id != fence.runner_id || chat.history_version != fence.history_version ||
      chat.status != fence.status || chat.generation_attempt != fence.generation_attempt) {
    return Refusal{.kind = RefusalKind::Stale, .message = "the chat moved on", .field = {}};
  }
  return check_table(chat, transition);
}

std::optional<Refusal> check_format_mode(std::string_view mode, std::string_view plan_mode) {
  if (!plan_mode.empty()) {
    return Refusal{
        .kind = RefusalKind::InvalidInput, .message = "is not available in plan mode", .field = "response_format"};
  }
  if (!mode.empty()) {
    return Refusal{.kind = RefusalKind::InvalidInput,
                   .message = "is not available in a specialised child chat",
                   .field = "response_format"};
  }
  return std::nullopt;
}

void cancel_calls(const LockedChat& locked, std::string_view text, Effects& effects) {
  for (const ToolCallPart& call : outstanding_calls(locked.history, effects.insert)) {
    effects.insert.push_back(result_row(call, text, true));
  }
}

bool is_closed(const LockedChat& locked, RequestId id) {
  return std::ranges::find(locked.closed_requests, id) != locked.closed_requests.end();
}

void add_receipt(const LockedChat& locked, const structured::OutcomePart& outcome, Effects& effects) {
  if (!is_closed(locked, outcome.request_id)) effects.insert.push_back(receipt_row(outcome));
}

void insert_user_message(const Chat& chat, const UserInput& input, Effects& effects) {
  NewMessage row;
  row.role = Role::User;
  row.visibility = Visibility::Both;
  row.content = input.content;
  row.created_by = input.created_by;
  row.model_config = input.model_config ? *input.model_config : chat.last_model_config;
  row.reasoning_effort = input.reasoning_effort ? input.reasoning_effort : chat.reasoning_effort;
  effects.insert.push_back(std::move(row));
  if (input.model_config) effects.last_model_config = input.model_config;
  if (input.reasoning_effort) effects.reasoning_effort = input.reasoning_effort;
}

void promote(const LockedChat& locked, const QueuedMessage& message, Effects& effects) {
  cancel_calls(locked, kByPromotion, effects);
  insert_user_message(locked.chat,
                      UserInput{.content = message.content,
                                .created_by = message.created_by,
                                .model_config = message.model_config,
                                .reasoning_effort = message.reasoning_effort},
                      effects);
  effects.dequeue.push_back(message.id);
}

ChatError unreadable_message() {
  ChatError error;
  error.message = "The next message of the queue cannot be read. Delete it to go on.";
  error.kind = "config";
  return error;
}

std::optional<RequestId> owed_request(std::span<const Message> history) {
  const auto active = structured::active_request(row_views(history));
  if (!active) return active.error().request_id;
  if (!*active) return std::nullopt;
  return (*active)->request.request_id;
}

std::optional<RequestId> request_id_of(const Content& content,
                                       const std::optional<structured::Corruption>& corruption) {
  if (const structured::RequestPart* request = request_of(content)) return request->request_id;
  if (corruption) return corruption->request_id;
  return std::nullopt;
}

void enter_error(const Chat& chat, const ChatError& error, Effects& effects) {
  effects.status = Status::Error;
  effects.last_error = std::optional(error);
  effects.release_ownership = true;
  drop_work(chat, effects);
}

void drop_work(const Chat& chat, Effects& effects) {
  effects.retry_state = std::optional<RetryState>();
  if (chat.status == Status::RequiresAction) effects.clear_requires_action_deadline = true;
  if (chat.compaction_due) effects.compaction_due = false;
}

}  // namespace assay::chat

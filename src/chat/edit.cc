#include "chat/edit.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "chat/rows.h"
#include "chat/state.h"
#include "chat/transition_rules.h"
#include "chat/turn.h"
#include "structured/outcome.h"
#include "structured/request_state.h"
#include "structured/step_judgement.h"

namespace assay::chat {

namespace {

constexpr const char* kFormatField = "response_format";

// Requests of the rows that go and of the queue that have no receipt yet, in order.
std::vector<RequestId> owed_requests(const LockedChat& locked, std::int64_t from) {
  std::vector<RequestId> owed;
  const auto add = [&](const Content& content, const std::optional<structured::Corruption>& corruption) {
    const auto id = request_id_of(content, corruption);
    if (id && !is_closed(locked, *id) && std::ranges::find(owed, *id) == owed.end()) owed.push_back(*id);
  };
  for (const Message& message : locked.history) {
    if (message.id >= from) add(message.content, message.corruption);
  }
  for (const QueuedMessage& message : locked.queue) add(message.content, message.corruption);
  return owed;
}

bool is_input(const Message& message) { return structured::is_input_row(row_views(std::span(&message, 1)).front()); }

// The part that makes the replacement a structured request; nothing: ordinary text.
Result<std::optional<structured::RequestPart>, Refusal> choose_format(const EditedFormat& format,
                                                                      const Message& target) {
  if (std::holds_alternative<ClearFormat>(format)) return std::nullopt;
  if (const auto* part = std::get_if<structured::RequestPart>(&format)) return *part;
  const auto& keep = std::get<KeepFormat>(format);
  if (target.corruption) {
    return refused(RefusalKind::InvalidInput,
                   "cannot be kept: the edited message cannot be read. Say which format the new one has", kFormatField);
  }
  const structured::RequestPart* own = request_of(target.content);
  if (own == nullptr) return std::nullopt;
  if (!keep.is_admitted) {
    return refused(RefusalKind::InvalidInput,
                   "the edited message has a schema, and structured output is disabled on this server: it needs the "
                   "experiment chat-structured-output. Send {\"type\":\"text\"} to go on without it",
                   kFormatField);
  }
  if (!structured::preflight(*own, structured::Offer{.other_tools = {}, .strict_forced = false})) {
    return refused(RefusalKind::InvalidInput,
                   "the edited message's schema is not accepted any more: send another one, or {\"type\":\"text\"}",
                   kFormatField);
  }
  structured::RequestPart kept = *own;
  kept.request_id = keep.request_id;
  return kept;
}

NewMessage replacement(const EditMessage& input, const Message& target, const Chat& chat,
                       std::optional<structured::RequestPart> request) {
  NewMessage row;
  row.role = Role::User;
  row.visibility = Visibility::Both;
  row.content = input.content;
  if (request) row.content.emplace_back(std::move(*request));
  row.created_by = input.created_by;
  row.model_config = input.model_config ? input.model_config : target.model_config;
  if (!row.model_config) row.model_config = chat.last_model_config;
  row.reasoning_effort = input.reasoning_effort ? input.reasoning_effort : target.reasoning_effort;
  return row;
}

}  // namespace

ReadPlan reads_of(const EditMessage& input) {
  ReadPlan reads;
  reads.queue = true;
  reads.suffix_of = input.message_id;
  reads.all_outcomes = true;
  return reads;
}

Decision decide(const LockedChat& locked, const EditMessage& input) {
  if (auto refusal = check_table(locked.chat, Transition::EditMessage)) return fail(std::move(*refusal));
  if (input.content.empty()) return refused(RefusalKind::InvalidInput, "must not be empty", "content");
  const auto target = std::ranges::find(locked.history, input.message_id, &Message::id);
  if (target == locked.history.end() || target->visibility == Visibility::Model) {
    return refused(RefusalKind::NotFound, "There is no such message in this chat.");
  }
  if (!is_input(*target)) return refused(RefusalKind::InvalidInput, "Only a user's message can be edited.");
  auto request = choose_format(input.format, *target);
  if (!request) return fail(std::move(request.error()));
  if (*request) {
    if (auto refusal = check_format_mode(locked.chat.mode, locked.chat.plan_mode)) return fail(std::move(*refusal));
  }

  Effects effects;
  effects.mark_read = true;
  for (const Message& message : std::span(target, locked.history.end())) effects.delete_messages.push_back(message.id);
  for (const QueuedMessage& message : locked.queue) effects.dequeue.push_back(message.id);
  const std::span<const Message> kept(locked.history.begin(), target);
  for (const ToolCallPart& call : outstanding_calls(kept)) effects.insert.push_back(result_row(call, kByEdit, true));
  for (const RequestId& id : owed_requests(locked, input.message_id)) {
    effects.insert.push_back(receipt_row(structured::ended(id, structured::OutcomeCode::Superseded)));
  }
  effects.insert.push_back(replacement(input, *target, locked.chat, std::move(*request)));
  const NewMessage& row = effects.insert.back();
  if (row.model_config != locked.chat.last_model_config) effects.last_model_config = row.model_config;
  if (row.reasoning_effort != locked.chat.reasoning_effort) effects.reasoning_effort = row.reasoning_effort;
  effects.status = Status::Running;
  if (locked.chat.status == Status::Error) effects.last_error = std::optional<ChatError>();
  drop_work(locked.chat, effects);
  return effects;
}

}  // namespace assay::chat

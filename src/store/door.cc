#include "store/door.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "chat/state.h"
#include "store/rows.h"
#include "store/statements.h"

namespace assay::store {

namespace {

Params update_params(const chat::Effects& effects, const chat::Chat& chat, std::int64_t last_queued_id) {
  Params params;
  params.uuid(chat.id);
  effects.status ? params.text(name_of(*effects.status)) : params.null();
  params.boolean(effects.archived);
  params.boolean(effects.last_error.has_value());
  effects.last_error && *effects.last_error ? params.json(error_json(**effects.last_error)) : params.null();
  params.boolean(effects.retry_state.has_value());
  effects.retry_state && *effects.retry_state ? params.json(retry_state_json(**effects.retry_state)) : params.null();
  params.integer(effects.generation_attempt);
  params.boolean(effects.clear_requires_action_deadline);
  params.integer(effects.requires_action_after_ms);
  params.boolean(effects.release_ownership);
  params.text(effects.title);
  effects.labels ? params.json(labels_json(*effects.labels)) : params.null();
  params.text(effects.plan_mode);
  params.uuid(effects.last_model_config);
  params.boolean(effects.reasoning_effort.has_value());
  params.text(effects.reasoning_effort.value_or(std::nullopt));
  params.integer(chat.last_message_id + static_cast<std::int64_t>(effects.insert.size()));
  params.integer(last_queued_id + static_cast<std::int64_t>(effects.enqueue.size()));
  params.boolean(effects.compaction_due).boolean(effects.mark_read);
  return params;
}

// The row of an answer that holds `id`; rows come in the order of insertion, but nothing promises that.
std::optional<std::size_t> row_of(const Rows& rows, std::int64_t id, std::size_t guess) {
  if (guess < rows.size() && rows.integer(guess, 0) == id) return guess;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows.integer(row, 0) == id) return row;
  }
  return std::nullopt;
}

chat::Message inserted_message(chat::NewMessage from, const Rows& rows, std::size_t row, ChatId chat) {
  chat::Message message;
  message.id = rows.integer(row, 0);
  message.chat_id = chat;
  message.role = from.role;
  message.visibility = from.visibility;
  message.content = std::move(from.content);
  message.created_by = from.created_by;
  message.model_config = from.model_config;
  message.reasoning_effort = std::move(from.reasoning_effort);
  message.usage = from.usage;
  message.compressed = from.compressed;
  message.revision = rows.integer(row, 1);
  message.created_at = rows.instant(row, 2);
  return message;
}

chat::QueuedMessage queued_message(chat::EnqueueMessage from, const Rows& rows, std::size_t row, ChatId chat) {
  chat::QueuedMessage message;
  message.id = rows.integer(row, 0);
  message.chat_id = chat;
  message.position = rows.integer(row, 1);
  message.content = std::move(from.content);
  message.model_config = from.model_config;
  message.reasoning_effort = std::move(from.reasoning_effort);
  message.created_by = from.created_by;
  message.created_at = rows.instant(row, 2);
  return message;
}

bool reads_history(const chat::ReadPlan& plan) { return plan.history || plan.open_step || plan.suffix_of; }

bool reads_outcomes(const chat::ReadPlan& plan) { return plan.all_outcomes || !plan.outcomes_of.empty(); }

}  // namespace

WritePlan queue_effects(Connection& connection, const chat::Effects& effects, const chat::Chat& chat,
                        std::int64_t last_queued_id) {
  WritePlan plan;
  std::size_t index = 0;
  if (!effects.delete_messages.empty()) {
    connection.queue(statements::kDeleteMessages, Params().uuid(chat.id).integers(effects.delete_messages));
    plan.deleted = index++;
  }
  if (!effects.dequeue.empty()) {
    connection.queue(statements::kDequeue, Params().uuid(chat.id).integers(effects.dequeue));
    ++index;
  }
  if (!effects.insert.empty()) {
    const std::string rows = messages_json(effects.insert, chat.last_message_id + 1);
    connection.queue(statements::kInsertMessages, Params().uuid(chat.id).json(rows));
    plan.inserted = index++;
  }
  if (!effects.enqueue.empty()) {
    const std::string rows = queued_messages_json(effects.enqueue, last_queued_id + 1);
    connection.queue(statements::kEnqueue, Params().uuid(chat.id).json(rows).integer(last_queued_id));
    plan.enqueued = index++;
  }
  if (!effects.queue_order.empty()) {
    connection.queue(statements::kReorderQueue, Params().uuid(chat.id).integers(effects.queue_order));
    ++index;
  }
  connection.queue(statements::kUpdateChat, update_params(effects, chat, last_queued_id));
  plan.updated = index;
  return plan;
}

Result<Committed, StoreError> read_committed(const std::vector<Rows>& answers, const WritePlan& plan,
                                             chat::Effects effects, ChatId chat) {
  Committed committed;
  auto row = read_chat(answers[plan.updated], 0);
  if (!row) return fail(std::move(row).error());
  committed.chat = std::move(*row);
  if (plan.deleted) {
    const Rows& rows = answers[*plan.deleted];
    for (std::size_t index = 0; index < rows.size(); ++index) {
      if (rows.boolean(index, 1)) committed.deleted.push_back(rows.integer(index, 0));
    }
    std::ranges::sort(committed.deleted);
  }
  if (plan.inserted) {
    const Rows& rows = answers[*plan.inserted];
    std::int64_t id = committed.chat.last_message_id - static_cast<std::int64_t>(effects.insert.size());
    for (std::size_t index = 0; index < effects.insert.size(); ++index) {
      const auto at = row_of(rows, ++id, index);
      if (at) committed.inserted.push_back(inserted_message(std::move(effects.insert[index]), rows, *at, chat));
    }
  }
  if (plan.enqueued) {
    const Rows& rows = answers[*plan.enqueued];
    for (std::size_t index = 0; index < rows.size() && index < effects.enqueue.size(); ++index) {
      committed.enqueued.push_back(queued_message(std::move(effects.enqueue[index]), rows, index, chat));
    }
  }
  return committed;
}

void queue_reads(Connection& connection, ChatId chat, const chat::ReadPlan& plan) {
  if (plan.queue) connection.queue(statements::kQueue, Params().uuid(chat));
  if (plan.history) {
    connection.queue(statements::kHistory, Params().uuid(chat));
  } else if (reads_history(plan)) {
    const std::int64_t before = plan.suffix_of.value_or(std::numeric_limits<std::int64_t>::max());
    connection.queue(statements::kOpenStep, Params().uuid(chat).integer(before));
  }
  if (plan.all_outcomes) {
    connection.queue(statements::kAllClosedRequests, Params().uuid(chat));
  } else if (reads_outcomes(plan)) {
    std::vector<Uuid> ids;
    for (const RequestId& id : plan.outcomes_of) ids.push_back(id.value);
    connection.queue(statements::kClosedRequests, Params().uuid(chat).uuids(ids));
  }
}

Result<void, StoreError> read_plan(const std::vector<Rows>& answers, std::size_t first, const chat::ReadPlan& plan,
                                   chat::LockedChat& locked) {
  const ChatId chat = locked.chat.id;
  if (plan.queue) {
    auto queue = read_queue(answers[first++], chat);
    if (!queue) return fail(std::move(queue).error());
    locked.queue = std::move(*queue);
  }
  if (reads_history(plan)) {
    auto history = read_messages(answers[first++], chat);
    if (!history) return fail(std::move(history).error());
    locked.history = std::move(*history);
  }
  if (reads_outcomes(plan)) {
    const Rows& rows = answers[first];
    for (std::size_t row = 0; row < rows.size(); ++row) {
      locked.closed_requests.push_back(RequestId{rows.uuid(row, 0)});
    }
  }
  return {};
}

}  // namespace assay::store

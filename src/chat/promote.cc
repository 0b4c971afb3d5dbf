#include "chat/promote.h"

#include <algorithm>

#include "chat/transition_rules.h"
#include "structured/outcome.h"

namespace assay::chat {

namespace {

void move_to_head(const LockedChat& locked, std::int64_t id, Effects& effects) {
  if (locked.queue.front().id == id) return;
  effects.queue_order.push_back(id);
  for (const QueuedMessage& message : locked.queue) {
    if (message.id != id) effects.queue_order.push_back(message.id);
  }
}

}  // namespace

ReadPlan reads_of(const PromoteQueuedMessage&) {
  ReadPlan reads;
  reads.queue = true;
  reads.history = true;
  reads.all_outcomes = true;
  return reads;
}

Decision decide(const LockedChat& locked, const PromoteQueuedMessage& input) {
  const auto found = std::ranges::find(locked.queue, input.queue_id, &QueuedMessage::id);
  if (found == locked.queue.end()) return refused(RefusalKind::NotFound, "There is no such message in the queue.");
  if (auto refusal = check_table(locked.chat, Transition::PromoteQueuedMessage)) return fail(std::move(*refusal));
  Effects effects;
  const Status status = locked.chat.status;
  if (status == Status::Running || status == Status::Interrupting) {
    move_to_head(locked, input.queue_id, effects);
    if (status == Status::Running) {
      effects.status = Status::Interrupting;
      effects.retry_state = std::optional<RetryState>();
    }
    return effects;
  }
  if (found->corruption) return refused(RefusalKind::Conflict, unreadable_message().message);
  cancel_calls(locked, kByPromotion, effects);
  if (status == Status::RequiresAction) {
    if (const auto owed = owed_request(locked.history)) {
      add_receipt(locked, structured::ended(*owed, structured::OutcomeCode::Interrupted), effects);
    }
  }
  promote(locked, *found, effects);
  effects.status = Status::Running;
  if (status == Status::Error) effects.last_error = std::optional<ChatError>();
  drop_work(locked.chat, effects);
  return effects;
}

}  // namespace assay::chat

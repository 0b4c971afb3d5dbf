#include "chat/transitions.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "chat/transition_rules.h"
#include "chat/turn.h"
#include "structured/outcome.h"
#include "structured/request_state.h"

namespace assay::chat {

namespace {

// Where a turn ends well: on to the head of the queue, or to rest.
void rest_or_promote(const LockedChat& locked, Effects& effects) {
  if (!locked.queue.empty() && locked.queue.front().corruption) {
    return enter_error(locked.chat, unreadable_message(), effects);
  }
  drop_work(locked.chat, effects);
  if (!locked.queue.empty()) {
    promote(locked, locked.queue.front(), effects);
    effects.status = Status::Running;
    return;
  }
  effects.status = Status::Waiting;
  effects.release_ownership = true;
}

void enqueue(const SendMessage& input, Effects& effects) {
  effects.enqueue.push_back(EnqueueMessage{.content = input.content,
                                           .model_config = input.model_config,
                                           .reasoning_effort = input.reasoning_effort,
                                           .created_by = input.created_by});
}

bool owes_structured_work(const LockedChat& locked) {
  const auto active = structured::active_request(row_views(locked.history));
  const bool queued = std::any_of(locked.queue.begin(), locked.queue.end(), [](const QueuedMessage& message) {
    return request_of(message.content) != nullptr || message.corruption.has_value();
  });
  return queued || !active || active->has_value();
}

// A switch into plan mode; `mode` empty: none is asked for.
std::optional<Refusal> check_plan_switch(const LockedChat& locked, const std::optional<std::string>& mode) {
  if (!mode || mode->empty() || !owes_structured_work(locked)) return std::nullopt;
  return Refusal{.kind = RefusalKind::Conflict,
                 .message = "Plan mode cannot be entered while a structured request is active or queued.",
                 .field = {}};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<RequestId> ids_of(const std::optional<structured::OutcomePart>& receipt) {
  if (!receipt) return {};
  return {receipt->request_id};
}

}  // namespace

Result<NewChat, Refusal> create(const CreateChat& input) {
  if (input.content.empty()) return refused(RefusalKind::InvalidInput, "content must not be empty");
  if (request_of(input.content) != nullptr) {
    if (auto refusal = check_format_mode({}, input.plan_mode)) return fail(std::move(*refusal));
  }
  NewChat created;
  Chat& chat = created.chat;
  chat.id = input.id;
  chat.organization_id = input.organization_id;
  chat.owner_id = input.owner_id;
  chat.title = input.title;
  chat.client_type = input.client_type;
  chat.plan_mode = input.plan_mode;
  chat.labels = input.labels;
  chat.dynamic_tools = input.dynamic_tools;
  chat.last_model_config = input.model_config;
  chat.reasoning_effort = input.reasoning_effort;
  chat.status = Status::Running;

  if (!input.system_prompt.empty()) {
    created.messages.push_back(text_row(Role::System, Visibility::Model, input.system_prompt));
  }
  NewMessage user;
  user.role = Role::User;
  user.content = input.content;
  user.created_by = input.owner_id;
  user.model_config = input.model_config;
  user.reasoning_effort = input.reasoning_effort;
  created.messages.push_back(std::move(user));
  return created;
}

ReadPlan reads_of(const SendMessage& input) {
  ReadPlan reads;
  reads.queue = true;
  reads.open_step = true;
  reads.history = input.plan_mode && !input.plan_mode->empty();
  return reads;
}

Decision decide(const LockedChat& locked, const SendMessage& input) {
  const bool interrupts = input.busy_behavior == BusyBehavior::Interrupt;
  if (auto refusal =
          check_table(locked.chat, interrupts ? Transition::SendMessageInterrupt : Transition::SendMessageQueue)) {
    return fail(std::move(*refusal));
  }
  if (input.content.empty()) return refused(RefusalKind::InvalidInput, "content must not be empty");
  if (request_of(input.content) != nullptr) {
    const std::string& plan_mode = input.plan_mode ? *input.plan_mode : locked.chat.plan_mode;
    if (auto refusal = check_format_mode(locked.chat.mode, plan_mode)) return fail(std::move(*refusal));
  }
  if (auto refusal = check_plan_switch(locked, input.plan_mode)) return fail(std::move(*refusal));

  Effects effects;
  effects.mark_read = true;
  if (input.plan_mode && *input.plan_mode != locked.chat.plan_mode) effects.plan_mode = input.plan_mode;
  const Status status = locked.chat.status;
  const bool idle = status == Status::Waiting || status == Status::Error;
  if (status == Status::Error) effects.last_error = std::optional<ChatError>();
  if (idle) effects.status = Status::Running;
  if (idle && locked.queue.empty()) {
    cancel_calls(locked, kByUserMessage, effects);
    insert_user_message(locked.chat,
                        UserInput{.content = input.content,
                                  .created_by = input.created_by,
                                  .model_config = input.model_config,
                                  .reasoning_effort = input.reasoning_effort},
                        effects);
    return effects;
  }
  if (idle && locked.queue.front().corruption) return refused(RefusalKind::Conflict, unreadable_message().message);
  if (!idle && locked.queue.size() >= kQueueMax) {
    return refused(RefusalKind::QueueFull, "the queue holds 20 messages already");
  }
  enqueue(input, effects);
  if (idle) {
    promote(locked, locked.queue.front(), effects);
  } else if (interrupts && status == Status::Running) {
    effects.status = Status::Interrupting;
  } else if (interrupts && status == Status::RequiresAction) {
    cancel_calls(locked, kByUserMessage, effects);
    effects.status = Status::Running;
    effects.clear_requires_action_deadline = true;
  }
  return effects;
}

ReadPlan reads_of(const DeleteQueuedMessage&) {
  ReadPlan reads;
  reads.queue = true;
  return reads;
}

// A queued request cannot have an outcome: whatever writes one removes the queue's row in the same transaction.
Decision decide(const LockedChat& locked, const DeleteQueuedMessage& input) {
  const auto found = std::find_if(locked.queue.begin(), locked.queue.end(),
                                  [&](const QueuedMessage& message) { return message.id == input.queue_id; });
  if (found == locked.queue.end()) return refused(RefusalKind::NotFound, "no such message in the queue");
  if (auto refusal = check_table(locked.chat, Transition::DeleteQueuedMessage)) return fail(std::move(*refusal));
  Effects effects;
  effects.dequeue.push_back(input.queue_id);
  if (const auto owed = request_id_of(found->content, found->corruption)) {
    add_receipt(locked, structured::ended(*owed, structured::OutcomeCode::QueueDeleted), effects);
  }
  return effects;
}

ReadPlan reads_of(const Interrupt&) {
  ReadPlan reads;
  reads.open_step = true;
  return reads;
}

Decision decide(const LockedChat& locked, const Interrupt&) {
  if (auto refusal = check_table(locked.chat, Transition::Interrupt)) return fail(std::move(*refusal));
  Effects effects;
  if (locked.chat.status == Status::Running) {
    effects.status = Status::Interrupting;
    effects.retry_state = std::optional<RetryState>();
    return effects;
  }
  cancel_calls(locked, kByInterrupt, effects);
  effects.status = Status::Running;
  effects.clear_requires_action_deadline = true;
  return effects;
}

ReadPlan reads_of(const SetArchived&) { return {}; }

Decision decide(const LockedChat& locked, const SetArchived& input) {
  if (locked.chat.archived == input.archived) {
    return refused(RefusalKind::InvalidInput,
                   input.archived ? "the chat is already archived" : "the chat is not archived");
  }
  if (auto refusal = check_table(locked.chat, Transition::SetArchived)) return fail(std::move(*refusal));
  Effects effects;
  effects.archived = input.archived;
  return effects;
}

ReadPlan reads_of(const SetTitle&) { return {}; }

Decision decide(const LockedChat& locked, const SetTitle& input) {
  const std::string_view title = trimmed(input.title);
  if (title.empty() || code_points(title) > kTitleCodePointsMax) {
    return refused(RefusalKind::InvalidInput, "title must have 1 to 200 characters");
  }
  Effects effects;
  if (title != locked.chat.title) effects.title = std::string(title);
  return effects;
}

ReadPlan reads_of(const SetLabels&) { return {}; }

Decision decide(const LockedChat& locked, const SetLabels& input) {
  Effects effects;
  if (input.labels != locked.chat.labels) effects.labels = input.labels;
  return effects;
}

ReadPlan reads_of(const SetPlanMode& input) {
  ReadPlan reads;
  reads.queue = !input.plan_mode.empty();
  reads.history = !input.plan_mode.empty();
  return reads;
}

Decision decide(const LockedChat& locked, const SetPlanMode& input) {
  if (auto refusal = check_plan_switch(locked, input.plan_mode)) return fail(std::move(*refusal));
  Effects effects;
  if (input.plan_mode != locked.chat.plan_mode) effects.plan_mode = input.plan_mode;
  return effects;
}

ReadPlan reads_of(const ReconcileInvalidState&) {
  ReadPlan reads;
  reads.queue = true;
  reads.history = true;
  return reads;
}

Decision decide(const LockedChat& locked, const ReconcileInvalidState&) {
  if (auto refusal = check_table(locked.chat, Transition::ReconcileInvalidState)) return fail(std::move(*refusal));
  Effects effects;
  cancel_calls(locked, kByReconcile, effects);
  if (const auto owed = owed_request(locked.history)) {
    add_receipt(locked,
                structured::ended(*owed, structured::OutcomeCode::GenerationFailed,
                                  "The chat's state was not valid and had to be repaired."),
                effects);
  }
  ChatError error;
  error.message = "The chat's state was not valid and was repaired.";
  error.kind = "generic";
  enter_error(locked.chat, error, effects);
  if (locked.chat.archived) effects.archived = false;
  effects.clear_requires_action_deadline = true;
  return effects;
}

Fence fence_of(const Chat& chat, RunnerId runner_id) {
  return Fence{.runner_id = runner_id,
               .history_version = chat.history_version,
               .status = chat.status,
               .generation_attempt = chat.generation_attempt};
}

ReadPlan reads_of(const RecordGenerationAttempt&) { return {}; }

Decision decide(const LockedChat& locked, const RecordGenerationAttempt& input) {
  if (auto refusal = check_fence(locked.chat, input.fence, Transition::RecordGenerationAttempt)) {
    return fail(std::move(*refusal));
  }
  Effects effects;
  effects.generation_attempt = locked.chat.generation_attempt + 1;
  return effects;
}

ReadPlan reads_of(const RecordRetryState&) { return {}; }

Decision decide(const LockedChat& locked, const RecordRetryState& input) {
  if (auto refusal = check_fence(locked.chat, input.fence, Transition::RecordRetryState)) {
    return fail(std::move(*refusal));
  }
  Effects effects;
  effects.retry_state = std::optional(input.retry_state);
  return effects;
}

ReadPlan reads_of(const CommitStep&) { return {}; }

Decision decide(const LockedChat& locked, const CommitStep& input) {
  if (auto refusal = check_fence(locked.chat, input.fence, Transition::CommitStep)) return fail(std::move(*refusal));
  Effects effects;
  effects.insert = input.rows;
  return effects;
}

ReadPlan reads_of(const FinishTurn& input) {
  ReadPlan reads;
  reads.queue = true;
  reads.open_step = true;
  reads.outcomes_of = ids_of(input.receipt);
  return reads;
}

Decision decide(const LockedChat& locked, const FinishTurn& input) {
  if (auto refusal = check_fence(locked.chat, input.fence, Transition::FinishTurn)) return fail(std::move(*refusal));
  Effects effects;
  effects.insert = input.rows;
  if (input.receipt) add_receipt(locked, *input.receipt, effects);
  rest_or_promote(locked, effects);
  return effects;
}

ReadPlan reads_of(const FinishError& input) {
  ReadPlan reads;
  reads.open_step = true;
  reads.outcomes_of = ids_of(input.receipt);
  return reads;
}

Decision decide(const LockedChat& locked, const FinishError& input) {
  if (auto refusal = check_fence(locked.chat, input.fence, Transition::FinishError)) return fail(std::move(*refusal));
  Effects effects;
  effects.insert = input.rows;
  cancel_calls(locked, kByError, effects);
  if (input.receipt) add_receipt(locked, *input.receipt, effects);
  enter_error(locked.chat, input.error, effects);
  return effects;
}

ReadPlan reads_of(const FinishInterruption& input) {
  ReadPlan reads;
  reads.queue = true;
  reads.open_step = true;
  reads.outcomes_of = ids_of(input.receipt);
  return reads;
}

Decision decide(const LockedChat& locked, const FinishInterruption& input) {
  if (auto refusal = check_fence(locked.chat, input.fence, Transition::FinishInterruption)) {
    return fail(std::move(*refusal));
  }
  Effects effects;
  effects.insert = input.rows;
  cancel_calls(locked, kByInterrupt, effects);
  if (input.receipt) add_receipt(locked, *input.receipt, effects);
  rest_or_promote(locked, effects);
  return effects;
}

}  // namespace assay::chat

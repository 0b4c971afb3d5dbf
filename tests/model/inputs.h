#pragma once
// Every transition that a walk or a search knows how to apply. A new one joins here by one line of the variant and one
// overload of transition_of.
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "chat/context.h"
#include "chat/edit.h"
#include "chat/memory_chat.h"
#include "chat/promote.h"
#include "chat/requires_action.h"
#include "chat/state.h"
#include "chat/step_plan.h"
#include "chat/transitions.h"

namespace assay::model {

using Input = std::variant<chat::SendMessage, chat::EditMessage, chat::DeleteQueuedMessage, chat::PromoteQueuedMessage,
                           chat::RequestCompaction, chat::ClearContext, chat::Interrupt, chat::SetArchived,
                           chat::SetTitle, chat::RecordGenerationAttempt, chat::RecordRetryState, chat::CommitStep,
                           chat::EnterRequiresAction, chat::CompleteRequiresAction, chat::CancelRequiresAction,
                           chat::FinishTurn, chat::FinishError, chat::FinishInterruption>;

inline chat::Transition transition_of(const chat::SendMessage& input) {
  return input.busy_behavior == chat::BusyBehavior::Queue ? chat::Transition::SendMessageQueue
                                                          : chat::Transition::SendMessageInterrupt;
}
inline chat::Transition transition_of(const chat::DeleteQueuedMessage&) {
  return chat::Transition::DeleteQueuedMessage;
}
inline chat::Transition transition_of(const chat::EditMessage&) { return chat::Transition::EditMessage; }
inline chat::Transition transition_of(const chat::PromoteQueuedMessage&) {
  return chat::Transition::PromoteQueuedMessage;
}
inline chat::Transition transition_of(const chat::RequestCompaction&) { return chat::Transition::RequestCompaction; }
inline chat::Transition transition_of(const chat::ClearContext&) { return chat::Transition::ClearContext; }
inline chat::Transition transition_of(const chat::Interrupt&) { return chat::Transition::Interrupt; }
inline chat::Transition transition_of(const chat::SetArchived&) { return chat::Transition::SetArchived; }
inline chat::Transition transition_of(const chat::RecordGenerationAttempt&) {
  return chat::Transition::RecordGenerationAttempt;
}
inline chat::Transition transition_of(const chat::RecordRetryState&) { return chat::Transition::RecordRetryState; }
inline chat::Transition transition_of(const chat::CommitStep&) { return chat::Transition::CommitStep; }
inline chat::Transition transition_of(const chat::EnterRequiresAction&) {
  return chat::Transition::EnterRequiresAction;
}
inline chat::Transition transition_of(const chat::CompleteRequiresAction&) {
  return chat::Transition::CompleteRequiresAction;
}
inline chat::Transition transition_of(const chat::CancelRequiresAction&) {
  return chat::Transition::CancelRequiresAction;
}
inline chat::Transition transition_of(const chat::FinishTurn&) { return chat::Transition::FinishTurn; }
inline chat::Transition transition_of(const chat::FinishError&) { return chat::Transition::FinishError; }
inline chat::Transition transition_of(const chat::FinishInterruption&) { return chat::Transition::FinishInterruption; }
// Changes what the table does not speak of.
inline std::optional<chat::Transition> transition_of(const chat::SetTitle&) { return std::nullopt; }

inline std::optional<chat::Transition> transition_of(const Input& input) {
  return std::visit([](const auto& one) { return std::optional<chat::Transition>(transition_of(one)); }, input);
}
inline chat::ReadPlan reads_of(const Input& input) {
  return std::visit([](const auto& one) { return chat::reads_of(one); }, input);
}
inline chat::Decision decide(const chat::LockedChat& locked, const Input& input) {
  return std::visit([&locked](const auto& one) { return chat::decide(locked, one); }, input);
}
inline std::optional<chat::Refusal> apply(chat::MemoryChat& chat, const Input& input) {
  return std::visit([&chat](const auto& one) { return chat.apply(one); }, input);
}

// The commit that a runner makes of a decision or of a finished model call.
inline Input commit_of(const chat::Fence& fence, std::vector<chat::NewMessage> rows, const chat::EndTurn& end) {
  return chat::FinishTurn{.fence = fence, .rows = std::move(rows), .receipt = end.receipt};
}
inline Input commit_of(const chat::Fence& fence, std::vector<chat::NewMessage> rows, const chat::FailTurn& failed) {
  return chat::FinishError{.fence = fence, .rows = std::move(rows), .error = failed.error, .receipt = failed.receipt};
}
inline Input commit_of(const chat::Fence& fence, std::vector<chat::NewMessage> rows, std::monostate) {
  return chat::CommitStep{.fence = fence, .rows = std::move(rows)};
}
// A wait that is over at once.
inline Input commit_of(const chat::Fence& fence, std::vector<chat::NewMessage> rows, chat::AwaitClient) {
  return chat::EnterRequiresAction{.fence = fence, .rows = std::move(rows), .patience_ms = 0};
}
inline Input commit_of(const chat::Fence& fence, chat::StepPlan plan) {
  return std::visit([&](const auto& then) { return commit_of(fence, std::move(plan.rows), then); }, plan.then);
}

}  // namespace assay::model

#pragma once
// The execution states of a chat and the literal table of legal moves (docs/architecture.md, "Chat state machine").
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "chat/chat.h"
#include "chat/effects.h"

namespace assay::chat {

// Letter: status. Digit: whether the queue is non-empty. X: archived. N: not yet created.
enum class State { N, W, R0, R1, I0, I1, A0, A1, E0, E1, XW, XE0, XE1, Invalid };
inline constexpr std::array kStates{State::N,  State::W,  State::R0, State::R1, State::I0,  State::I1,  State::A0,
                                    State::A1, State::E0, State::E1, State::XW, State::XE0, State::XE1, State::Invalid};

enum class Transition {
  Create,
  SendMessageQueue,
  SendMessageInterrupt,
  EditMessage,
  DeleteQueuedMessage,
  PromoteQueuedMessage,
  Interrupt,
  CompleteRequiresAction,
  CancelRequiresAction,
  RequestCompaction,
  ClearContext,
  SetArchived,
  RecordGenerationAttempt,
  RecordRetryState,
  CommitStep,
  EnterRequiresAction,
  FinishTurn,
  FinishError,
  FinishInterruption,
  ReconcileInvalidState,
};
inline constexpr std::size_t kTransitionCount = 20;

// Total: what is no state of the table (a waiting chat with a queue, an archived one at work) is Invalid.
[[nodiscard]] State state_of(Status status, bool archived, std::int64_t queue_length);
[[nodiscard]] State state_of(const Chat& chat);

[[nodiscard]] std::string_view name_of(State state);
[[nodiscard]] std::string_view name_of(Transition transition);
[[nodiscard]] std::string_view name_of(Status status);  // the public one: `requires_action`

// For people: "Editing a message", "is running"; a refusal puts the two together.
[[nodiscard]] std::string_view words_of(Transition transition);
[[nodiscard]] std::string_view words_of(State state);

// Where `transition` may lead from `from`; empty: it is not allowed.
[[nodiscard]] std::span<const State> targets(Transition transition, State from);
[[nodiscard]] inline bool is_allowed(Transition transition, State from) { return !targets(transition, from).empty(); }

// A Conflict that names both; Archived where only the archived form keeps the move from being legal.
[[nodiscard]] Refusal refuse(State from, Transition transition);

// Chats that need a worker: R, I and A.
[[nodiscard]] bool is_runnable(State state);

}  // namespace assay::chat

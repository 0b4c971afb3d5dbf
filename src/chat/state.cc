#include "chat/state.h"

#include <initializer_list>
#include <string>
#include <vector>

#include "base/check.h"

namespace assay::chat {

namespace {

struct Move {
  State from;
  std::array<State, 2> to;
  std::size_t to_count;
};

constexpr Move move(State from, State to) { return Move{.from = from, .to = {to, to}, .to_count = 1}; }
constexpr Move move(State from, State to, State or_to) { return Move{.from = from, .to = {to, or_to}, .to_count = 2}; }

using enum State;

// One array for each row of the table in docs/architecture.md.
constexpr std::array kCreate{move(N, R0)};
constexpr std::array kSendMessageQueue{move(W, R0),  move(E0, R0), move(E1, R1), move(R0, R1), move(R1, R1),
                                       move(I0, I1), move(I1, I1), move(A0, A1), move(A1, A1)};
constexpr std::array kSendMessageInterrupt{move(W, R0),  move(E0, R0), move(E1, R1), move(R0, I1), move(R1, I1),
                                           move(I0, I1), move(I1, I1), move(A0, R1), move(A1, R1)};
constexpr std::array kEditMessage{move(W, R0),  move(R0, R0), move(R1, R0), move(I0, R0), move(I1, R0),
                                  move(A0, R0), move(A1, R0), move(E0, R0), move(E1, R0)};
constexpr std::array kDeleteQueuedMessage{move(E1, E0, E1), move(R1, R0, R1), move(I1, I0, I1), move(A1, A0, A1)};
constexpr std::array kPromoteQueuedMessage{move(E1, R0, R1), move(A1, R0, R1), move(R1, I1), move(I1, I1)};
constexpr std::array kInterrupt{move(R0, I0), move(R1, I1), move(A0, R0), move(A1, R1)};
constexpr std::array kCompleteRequiresAction{move(A0, R0), move(A1, R1)};
constexpr std::array kCancelRequiresAction{move(A0, R0), move(A1, R1)};
constexpr std::array kRequestCompaction{move(W, R0), move(E0, R0), move(E1, R1)};
constexpr std::array kClearContext{move(W, W), move(E0, W)};
constexpr std::array kSetArchived{move(W, XW), move(XW, W), move(E0, XE0), move(XE0, E0), move(E1, XE1), move(XE1, E1)};
constexpr std::array kKeepsRunning{move(R0, R0), move(R1, R1)};
constexpr std::array kEnterRequiresAction{move(R0, A0), move(R1, A1)};
constexpr std::array kFinishTurn{move(R0, W), move(R1, R0, R1)};
constexpr std::array kFinishError{move(W, E0), move(R0, E0), move(R1, E1)};
constexpr std::array kFinishInterruption{move(I0, W), move(I1, R0, R1)};
constexpr std::array kReconcileInvalidState{move(Invalid, E0, E1)};

std::span<const Move> moves_of(Transition transition) {
  switch (transition) {
    case Transition::Create:
      return kCreate;
    case Transition::SendMessageQueue:
      return kSendMessageQueue;
    case Transition::SendMessageInterrupt:
      return kSendMessageInterrupt;
    case Transition::EditMessage:
      return kEditMessage;
    case Transition::DeleteQueuedMessage:
      return kDeleteQueuedMessage;
    case Transition::PromoteQueuedMessage:
      return kPromoteQueuedMessage;
    case Transition::Interrupt:
      return kInterrupt;
    case Transition::CompleteRequiresAction:
      return kCompleteRequiresAction;
    case Transition::CancelRequiresAction:
      return kCancelRequiresAction;
    case Transition::RequestCompaction:
      return kRequestCompaction;
    case Transition::ClearContext:
      return kClearContext;
    case Transition::SetArchived:
      return kSetArchived;
    case Transition::RecordGenerationAttempt:
    case Transition::RecordRetryState:
    case Transition::CommitStep:
      return kKeepsRunning;
    case Transition::EnterRequiresAction:
      return kEnterRequiresAction;
    case Transition::FinishTurn:
      return kFinishTurn;
    case Transition::FinishError:
      return kFinishError;
    case Transition::FinishInterruption:
      return kFinishInterruption;
    case Transition::ReconcileInvalidState:
      return kReconcileInvalidState;
  }
  ASSAY_CHECK(false, "not a transition");
}

bool is_archived(State state) { return state == XW || state == XE0 || state == XE1; }

}  // namespace

State state_of(Status status, bool archived, std::int64_t queue_length) {
  const bool queued = queue_length > 0;
  switch (status) {
    case Status::Waiting:
      if (queued) return Invalid;
      return archived ? XW : W;
    case Status::Error:
      if (archived) return queued ? XE1 : XE0;
      return queued ? E1 : E0;
    case Status::Running:
      if (archived) return Invalid;
      return queued ? R1 : R0;
    case Status::Interrupting:
      if (archived) return Invalid;
      return queued ? I1 : I0;
    case Status::RequiresAction:
      if (archived) return Invalid;
      return queued ? A1 : A0;
  }
  return Invalid;
}

State state_of(const Chat& chat) { return state_of(chat.status, chat.archived, chat.queue_length); }

std::string_view name_of(State state) {
  switch (state) {
    case N:
      return "N";
    case W:
      return "W";
    case R0:
      return "R0";
    case R1:
      return "R1";
    case I0:
      return "I0";
    case I1:
      return "I1";
    case A0:
      return "A0";
    case A1:
      return "A1";
    case E0:
      return "E0";
    case E1:
      return "E1";
    case XW:
      return "XW";
    case XE0:
      return "XE0";
    case XE1:
      return "XE1";
    case Invalid:
      break;
  }
  return "Invalid";
}

std::string_view name_of(Transition transition) {
  switch (transition) {
    case Transition::Create:
      return "Create";
    case Transition::SendMessageQueue:
      return "SendMessage(queue)";
    case Transition::SendMessageInterrupt:
      return "SendMessage(interrupt)";
    case Transition::EditMessage:
      return "EditMessage";
    case Transition::DeleteQueuedMessage:
      return "DeleteQueuedMessage";
    case Transition::PromoteQueuedMessage:
      return "PromoteQueuedMessage";
    case Transition::Interrupt:
      return "Interrupt";
    case Transition::CompleteRequiresAction:
      return "CompleteRequiresAction";
    case Transition::CancelRequiresAction:
      return "CancelRequiresAction";
    case Transition::RequestCompaction:
      return "RequestCompaction";
    case Transition::ClearContext:
      return "ClearContext";
    case Transition::SetArchived:
      return "SetArchived";
    case Transition::RecordGenerationAttempt:
      return "RecordGenerationAttempt";
    case Transition::RecordRetryState:
      return "RecordRetryState";
    case Transition::CommitStep:
      return "CommitStep";
    case Transition::EnterRequiresAction:
      return "EnterRequiresAction";
    case Transition::FinishTurn:
      return "FinishTurn";
    case Transition::FinishError:
      return "FinishError";
    case Transition::FinishInterruption:
      return "FinishInterruption";
    case Transition::ReconcileInvalidState:
      break;
  }
  return "ReconcileInvalidState";
}

std::string_view name_of(Status status) {
  switch (status) {
    case Status::Waiting:
      return "waiting";
    case Status::Running:
      return "running";
    case Status::Interrupting:
      return "interrupting";
    case Status::RequiresAction:
      return "requires_action";
    case Status::Error:
      break;
  }
  return "error";
}

std::string_view words_of(State state) {
  switch (state) {
    case N:
      return "does not exist yet";
    case W:
      return "waits for a message";
    case R0:
      return "is running";
    case R1:
      return "is running and has messages queued";
    case I0:
      return "is being interrupted";
    case I1:
      return "is being interrupted and has messages queued";
    case A0:
      return "waits for tool results";
    case A1:
      return "waits for tool results and has messages queued";
    case E0:
      return "has ended in an error";
    case E1:
      return "has ended in an error and has messages queued";
    case XW:
      return "is archived";
    case XE0:
      return "is archived after an error";
    case XE1:
      return "is archived after an error, with messages queued";
    case Invalid:
      break;
  }
  return "is in a state that is not valid and needs to be reconciled";
}

std::string_view words_of(Transition transition) {
  switch (transition) {
    case Transition::Create:
      return "Creating the chat";
    case Transition::SendMessageQueue:
      return "Sending a message";
    case Transition::SendMessageInterrupt:
      return "Sending a message that interrupts";
    case Transition::EditMessage:
      return "Editing a message";
    case Transition::DeleteQueuedMessage:
      return "Deleting a queued message";
    case Transition::PromoteQueuedMessage:
      return "Promoting a queued message";
    case Transition::Interrupt:
      return "Interrupting";
    case Transition::CompleteRequiresAction:
      return "Submitting tool results";
    case Transition::CancelRequiresAction:
      return "Timing tool calls out";
    case Transition::RequestCompaction:
      return "Compacting the conversation";
    case Transition::ClearContext:
      return "Clearing the context";
    case Transition::SetArchived:
      return "Archiving or unarchiving";
    case Transition::RecordGenerationAttempt:
      return "Beginning a model call";
    case Transition::RecordRetryState:
      return "Waiting for a retry";
    case Transition::CommitStep:
      return "Committing a step";
    case Transition::EnterRequiresAction:
      return "Asking for tool results";
    case Transition::FinishTurn:
      return "Finishing the turn";
    case Transition::FinishError:
      return "Ending the turn in an error";
    case Transition::FinishInterruption:
      return "Finishing the interruption";
    case Transition::ReconcileInvalidState:
      break;
  }
  return "Reconciling";
}

std::span<const State> targets(Transition transition, State from) {
  for (const Move& known : moves_of(transition)) {
    if (known.from == from) return std::span(known.to).first(known.to_count);
  }
  return {};
}

Refusal refuse(State from, Transition transition) {
  std::string message(words_of(transition));
  message += " is not possible while the chat ";
  message += words_of(from);
  message += '.';
  return Refusal{.kind = is_archived(from) ? RefusalKind::Archived : RefusalKind::Conflict, .message = message};
}

bool is_runnable(State state) {
  return state == R0 || state == R1 || state == I0 || state == I1 || state == A0 || state == A1;
}

}  // namespace assay::chat

#include "chat/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay::chat {
namespace {

using enum State;
using ::testing::HasSubstr;

constexpr Transition kTransitions[] = {
    Transition::Create,
    Transition::SendMessageQueue,
    Transition::SendMessageInterrupt,
    Transition::EditMessage,
    Transition::DeleteQueuedMessage,
    Transition::PromoteQueuedMessage,
    Transition::Interrupt,
    Transition::CompleteRequiresAction,
    Transition::CancelRequiresAction,
    Transition::RequestCompaction,
    Transition::ClearContext,
    Transition::SetArchived,
    Transition::RecordGenerationAttempt,
    Transition::RecordRetryState,
    Transition::CommitStep,
    Transition::EnterRequiresAction,
    Transition::FinishTurn,
    Transition::FinishError,
    Transition::FinishInterruption,
    Transition::ReconcileInvalidState,
};
static_assert(std::size(kTransitions) == kTransitionCount);

// The table of docs/architecture.md, read by rows of states instead of transitions: a second hand against slips.
const std::map<std::pair<Transition, State>, std::set<State>>& expected() {
  using T = Transition;
  static const std::map<std::pair<Transition, State>, std::set<State>> table{
      {{T::Create, N}, {R0}},

      {{T::SendMessageQueue, W}, {R0}},
      {{T::SendMessageInterrupt, W}, {R0}},
      {{T::EditMessage, W}, {R0}},
      {{T::RequestCompaction, W}, {R0}},
      {{T::ClearContext, W}, {W}},
      {{T::SetArchived, W}, {XW}},
      {{T::FinishError, W}, {E0}},

      {{T::SendMessageQueue, R0}, {R1}},
      {{T::SendMessageInterrupt, R0}, {I1}},
      {{T::EditMessage, R0}, {R0}},
      {{T::Interrupt, R0}, {I0}},
      {{T::RecordGenerationAttempt, R0}, {R0}},
      {{T::RecordRetryState, R0}, {R0}},
      {{T::CommitStep, R0}, {R0}},
      {{T::EnterRequiresAction, R0}, {A0}},
      {{T::FinishTurn, R0}, {W}},
      {{T::FinishError, R0}, {E0}},

      {{T::SendMessageQueue, R1}, {R1}},
      {{T::SendMessageInterrupt, R1}, {I1}},
      {{T::EditMessage, R1}, {R0}},
      {{T::DeleteQueuedMessage, R1}, {R0, R1}},
      {{T::PromoteQueuedMessage, R1}, {I1}},
      {{T::Interrupt, R1}, {I1}},
      {{T::RecordGenerationAttempt, R1}, {R1}},
      {{T::RecordRetryState, R1}, {R1}},
      {{T::CommitStep, R1}, {R1}},
      {{T::EnterRequiresAction, R1}, {A1}},
      {{T::FinishTurn, R1}, {R0, R1}},
      {{T::FinishError, R1}, {E1}},

      {{T::SendMessageQueue, I0}, {I1}},
      {{T::SendMessageInterrupt, I0}, {I1}},
      {{T::EditMessage, I0}, {R0}},
      {{T::FinishInterruption, I0}, {W}},

      {{T::SendMessageQueue, I1}, {I1}},
      {{T::SendMessageInterrupt, I1}, {I1}},
      {{T::EditMessage, I1}, {R0}},
      {{T::DeleteQueuedMessage, I1}, {I0, I1}},
      {{T::PromoteQueuedMessage, I1}, {I1}},
      {{T::FinishInterruption, I1}, {R0, R1}},

      {{T::SendMessageQueue, A0}, {A1}},
      {{T::SendMessageInterrupt, A0}, {R1}},
      {{T::EditMessage, A0}, {R0}},
      {{T::Interrupt, A0}, {R0}},
      {{T::CompleteRequiresAction, A0}, {R0}},
      {{T::CancelRequiresAction, A0}, {R0}},

      {{T::SendMessageQueue, A1}, {A1}},
      {{T::SendMessageInterrupt, A1}, {R1}},
      {{T::EditMessage, A1}, {R0}},
      {{T::DeleteQueuedMessage, A1}, {A0, A1}},
      {{T::PromoteQueuedMessage, A1}, {R0, R1}},
      {{T::Interrupt, A1}, {R1}},
      {{T::CompleteRequiresAction, A1}, {R1}},
      {{T::CancelRequiresAction, A1}, {R1}},

      {{T::SendMessageQueue, E0}, {R0}},
      {{T::SendMessageInterrupt, E0}, {R0}},
      {{T::EditMessage, E0}, {R0}},
      {{T::RequestCompaction, E0}, {R0}},
      {{T::ClearContext, E0}, {W}},
      {{T::SetArchived, E0}, {XE0}},

      {{T::SendMessageQueue, E1}, {R1}},
      {{T::SendMessageInterrupt, E1}, {R1}},
      {{T::EditMessage, E1}, {R0}},
      {{T::DeleteQueuedMessage, E1}, {E0, E1}},
      {{T::PromoteQueuedMessage, E1}, {R0, R1}},
      {{T::RequestCompaction, E1}, {R1}},
      {{T::SetArchived, E1}, {XE1}},

      {{T::SetArchived, XW}, {W}},
      {{T::SetArchived, XE0}, {E0}},
      {{T::SetArchived, XE1}, {E1}},

      {{T::ReconcileInvalidState, Invalid}, {E0, E1}},
  };
  return table;
}

TEST(TransitionTable, HoldsEveryCell) {
  std::size_t cells = 0;
  std::size_t allowed = 0;
  for (const Transition transition : kTransitions) {
    for (const State from : kStates) {
      ++cells;
      const std::span<const State> found = targets(transition, from);
      const auto wanted = expected().find({transition, from});
      const std::set<State> wanted_targets = wanted == expected().end() ? std::set<State>{} : wanted->second;
      EXPECT_EQ(std::set<State>(found.begin(), found.end()), wanted_targets)
          << name_of(transition) << " from " << name_of(from);
      EXPECT_EQ(is_allowed(transition, from), !wanted_targets.empty());
      if (!wanted_targets.empty()) ++allowed;
    }
  }
  EXPECT_EQ(cells, kTransitionCount * kStates.size());
  EXPECT_EQ(allowed, expected().size());
}

TEST(TransitionTable, NamesBothWhereItRefuses) {
  for (const Transition transition : kTransitions) {
    for (const State from : kStates) {
      const Refusal refusal = refuse(from, transition);
      EXPECT_THAT(refusal.message, HasSubstr(std::string(words_of(transition))));
      EXPECT_THAT(refusal.message, HasSubstr(std::string(words_of(from)) + "."));
      const bool archived = from == XW || from == XE0 || from == XE1;
      EXPECT_EQ(refusal.kind, archived ? RefusalKind::Archived : RefusalKind::Conflict);
    }
  }
}

TEST(TransitionTable, GivesEachTransitionAndStateANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const Transition transition : kTransitions) names.insert(name_of(transition));
  for (const State state : kStates) names.insert(name_of(state));
  EXPECT_EQ(names.size(), kTransitionCount + kStates.size());
  std::set<std::string_view> words;
  for (const Transition transition : kTransitions) words.insert(words_of(transition));
  for (const State state : kStates) words.insert(words_of(state));
  EXPECT_EQ(words.size(), kTransitionCount + kStates.size());
}

TEST(StateOf, IsTotal) {
  struct Row {
    Status status;
    bool archived;
    std::int64_t queue;
    State state;
  };
  for (const Row& row : {
           Row{Status::Waiting, false, 0, W},
           Row{Status::Waiting, false, 1, Invalid},
           Row{Status::Waiting, true, 0, XW},
           Row{Status::Waiting, true, 3, Invalid},
           Row{Status::Running, false, 0, R0},
           Row{Status::Running, false, 1, R1},
           Row{Status::Running, true, 0, Invalid},
           Row{Status::Running, true, 1, Invalid},
           Row{Status::Interrupting, false, 0, I0},
           Row{Status::Interrupting, false, 20, I1},
           Row{Status::Interrupting, true, 0, Invalid},
           Row{Status::Interrupting, true, 1, Invalid},
           Row{Status::RequiresAction, false, 0, A0},
           Row{Status::RequiresAction, false, 2, A1},
           Row{Status::RequiresAction, true, 0, Invalid},
           Row{Status::RequiresAction, true, 1, Invalid},
           Row{Status::Error, false, 0, E0},
           Row{Status::Error, false, 1, E1},
           Row{Status::Error, true, 0, XE0},
           Row{Status::Error, true, 1, XE1},
       }) {
    Chat chat;
    chat.status = row.status;
    chat.archived = row.archived;
    chat.queue_length = row.queue;
    EXPECT_EQ(state_of(chat), row.state) << name_of(row.status) << row.archived << row.queue;
  }
}

TEST(StateOf, NeedsAWorkerWhereWorkIsDue) {
  const std::set<State> runnable{R0, R1, I0, I1, A0, A1};
  for (const State state : kStates) EXPECT_EQ(is_runnable(state), runnable.contains(state)) << name_of(state);
}

}  // namespace
}  // namespace assay::chat

// Every transition in every state: what the table allows is decided and leads where the table says, everything else is
// refused in words that name both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>

#include "chat/context.h"
#include "chat/edit.h"
#include "chat/memory_chat.h"
#include "chat/promote.h"
#include "chat/requires_action.h"
#include "chat/transitions.h"

namespace assay::chat {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

const RunnerId kRunner = *RunnerId::parse("00000000-0000-4000-8000-000000000002");

Content words() { return {TextPart{.text = "hello"}}; }

ToolCallPart call() {
  return {.id = "c",
          .name = "t",
          .arguments = "{}",
          .rejected_arguments = false,
          .provider_executed = false,
          .provider_state = ""};
}

struct Setting {
  Status status;
  bool archived;
  int queued;
};

// A user message, an answer (with a call where a client's tool is pending) and a queue.
MemoryChat chat_in(const Setting& setting) {
  CreateChat input;
  input.content = words();
  MemoryChat chat(*create(input));
  Effects effects;
  NewMessage answer;
  answer.role = Role::Assistant;
  answer.content = words();
  if (setting.status == Status::RequiresAction) answer.content.emplace_back(call());
  effects.insert.push_back(answer);
  for (int i = 0; i < setting.queued; ++i) {
    effects.enqueue.push_back(EnqueueMessage{
        .content = words(), .model_config = std::nullopt, .reasoning_effort = std::nullopt, .created_by = UserId{}});
  }
  effects.status = setting.status;
  effects.archived = setting.archived;
  if (setting.status == Status::Error) effects.last_error = std::optional(ChatError());
  chat.carry_out(effects);
  chat.chat.runner_id = kRunner;
  if (setting.status == Status::RequiresAction) chat.chat.requires_action_deadline = chat.now;
  return chat;
}

using Apply = std::function<std::optional<Refusal>(MemoryChat&)>;

SendMessage message(BusyBehavior behavior) {
  SendMessage input;
  input.content = words();
  input.busy_behavior = behavior;
  return input;
}

EditMessage edit() {
  EditMessage input;
  input.message_id = 1;
  input.content = words();
  return input;
}

// Each transition by an input that asks for it. Create has no chat to be tried on.
const std::map<Transition, Apply>& inputs() {
  static const auto fence = [](const MemoryChat& chat) { return fence_of(chat.chat, kRunner); };
  static const std::map<Transition, Apply> table{
      {Transition::SendMessageQueue, [](MemoryChat& chat) { return chat.apply(message(BusyBehavior::Queue)); }},
      {Transition::SendMessageInterrupt, [](MemoryChat& chat) { return chat.apply(message(BusyBehavior::Interrupt)); }},
      {Transition::EditMessage, [](MemoryChat& chat) { return chat.apply(edit()); }},
      {Transition::DeleteQueuedMessage, [](MemoryChat& chat) { return chat.apply(DeleteQueuedMessage{1}); }},
      {Transition::PromoteQueuedMessage, [](MemoryChat& chat) { return chat.apply(PromoteQueuedMessage{1}); }},
      {Transition::Interrupt, [](MemoryChat& chat) { return chat.apply(Interrupt{}); }},
      {Transition::CompleteRequiresAction,
       [](MemoryChat& chat) {
         CompleteRequiresAction input;
         input.results.push_back(ToolOutput{.call_id = "c", .output = "1"});
         return chat.apply(input);
       }},
      {Transition::CancelRequiresAction,
       [](MemoryChat& chat) { return chat.apply(CancelRequiresAction{fence(chat)}); }},
      {Transition::EnterRequiresAction,
       [](MemoryChat& chat) {
         NewMessage row;
         row.role = Role::Assistant;
         row.content.emplace_back(call());
         return chat.apply(EnterRequiresAction{.fence = fence(chat), .rows = {row}, .patience_ms = 1});
       }},
      {Transition::RequestCompaction, [](MemoryChat& chat) { return chat.apply(RequestCompaction{}); }},
      {Transition::ClearContext, [](MemoryChat& chat) { return chat.apply(ClearContext{}); }},
      {Transition::SetArchived, [](MemoryChat& chat) { return chat.apply(SetArchived{!chat.chat.archived}); }},
      {Transition::RecordGenerationAttempt,
       [](MemoryChat& chat) { return chat.apply(RecordGenerationAttempt{fence(chat)}); }},
      {Transition::RecordRetryState, [](MemoryChat& chat) { return chat.apply(RecordRetryState{fence(chat), {}}); }},
      {Transition::CommitStep, [](MemoryChat& chat) { return chat.apply(CommitStep{fence(chat), {}}); }},
      {Transition::FinishTurn, [](MemoryChat& chat) { return chat.apply(FinishTurn{fence(chat), {}, {}}); }},
      {Transition::FinishError, [](MemoryChat& chat) { return chat.apply(FinishError{fence(chat), {}, {}, {}}); }},
      {Transition::FinishInterruption,
       [](MemoryChat& chat) { return chat.apply(FinishInterruption{fence(chat), {}, {}}); }},
      {Transition::ReconcileInvalidState, [](MemoryChat& chat) { return chat.apply(ReconcileInvalidState{}); }},
  };
  return table;
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const Status status :
       {Status::Waiting, Status::Running, Status::Interrupting, Status::RequiresAction, Status::Error}) {
    for (const bool archived : {false, true}) {
      for (int queued = 0; queued < 3; ++queued) all.push_back(Setting{status, archived, queued});
    }
  }
  return all;
}

void expect_refusal(const Refusal& refusal, Transition transition, State from, const MemoryChat& chat) {
  const bool names_a_queued_message =
      transition == Transition::DeleteQueuedMessage || transition == Transition::PromoteQueuedMessage;
  if (names_a_queued_message && chat.queue.empty()) {
    EXPECT_EQ(refusal.kind, RefusalKind::NotFound);
    return;
  }
  EXPECT_THAT(refusal.kind, AnyOf(RefusalKind::Conflict, RefusalKind::Archived));
  EXPECT_THAT(refusal.message, HasSubstr(std::string(words_of(transition))));
  EXPECT_THAT(refusal.message, HasSubstr(std::string(words_of(from))));
}

TEST(TransitionMatrix, EachInputInEachStateDoesWhatTheTableSays) {
  std::map<std::pair<Transition, State>, std::set<State>> reached;
  std::set<State> seen;
  for (const auto& [transition, apply] : inputs()) {
    for (const Setting& setting : settings()) {
      MemoryChat chat = chat_in(setting);
      const State from = chat.state();
      SCOPED_TRACE(testing::Message() << name_of(transition) << " in " << name_of(from));
      seen.insert(from);
      const std::int64_t snapshot = chat.chat.snapshot_version;
      const auto refusal = apply(chat);
      EXPECT_EQ(refusal.has_value(), !is_allowed(transition, from)) << (refusal ? refusal->message : "");
      if (refusal) {
        expect_refusal(*refusal, transition, from, chat);
        EXPECT_EQ(chat.chat.snapshot_version, snapshot) << "a refusal changes nothing";
        continue;
      }
      reached[{transition, from}].insert(chat.state());
      EXPECT_EQ(chat.chat.last_error.has_value(), chat.chat.status == Status::Error);
    }
  }
  EXPECT_EQ(inputs().size(), kTransitionCount - 1) << "every transition but Create";
  EXPECT_EQ(seen.size(), kStates.size() - 1) << "every state but N";
  for (const auto& [cell, states] : reached) {
    const auto allowed = targets(cell.first, cell.second);
    EXPECT_EQ(states, (std::set<State>(allowed.begin(), allowed.end())))
        << name_of(cell.first) << " from " << name_of(cell.second);
  }
}

}  // namespace
}  // namespace assay::chat

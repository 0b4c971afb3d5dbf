#include "chat/requires_action.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "chat/memory_chat.h"
#include "structured/outcome.h"

namespace assay::chat {
namespace {

using ::testing::HasSubstr;

const UserId kUser = *UserId::parse("00000000-0000-4000-8000-000000000001");
const RunnerId kRunner = *RunnerId::parse("00000000-0000-4000-8000-000000000002");
const RequestId kRequest = *RequestId::parse("11111111-1111-4111-8111-111111111111");
constexpr std::int64_t kPatienceMs = 300'000;

ToolCallPart call(std::string id) {
  return {.id = std::move(id),
          .name = "theirs",
          .arguments = "{}",
          .rejected_arguments = false,
          .provider_executed = false,
          .provider_state = ""};
}

NewMessage step(Content content) {
  NewMessage row;
  row.role = Role::Assistant;
  row.content = std::move(content);
  return row;
}

SendMessage message(BusyBehavior behavior, bool asks = false) {
  SendMessage input;
  input.content = {TextPart{.text = "more"}};
  if (asks) {
    input.content.emplace_back(
        structured::RequestPart{.request_id = kRequest, .name = "n", .description = std::nullopt, .schema = "{}"});
  }
  input.created_by = kUser;
  input.busy_behavior = behavior;
  return input;
}

NewChat new_chat() {
  CreateChat input;
  input.owner_id = kUser;
  input.content = {TextPart{.text = "hello"}};
  return *create(input);
}

// A chat in R0, owned by kRunner.
class RequiresActionTest : public ::testing::Test {
 protected:
  RequiresActionTest() { chat.chat.runner_id = kRunner; }

  [[nodiscard]] Fence fence() const { return fence_of(chat.chat, kRunner); }
  template <class Input>
  void must(const Input& input) {
    const auto refusal = chat.apply(input);
    ASSERT_FALSE(refusal.has_value()) << refusal->message;
  }
  template <class Input>
  std::string must_not(const Input& input, RefusalKind kind) {
    const auto before = chat.chat.snapshot_version;
    const auto refusal = chat.apply(input);
    EXPECT_TRUE(refusal.has_value());
    if (!refusal) return {};
    EXPECT_EQ(refusal->kind, kind) << refusal->message;
    EXPECT_EQ(chat.chat.snapshot_version, before);
    return refusal->message;
  }
  // Calls "a" and "b" wait for the client.
  void enter() {
    must(EnterRequiresAction{.fence = fence(), .rows = {step({call("a"), call("b")})}, .patience_ms = kPatienceMs});
  }
  [[nodiscard]] CompleteRequiresAction results(std::vector<ToolOutput> outputs) const {
    return {.results = std::move(outputs), .created_by = kUser};
  }
  [[nodiscard]] const ToolResultPart& result(std::size_t back) const {
    return std::get<ToolResultPart>(chat.messages.at(chat.messages.size() - 1 - back).content.at(0));
  }

  MemoryChat chat{new_chat()};
};

TEST_F(RequiresActionTest, EntersWithADeadlineAndKeepsItsOwner) {
  chat.now += Milliseconds(1'000);
  must(RecordGenerationAttempt{.fence = fence()});
  must(RecordRetryState{.fence = fence(), .retry_state = {}});
  enter();
  EXPECT_EQ(chat.state(), State::A0);
  EXPECT_EQ(chat.chat.requires_action_deadline, chat.now + Milliseconds(kPatienceMs));
  EXPECT_EQ(chat.chat.runner_id, kRunner);
  EXPECT_EQ(chat.chat.retry_state, std::nullopt);
  EXPECT_EQ(outstanding_calls(chat.messages).size(), 2u);
}

TEST_F(RequiresActionTest, EntersForCallsThatWereCommittedBefore) {
  must(message(BusyBehavior::Queue));
  must(CommitStep{.fence = fence(), .rows = {step({call("a"), call("local")})}});
  must(EnterRequiresAction{
      .fence = fence(), .rows = {result_row(call("local"), "lost", true)}, .patience_ms = kPatienceMs});
  EXPECT_EQ(chat.state(), State::A1);
}

TEST_F(RequiresActionTest, DoesNotEnterWithoutAPendingCall) {
  must_not(EnterRequiresAction{.fence = fence(), .rows = {}, .patience_ms = 1}, RefusalKind::InvalidInput);
  must_not(
      EnterRequiresAction{
          .fence = fence(), .rows = {step({call("a")}), result_row(call("a"), "r", false)}, .patience_ms = 1},
      RefusalKind::InvalidInput);
}

TEST_F(RequiresActionTest, CompletesWithOneRowForEachCallInTheirOrder) {
  enter();
  must(results({{.call_id = "b", .output = R"({"n":1e400})", .is_error = true}, {.call_id = "a", .output = "null"}}));
  EXPECT_EQ(chat.state(), State::R0);
  EXPECT_EQ(chat.chat.requires_action_deadline, std::nullopt);
  EXPECT_EQ(chat.chat.runner_id, kRunner) << "the runner that waited goes on";
  EXPECT_EQ(result(1).call_id, "a");
  EXPECT_EQ(result(1).name, "theirs");
  EXPECT_EQ(result(1).result, "null");
  EXPECT_FALSE(result(1).is_error);
  EXPECT_EQ(result(0).call_id, "b");
  EXPECT_EQ(result(0).result, R"({"n":1e400})") << "exact text";
  EXPECT_TRUE(result(0).is_error);
  const Message& row = chat.messages.back();
  EXPECT_EQ(row.role, Role::Tool);
  EXPECT_EQ(row.visibility, Visibility::Both);
  EXPECT_EQ(row.created_by, kUser);
  EXPECT_TRUE(outstanding_calls(chat.messages).empty());
}

TEST_F(RequiresActionTest, TakesTheExactSetOfResultsOrNothing) {
  enter();
  const ToolOutput a{.call_id = "a", .output = "1"};
  const ToolOutput b{.call_id = "b", .output = "1"};
  const ToolOutput other{.call_id = "other", .output = "1"};
  const auto refusal = [&](std::vector<ToolOutput> outputs) {
    return must_not(results(std::move(outputs)), RefusalKind::InvalidInput);
  };
  EXPECT_THAT(refusal({}), HasSubstr("empty"));
  EXPECT_THAT(refusal({a, a, b}), HasSubstr("two results have the tool_call_id \"a\""));
  EXPECT_THAT(refusal({a, a}), HasSubstr("two results")) << "before what is missing";
  EXPECT_THAT(refusal({a}), HasSubstr("\"b\" has no result"));
  EXPECT_THAT(refusal({a, other}), HasSubstr("\"b\" has no result")) << "before what is not pending";
  EXPECT_THAT(refusal({a, b, other}), HasSubstr("no call \"other\" is pending"));
  ToolOutput endless = other;
  endless.call_id = std::string(100'000, 'x');
  EXPECT_LT(refusal({a, b, endless}).size(), 200u) << "what a client says is not echoed without bound";
  EXPECT_EQ(chat.state(), State::A0);
  must(results({a, b}));
  EXPECT_THAT(must_not(results({a, b}), RefusalKind::Conflict), HasSubstr("Submitting tool results"));
}

TEST_F(RequiresActionTest, ALateResultFindsNoCallOfALaterStep) {
  enter();
  must(Interrupt{});
  must(EnterRequiresAction{.fence = fence(), .rows = {step({call("c")})}, .patience_ms = kPatienceMs});
  EXPECT_THAT(must_not(results({{.call_id = "a", .output = "1"}}), RefusalKind::InvalidInput), HasSubstr("\"c\""));
  EXPECT_EQ(chat.state(), State::A0);
}

TEST_F(RequiresActionTest, TimesOutAtTheDeadlineAndNotBefore) {
  must(message(BusyBehavior::Queue));
  enter();
  chat.now += Milliseconds(kPatienceMs - 1);
  must_not(CancelRequiresAction{.fence = fence()}, RefusalKind::Stale);
  chat.now += Milliseconds(1);
  must(CancelRequiresAction{.fence = fence()});
  EXPECT_EQ(chat.state(), State::R1) << "the model sees it and goes on";
  EXPECT_EQ(chat.chat.requires_action_deadline, std::nullopt);
  for (const std::size_t back : {0u, 1u}) {
    EXPECT_TRUE(result(back).is_error);
    EXPECT_THAT(result(back).result, HasSubstr("in time"));
  }
}

TEST_F(RequiresActionTest, AWaitWithoutADeadlineIsOver) {
  enter();
  chat.chat.requires_action_deadline.reset();
  must(CancelRequiresAction{.fence = fence()});
  EXPECT_EQ(chat.state(), State::R0);
}

TEST_F(RequiresActionTest, IsFencedWhereTheWorkerActs) {
  for (int i = 0; i < 4; ++i) {
    Fence moved = fence();
    if (i == 0) moved.runner_id = {};
    if (i == 1) ++moved.history_version;
    if (i == 2) ++moved.generation_attempt;
    if (i == 3) moved.status = Status::RequiresAction;
    must_not(EnterRequiresAction{.fence = moved, .rows = {step({call("a")})}, .patience_ms = 1}, RefusalKind::Stale);
  }
  enter();
  chat.now += Milliseconds(kPatienceMs);
  for (int i = 0; i < 4; ++i) {
    Fence moved = fence();
    if (i == 0) moved.runner_id = {};
    if (i == 1) ++moved.history_version;
    if (i == 2) ++moved.generation_attempt;
    if (i == 3) moved.status = Status::Running;
    must_not(CancelRequiresAction{.fence = moved}, RefusalKind::Stale);
  }
}

// A chat in that state with one open call.
MemoryChat chat_in(State state) {
  MemoryChat chat{new_chat()};
  chat.chat.runner_id = kRunner;
  Effects effects;
  effects.insert = {step({call("a")})};
  chat.carry_out(effects);
  for (const Status status :
       {Status::Waiting, Status::Running, Status::Interrupting, Status::RequiresAction, Status::Error}) {
    for (const int archived_and_queued : {0, 1, 2, 3}) {
      const bool archived = archived_and_queued >= 2;
      const std::size_t queued = static_cast<std::size_t>(archived_and_queued % 2);
      if (state_of(status, archived, static_cast<std::int64_t>(queued)) != state) continue;
      chat.chat.status = status;
      chat.chat.archived = archived;
      chat.queue.resize(queued);
      chat.chat.queue_length = static_cast<std::int64_t>(queued);
      return chat;
    }
  }
  ADD_FAILURE() << "no such state";
  return chat;
}

template <class Input>
void expect_as_the_table_has_it(State from, Transition transition, Input input) {
  SCOPED_TRACE(std::string(name_of(transition)) + " from " + std::string(name_of(from)));
  MemoryChat chat = chat_in(from);
  if constexpr (requires { input.fence; }) input.fence = fence_of(chat.chat, kRunner);
  const auto allowed = targets(transition, from);
  const auto refusal = chat.apply(input);
  ASSERT_EQ(refusal.has_value(), allowed.empty());
  if (!refusal) {
    EXPECT_EQ(chat.state(), allowed.front());
    return;
  }
  const bool is_archived = from == State::XW || from == State::XE0 || from == State::XE1;
  EXPECT_EQ(refusal->kind, is_archived ? RefusalKind::Archived : RefusalKind::Conflict);
  EXPECT_EQ(refusal->message, refuse(from, transition).message);
}

TEST(RequiresAction, FollowsTheTableFromEveryState) {
  for (const State from : kStates) {
    if (from == State::N) continue;
    expect_as_the_table_has_it(from, Transition::EnterRequiresAction,
                               EnterRequiresAction{.fence = {}, .rows = {}, .patience_ms = 1});
    expect_as_the_table_has_it(
        from, Transition::CompleteRequiresAction,
        CompleteRequiresAction{.results = {{.call_id = "a", .output = "1"}}, .created_by = kUser});
    expect_as_the_table_has_it(from, Transition::CancelRequiresAction, CancelRequiresAction{.fence = {}});
  }
}

TEST_F(RequiresActionTest, MessagesWaitOrInterrupt) {
  enter();
  must(message(BusyBehavior::Queue));
  EXPECT_EQ(chat.state(), State::A1);
  EXPECT_EQ(outstanding_calls(chat.messages).size(), 2u);
  must(message(BusyBehavior::Interrupt));
  EXPECT_EQ(chat.state(), State::R1) << "the message waits while the model sees the cancellations";
  EXPECT_EQ(chat.chat.requires_action_deadline, std::nullopt);
  EXPECT_TRUE(outstanding_calls(chat.messages).empty());
  EXPECT_TRUE(result(0).is_error);
  EXPECT_EQ(chat.queue.size(), 2u);
}

TEST_F(RequiresActionTest, DeletingAQueuedRequestDisturbsNothingOfTheWait) {
  enter();
  must(message(BusyBehavior::Queue, true));
  const Fence before = fence();
  const auto deadline = chat.chat.requires_action_deadline;
  must(DeleteQueuedMessage{.queue_id = chat.queue.at(0).id});
  EXPECT_EQ(chat.state(), State::A0);
  EXPECT_EQ(fence(), before);
  EXPECT_EQ(chat.chat.requires_action_deadline, deadline);
  EXPECT_EQ(outstanding_calls(chat.messages).size(), 2u);
  EXPECT_EQ(chat.receipt(kRequest)->error->code, structured::OutcomeCode::QueueDeleted);
}

TEST_F(RequiresActionTest, IsNotArchivedWhileTheClientIsAsked) {
  enter();
  must_not(SetArchived{.archived = true}, RefusalKind::Conflict);
}

}  // namespace
}  // namespace assay::chat

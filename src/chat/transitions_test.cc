#include "chat/transitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "chat/memory_chat.h"
#include "chat/transition_fixture.h"
#include "structured/outcome.h"

namespace assay::chat {
namespace {

using ::testing::HasSubstr;

TEST(Create, MakesARunningChatWithItsFirstRows) {
  CreateChat input = new_chat(asking(kFirst));
  input.system_prompt = "be brief";
  input.reasoning_effort = "low";
  const auto created = create(input);
  ASSERT_TRUE(created.has_value());
  EXPECT_EQ(state_of(created->chat), State::R0);
  ASSERT_EQ(created->messages.size(), 2u);
  EXPECT_EQ(created->messages[0].role, Role::System);
  EXPECT_EQ(created->messages[0].visibility, Visibility::Model);
  EXPECT_EQ(created->messages[1].role, Role::User);
  EXPECT_EQ(created->messages[1].visibility, Visibility::Both);
  EXPECT_EQ(created->messages[1].content, asking(kFirst));
  EXPECT_EQ(created->messages[1].created_by, kUser);
  EXPECT_EQ(created->messages[1].model_config, kModel);
  EXPECT_EQ(created->chat.last_model_config, kModel);
}

TEST(Create, RefusesNoContentAndAFormatInPlanMode) {
  EXPECT_EQ(create(new_chat({})).error().kind, RefusalKind::InvalidInput);
  CreateChat planned = new_chat(asking(kFirst));
  planned.plan_mode = "plan";
  EXPECT_EQ(create(planned).error().kind, RefusalKind::InvalidInput);
  planned.content = text("plan this");
  EXPECT_TRUE(create(planned).has_value());
}

TEST_F(TransitionsTest, SendOnAWaitingChatRuns) {
  finish();
  EXPECT_EQ(chat.state(), State::W);
  EXPECT_EQ(chat.chat.runner_id, std::nullopt) << "a chat at rest has no owner";
  SendMessage input = message(text("again"));
  input.model_config = kOtherModel;
  input.reasoning_effort = "high";
  must(input);
  EXPECT_EQ(chat.state(), State::R0);
  EXPECT_EQ(text_of(last()), "again");
  EXPECT_EQ(last().model_config, kOtherModel);
  EXPECT_EQ(chat.chat.last_model_config, kOtherModel);
  EXPECT_EQ(chat.chat.reasoning_effort, "high");
}

TEST_F(TransitionsTest, SendOnAFailedChatRunsAndClearsTheError) {
  break_off();
  EXPECT_EQ(chat.state(), State::E0);
  EXPECT_EQ(chat.chat.last_error->message, "broken");
  must(message(text("again")));
  EXPECT_EQ(chat.state(), State::R0);
  EXPECT_EQ(chat.chat.last_error, std::nullopt);
}

TEST_F(TransitionsTest, SendOnAFailedChatWithAQueueAppendsAndPromotesTheHead) {
  must(message(asking(kFirst)));
  must(message(text("second")));
  break_off();
  EXPECT_EQ(chat.state(), State::E1);
  must(message(text("third")));
  EXPECT_EQ(chat.state(), State::R1);
  EXPECT_EQ(last().content, asking(kFirst)) << "promotion keeps the request and its id";
  ASSERT_EQ(chat.queue.size(), 2u);
  EXPECT_EQ(chat.queue[1].content, text("third"));
  EXPECT_EQ(chat.chat.last_error, std::nullopt);
}

TEST_F(TransitionsTest, SendOnARunningChatQueuesUpToTheLimit) {
  const auto history_version = chat.chat.history_version;
  for (std::size_t i = 0; i < kQueueMax; ++i) must(message(text("q")));
  EXPECT_EQ(chat.state(), State::R1);
  EXPECT_EQ(chat.queue.size(), kQueueMax);
  EXPECT_EQ(chat.chat.history_version, history_version) << "the running turn is not disturbed";
  must_not(message(text("one too many")), RefusalKind::QueueFull);
  must_not(message(text("one too many"), BusyBehavior::Interrupt), RefusalKind::QueueFull);
}

TEST_F(TransitionsTest, AFullQueueStillTakesTheMessageThatSetsAFailedChatGoing) {
  for (std::size_t i = 0; i < kQueueMax; ++i) must(message(text("q")));
  break_off();
  must(message(text("last")));
  EXPECT_EQ(chat.queue.size(), kQueueMax);
}

TEST_F(TransitionsTest, SendWithInterruptStopsTheRunningTurn) {
  must(message(text("now"), BusyBehavior::Interrupt));
  EXPECT_EQ(chat.state(), State::I1);
  must(message(text("and this"), BusyBehavior::Interrupt));
  must(message(text("later")));
  EXPECT_EQ(chat.state(), State::I1);
  EXPECT_EQ(chat.queue.size(), 3u);
}

TEST_F(TransitionsTest, SendWithInterruptCancelsCallsThatWaitForTheClient) {
  must(CommitStep{.fence = fence(), .rows = {assistant({call("c1")})}});
  chat.chat.status = Status::RequiresAction;
  must(message(text("queued")));
  EXPECT_EQ(chat.state(), State::A1);
  must(message(text("now"), BusyBehavior::Interrupt));
  EXPECT_EQ(chat.state(), State::R1);
  const auto& result = std::get<ToolResultPart>(last().content.at(0));
  EXPECT_EQ(result.call_id, "c1");
  EXPECT_TRUE(result.is_error);
}

TEST_F(TransitionsTest, AUserMessageEntersHistoryAfterEveryCallHasItsAnswer) {
  must(CommitStep{.fence = fence(), .rows = {assistant({call("c1"), call("c2")})}});
  break_off();
  EXPECT_TRUE(outstanding_calls(chat.messages).empty());
  EXPECT_EQ(last().role, Role::Tool);
  // A chat that came to rest with an open call all the same.
  chat.messages.pop_back();
  must(message(text("again")));
  EXPECT_EQ(text_of(last()), "again");
  EXPECT_EQ(std::get<ToolResultPart>(last(1).content.at(0)).call_id, "c2");
}

TEST_F(TransitionsTest, SendRefusesEmptyContentAndArchivedChats) {
  must_not(message({}), RefusalKind::InvalidInput);
  finish();
  must(SetArchived{.archived = true});
  must_not(message(text("x")), RefusalKind::Archived);
}

TEST_F(TransitionsTest, SendRefusesAFormatInPlanModeAndInChildChats) {
  chat.chat.plan_mode = "plan";
  must_not(message(asking(kFirst)), RefusalKind::InvalidInput);
  SendMessage leaves = message(asking(kFirst));
  leaves.plan_mode = "";
  must(leaves);
  chat.chat.plan_mode = "";
  chat.chat.mode = "explore";
  must_not(message(asking(kSecond)), RefusalKind::InvalidInput);
}

TEST_F(TransitionsTest, PlanModeWaitsForStructuredWork) {
  SendMessage plans = message(text("plan"));
  plans.plan_mode = "plan";
  must(message(asking(kFirst)));
  must_not(plans, RefusalKind::Conflict);
  finish();
  own();
  EXPECT_EQ(chat.state(), State::R0);
  must_not(plans, RefusalKind::Conflict);
  finish("done", structured::succeeded(kFirst, "1"));
  must(plans);
  EXPECT_EQ(chat.chat.plan_mode, "plan");
}

TEST_F(TransitionsTest, DeletingAQueuedRequestWritesItsReceiptAndDisturbsNothing) {
  must(message(asking(kFirst)));
  must(message(text("second")));
  must(RecordGenerationAttempt{.fence = fence()});
  const Fence before = fence();
  must(DeleteQueuedMessage{.queue_id = chat.queue[0].id});
  EXPECT_EQ(chat.state(), State::R1);
  EXPECT_EQ(fence(), before);
  EXPECT_EQ(chat.receipt(kFirst)->error->code, structured::OutcomeCode::QueueDeleted);
  must(DeleteQueuedMessage{.queue_id = chat.queue[0].id});
  EXPECT_EQ(chat.state(), State::R0);
  EXPECT_EQ(chat.count_receipts(kFirst), 1u);
  must_not(DeleteQueuedMessage{.queue_id = 99}, RefusalKind::NotFound);
}

TEST_F(TransitionsTest, DeletingAnUnreadableQueuedRequestStillWritesItsReceipt) {
  must(message(text("x")));
  chat.queue[0].content.clear();
  chat.queue[0].corruption = structured::Corruption{.what = "bad", .request_id = kFirst};
  must(DeleteQueuedMessage{.queue_id = chat.queue[0].id});
  EXPECT_EQ(chat.count_receipts(kFirst), 1u);
}

TEST_F(TransitionsTest, InterruptKeepsTheOwnerWhoEndsTheTurn) {
  must(Interrupt{});
  EXPECT_EQ(chat.state(), State::I0);
  EXPECT_EQ(chat.chat.runner_id, kRunner);
  must_not(Interrupt{}, RefusalKind::Conflict);
  must(FinishInterruption{.fence = fence(),
                          .rows = {assistant({TextPart{.text = "partial"}, call("c1")})},
                          .receipt = structured::ended(kFirst, structured::OutcomeCode::Interrupted)});
  EXPECT_EQ(chat.state(), State::W);
  EXPECT_EQ(chat.count_receipts(kFirst), 1u);
  EXPECT_EQ(std::get<ToolResultPart>(last(1).content.at(0)).call_id, "c1") << "answers precede the receipt";
}

TEST_F(TransitionsTest, InterruptOfAWaitingClientCallGoesOnWithTheTurn) {
  must(CommitStep{.fence = fence(), .rows = {assistant({call("c1")})}});
  chat.chat.status = Status::RequiresAction;
  chat.chat.requires_action_deadline = WallTime{};
  must(Interrupt{});
  EXPECT_EQ(chat.state(), State::R0);
  EXPECT_EQ(chat.chat.requires_action_deadline, std::nullopt);
  EXPECT_TRUE(outstanding_calls(chat.messages).empty());
}

TEST_F(TransitionsTest, FinishInterruptionPromotesAfterTheReceipt) {
  must(message(asking(kSecond), BusyBehavior::Interrupt));
  must(FinishInterruption{.fence = fence(),
                          .rows = {assistant(text("partial"))},
                          .receipt = structured::ended(kFirst, structured::OutcomeCode::Interrupted)});
  EXPECT_EQ(chat.state(), State::R0);
  EXPECT_EQ(last().content, asking(kSecond));
  EXPECT_TRUE(std::holds_alternative<structured::OutcomePart>(last(1).content.at(1)));
  EXPECT_EQ(text_of(last(2)), "partial");
}

TEST_F(TransitionsTest, FinishTurnWritesTheReceiptBeforeThePromotedMessage) {
  must(message(asking(kSecond)));
  must(message(text("third")));
  finish("answer", structured::succeeded(kFirst, "1"));
  EXPECT_EQ(chat.state(), State::R1);
  EXPECT_EQ(last().content, asking(kSecond));
  EXPECT_EQ(last(1).visibility, Visibility::User);
  EXPECT_EQ(text_of(last(2)), "answer");
  EXPECT_EQ(chat.chat.runner_id, kRunner) << "the runner goes on with the next turn";
  finish();
  EXPECT_EQ(chat.state(), State::R0);
}

TEST_F(TransitionsTest, NeverWritesASecondReceipt) {
  finish("answer", structured::succeeded(kFirst, "1"));
  must(message(text("again")));
  own();
  finish("answer", structured::succeeded(kFirst, "2"));
  EXPECT_EQ(chat.count_receipts(kFirst), 1u);
  EXPECT_EQ(chat.receipt(kFirst)->value, "1");
  must(message(text("again")));
  own();
  must(FinishError{.fence = fence(),
                   .rows = {},
                   .error = {},
                   .receipt = structured::ended(kFirst, structured::OutcomeCode::GenerationFailed)});
  EXPECT_EQ(chat.count_receipts(kFirst), 1u);
}

TEST_F(TransitionsTest, FinishErrorWritesItsReceiptAndKeepsTheQueue) {
  must(message(asking(kSecond)));
  ChatError error;
  error.message = "no";
  must(FinishError{.fence = fence(),
                   .rows = {assistant(text("partial"))},
                   .error = error,
                   .receipt = structured::ended(kFirst, structured::OutcomeCode::GenerationFailed)});
  EXPECT_EQ(chat.state(), State::E1);
  EXPECT_EQ(chat.chat.last_error, error);
  EXPECT_EQ(chat.chat.runner_id, std::nullopt);
  EXPECT_EQ(chat.count_receipts(kFirst), 1u);
  EXPECT_EQ(chat.count_receipts(kSecond), 0u) << "queued requests stay owed";
}

TEST_F(TransitionsTest, AnUnreadableHeadStopsTheChatInsteadOfBeingDropped) {
  must(message(text("x")));
  chat.queue[0].content.clear();
  chat.queue[0].corruption = structured::Corruption{.what = "bad", .request_id = std::nullopt};
  finish("answer", structured::succeeded(kFirst, "1"));
  EXPECT_EQ(chat.state(), State::E1);
  EXPECT_EQ(chat.chat.last_error->kind, "config");
  EXPECT_EQ(chat.count_receipts(kFirst), 1u);
  must_not(message(text("again")), RefusalKind::Conflict);
  must(DeleteQueuedMessage{.queue_id = chat.queue[0].id});
  must(message(text("again")));
  EXPECT_EQ(chat.state(), State::R0);
}

TEST_F(TransitionsTest, EachFieldOfTheFenceStopsAStaleRunner) {
  const auto stale = [&](const Fence& moved) {
    must_not(RecordGenerationAttempt{.fence = moved}, RefusalKind::Stale);
    must_not(RecordRetryState{.fence = moved, .retry_state = {}}, RefusalKind::Stale);
    must_not(CommitStep{.fence = moved, .rows = {}}, RefusalKind::Stale);
    must_not(FinishTurn{.fence = moved, .rows = {}, .receipt = std::nullopt}, RefusalKind::Stale);
    must_not(FinishError{.fence = moved, .rows = {}, .error = {}, .receipt = std::nullopt}, RefusalKind::Stale);
    must_not(FinishInterruption{.fence = moved, .rows = {}, .receipt = std::nullopt}, RefusalKind::Stale);
  };
  Fence moved = fence();
  moved.runner_id = {};
  stale(moved);
  moved = fence();
  ++moved.history_version;
  stale(moved);
  moved = fence();
  moved.status = Status::Interrupting;
  stale(moved);
  moved = fence();
  ++moved.generation_attempt;
  stale(moved);
  chat.chat.runner_id.reset();
  stale(fence());
}

TEST_F(TransitionsTest, AttemptsCountUpAndHistoryResetsThem) {
  must(RecordGenerationAttempt{.fence = fence()});
  must(RecordGenerationAttempt{.fence = fence()});
  EXPECT_EQ(chat.chat.generation_attempt, 2);
  RetryState retry;
  retry.attempt = 2;
  must(RecordRetryState{.fence = fence(), .retry_state = retry});
  EXPECT_EQ(chat.chat.retry_state, retry);
  must(CommitStep{.fence = fence(), .rows = {assistant(text("x"))}});
  EXPECT_EQ(chat.chat.generation_attempt, 0);
  EXPECT_EQ(chat.chat.retry_state, std::nullopt);
}

TEST_F(TransitionsTest, ArchivesWhatIsAtRest) {
  must_not(SetArchived{.archived = true}, RefusalKind::Conflict);
  must_not(SetArchived{.archived = false}, RefusalKind::InvalidInput);
  break_off();
  must(SetArchived{.archived = true});
  EXPECT_EQ(chat.state(), State::XE0);
  must_not(SetArchived{.archived = true}, RefusalKind::InvalidInput);
  must(SetArchived{.archived = false});
  EXPECT_EQ(chat.state(), State::E0);
}

TEST_F(TransitionsTest, TitlesAreTrimmedAndBounded) {
  must(SetTitle{.title = "  new \n"});
  EXPECT_EQ(chat.chat.title, "new");
  must_not(SetTitle{.title = " \t"}, RefusalKind::InvalidInput);
  std::string longest;
  for (std::size_t i = 0; i < kTitleCodePointsMax; ++i) longest += "\xC3\xA4";
  must(SetTitle{.title = longest});
  must_not(SetTitle{.title = longest + "x"}, RefusalKind::InvalidInput);
  const Decision same = decide(chat.locked({}), SetTitle{.title = longest});
  EXPECT_EQ(same->title, std::nullopt);
}

TEST_F(TransitionsTest, LabelsAreReplacedWhole) {
  must(SetLabels{.labels = {{"a", "1"}}});
  must(SetLabels{.labels = {{"b", "2"}}});
  EXPECT_EQ(chat.chat.labels, (std::map<std::string, std::string>{{"b", "2"}}));
}

TEST_F(TransitionsTest, ReconcileRepairsWhatIsNoState) {
  must_not(ReconcileInvalidState{}, RefusalKind::Conflict);
  finish();
  must(message(asking(kFirst)));
  must(message(asking(kSecond)));
  chat.messages.push_back(chat.messages.back());
  chat.messages.back().role = Role::Assistant;
  chat.messages.back().content = {call("c1")};
  chat.chat.status = Status::Waiting;
  ASSERT_EQ(chat.state(), State::Invalid);
  must(ReconcileInvalidState{});
  EXPECT_EQ(chat.state(), State::E1);
  EXPECT_TRUE(outstanding_calls(chat.messages).empty());
  EXPECT_EQ(chat.receipt(kFirst)->error->code, structured::OutcomeCode::GenerationFailed);
  EXPECT_EQ(chat.count_receipts(kSecond), 0u);
}

TEST_F(TransitionsTest, ReconcileBringsAnArchivedChatAtWorkBack) {
  chat.chat.archived = true;
  ASSERT_EQ(chat.state(), State::Invalid);
  must(ReconcileInvalidState{});
  EXPECT_EQ(chat.state(), State::E0);
}

TEST_F(TransitionsTest, RefusalsNameStateAndTransition) {
  const auto refusal = chat.apply(SetArchived{.archived = true});
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->message, "Archiving or unarchiving is not possible while the chat is running.");
}

}  // namespace
}  // namespace assay::chat

#include "chat/promote.h"

#include <gmock/gmock.h>

#include "chat/transition_fixture.h"
#include "structured/outcome.h"

namespace assay::chat {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PromoteTest : public TransitionsTest {
 protected:
  void queue_three() {
    must(message(text("a")));
    must(message(asking(kSecond)));
    must(message(text("c")));
  }
  [[nodiscard]] std::vector<std::int64_t> order() const {
    std::vector<std::int64_t> ids;
    for (const QueuedMessage& queued : chat.queue) ids.push_back(queued.id);
    return ids;
  }
};

TEST_F(PromoteTest, InterruptsARunningTurnAndFollowsIt) {
  queue_three();
  must(PromoteQueuedMessage{.queue_id = 2});
  EXPECT_EQ(chat.state(), State::I1);
  EXPECT_THAT(order(), ElementsAre(2, 1, 3));
  EXPECT_EQ(chat.messages.size(), 1u) << "no row enters history yet";
  must(FinishInterruption{.fence = fence(), .rows = {}, .receipt = std::nullopt});
  EXPECT_EQ(last().content, asking(kSecond)) << "the request keeps its id and format";
  EXPECT_THAT(order(), ElementsAre(1, 3));
}

TEST_F(PromoteTest, ReordersWhileTheTurnIsBeingInterrupted) {
  queue_three();
  must(Interrupt{});
  must(PromoteQueuedMessage{.queue_id = 3});
  must(PromoteQueuedMessage{.queue_id = 2});
  EXPECT_EQ(chat.state(), State::I1);
  EXPECT_THAT(order(), ElementsAre(2, 3, 1));
  must(PromoteQueuedMessage{.queue_id = 2});
  EXPECT_THAT(order(), ElementsAre(2, 3, 1)) << "the head stays where it is";
}

TEST_F(PromoteTest, WhatIsQueuedLaterStaysBehind) {
  queue_three();
  must(PromoteQueuedMessage{.queue_id = 3});
  must(message(text("d")));
  EXPECT_THAT(order(), ElementsAre(3, 1, 2, 4));
}

TEST_F(PromoteTest, EntersHistoryAtOnceAfterAnError) {
  queue_three();
  break_off();
  must(PromoteQueuedMessage{.queue_id = 2});
  EXPECT_EQ(chat.state(), State::R1);
  EXPECT_EQ(chat.chat.last_error, std::nullopt);
  EXPECT_EQ(last().content, asking(kSecond));
  EXPECT_THAT(order(), ElementsAre(1, 3));
}

TEST_F(PromoteTest, TheOnlyMessageLeavesAnEmptyQueue) {
  must(message(text("a")));
  break_off();
  must(PromoteQueuedMessage{.queue_id = 1});
  EXPECT_EQ(chat.state(), State::R0);
  EXPECT_THAT(order(), IsEmpty());
}

TEST_F(PromoteTest, EndsTheRequestThatWaitsForAClientsTools) {
  chat = MemoryChat(*create(new_chat(asking(kFirst))));
  own();
  must(message(asking(kSecond)));
  must(CommitStep{.fence = fence(), .rows = {assistant({call("open")})}});
  chat.chat.status = Status::RequiresAction;
  chat.chat.requires_action_deadline = WallTime{};
  must(PromoteQueuedMessage{.queue_id = 1});
  EXPECT_EQ(chat.state(), State::R0);
  EXPECT_EQ(last(2).role, Role::Tool) << "the canceled call, the receipt, then the message";
  EXPECT_EQ(chat.receipt(kFirst)->error->code, structured::OutcomeCode::Interrupted);
  EXPECT_EQ(last(1).content.back(), Part(*chat.receipt(kFirst)));
  EXPECT_EQ(last().content, asking(kSecond));
  EXPECT_EQ(chat.chat.requires_action_deadline, std::nullopt);
  EXPECT_TRUE(outstanding_calls(chat.messages).empty());
}

TEST_F(PromoteTest, EndsARequestOnceEvenWhereItCannotBeRead) {
  chat = MemoryChat(*create(new_chat(asking(kFirst))));
  own();
  must(message(text("a")));
  chat.messages[0].content.clear();
  chat.messages[0].corruption = structured::Corruption{.what = "bad", .request_id = kFirst};
  chat.chat.status = Status::RequiresAction;
  must(PromoteQueuedMessage{.queue_id = 1});
  EXPECT_EQ(chat.count_receipts(kFirst), 1u);
}

TEST_F(PromoteTest, RefusesWhatIsNotQueuedOrCannotBeRead) {
  queue_three();
  must_not(PromoteQueuedMessage{.queue_id = 4}, RefusalKind::NotFound);
  break_off();
  chat.queue[0].corruption = structured::Corruption{.what = "bad", .request_id = std::nullopt};
  must_not(PromoteQueuedMessage{.queue_id = 1}, RefusalKind::Conflict);
  must(PromoteQueuedMessage{.queue_id = 2});
}

TEST_F(PromoteTest, RefusesAnArchivedChat) {
  queue_three();
  break_off();
  must(SetArchived{.archived = true});
  must_not(PromoteQueuedMessage{.queue_id = 1}, RefusalKind::Archived);
}

}  // namespace
}  // namespace assay::chat

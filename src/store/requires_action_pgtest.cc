// What the store keeps and tells of a turn that waits for its client's tools.
#include <gmock/gmock.h>

#include <utility>

#include "chat/requires_action.h"
#include "database/test_database.h"
#include "store/chat_store.h"

namespace assay::store {
namespace {

using test_database::in_test_time;
using test_database::StoreTest;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kPatienceMs = 600'000;

class RequiresActionStoreTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    id_ = create_chat().chat.id;
    const auto owned = acquire();
    ASSERT_THAT(owned, SizeIs(1));
    runner_ = owned[0].runner;
  }

  std::vector<Ownership> acquire(Milliseconds lease = Milliseconds(20'000)) {
    return get(chats().acquire(replica_, 10, lease, in_test_time())).value_or(std::vector<Ownership>());
  }
  TurnRead turn() { return **get(chats().read_turn(id_, in_test_time())); }
  SyncRead sync(SyncCursor cursor = {}) { return **get(chats().read_sync(id_, cursor, in_test_time())); }
  chat::Fence fence() { return chat::fence_of(turn().chat, runner_); }

  template <class Input>
  Result<Committed, TransitError> apply(const Input& input) {
    const Decide decide = [&input](const chat::LockedChat& locked) { return chat::decide(locked, input); };
    return get(chats().transit(id_, chat::reads_of(input), decide, in_test_time()));
  }
  // Two calls wait for the client.
  void enter() {
    chat::EnterRequiresAction input;
    input.fence = fence();
    input.patience_ms = kPatienceMs;
    chat::NewMessage& step = input.rows.emplace_back();
    step.role = chat::Role::Assistant;
    for (const char* call : {"a", "b"}) {
      chat::ToolCallPart part;
      part.id = call;
      part.name = "theirs";
      part.arguments = R"({"n":1e400})";
      step.content.emplace_back(std::move(part));
    }
    ASSERT_TRUE(apply(input).has_value());
  }
  chat::CompleteRequiresAction results() {
    return {.results = {{.call_id = "b", .output = R"({"n":10.00})"}, {.call_id = "a", .output = "null"}},
            .created_by = UserId::random(system_random())};
  }

  ChatId id_;
  RunnerId runner_;
};

TEST_F(RequiresActionStoreTest, TheDeadlineIsOfTheDatabasesClock) {
  enter();
  const TurnRead read = turn();
  EXPECT_EQ(read.chat.status, chat::Status::RequiresAction);
  EXPECT_EQ(read.chat.runner_id, runner_) << "who asked goes on owning the chat";
  ASSERT_TRUE(read.chat.requires_action_deadline.has_value());
  const auto left = *read.chat.requires_action_deadline - read.now;
  EXPECT_LE(left, Milliseconds(kPatienceMs));
  EXPECT_GT(left, Milliseconds(kPatienceMs) - test_database::kTestTimeout);
}

TEST_F(RequiresActionStoreTest, EndsAtThatDeadlineAndNotBefore) {
  enter();
  const auto early = apply(chat::CancelRequiresAction{.fence = fence()});
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(std::get<chat::Refusal>(early.error()).kind, chat::RefusalKind::Stale);
  database.sql("update chats set requires_action_deadline_at = clock_timestamp()");
  const auto late = apply(chat::CancelRequiresAction{.fence = fence()});
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->chat.status, chat::Status::Running);
  EXPECT_EQ(late->chat.requires_action_deadline, std::nullopt);
  EXPECT_THAT(late->inserted, SizeIs(2));
}

TEST_F(RequiresActionStoreTest, ASyncTellsThePendingCallsWhateverItsCursor) {
  EXPECT_THAT(sync().pending_calls, IsEmpty());
  enter();
  const SyncRead first = sync();
  ASSERT_THAT(first.pending_calls, SizeIs(2));
  EXPECT_EQ(first.pending_calls[0].id, "a");
  EXPECT_EQ(first.pending_calls[0].arguments, R"({"n":1e400})");
  const SyncRead again = sync(SyncCursor{first.chat.snapshot_version, first.chat.queue_version, 0});
  EXPECT_THAT(again.messages, IsEmpty());
  EXPECT_THAT(again.pending_calls, SizeIs(2)) << "to whoever comes back";
  const auto committed = apply(results());
  ASSERT_TRUE(committed.has_value());
  EXPECT_THAT(sync().pending_calls, IsEmpty());
}

TEST_F(RequiresActionStoreTest, KeepsResultsAsTheyWereSent) {
  enter();
  ASSERT_TRUE(apply(results()).has_value());
  const TurnRead read = turn();
  EXPECT_EQ(read.chat.status, chat::Status::Running);
  ASSERT_GE(read.history.size(), 2U);
  const chat::Message& last = read.history.back();
  EXPECT_EQ(std::get<chat::ToolResultPart>(last.content[0]).result, R"({"n":10.00})");
  EXPECT_TRUE(last.created_by.has_value());
  const auto twice = apply(results());
  ASSERT_FALSE(twice.has_value());
  EXPECT_EQ(std::get<chat::Refusal>(twice.error()).kind, chat::RefusalKind::Conflict);
}

TEST_F(RequiresActionStoreTest, ATakeoverChangesNothingOfTheWait) {
  enter();
  const TurnRead before = turn();
  const auto taken = acquire(Milliseconds(0));
  ASSERT_THAT(taken, SizeIs(1));
  const TurnRead after = turn();
  EXPECT_NE(after.chat.runner_id, before.chat.runner_id);
  EXPECT_EQ(after.chat.requires_action_deadline, before.chat.requires_action_deadline);
  EXPECT_EQ(after.chat.history_version, before.chat.history_version);
  const auto late = apply(chat::CancelRequiresAction{.fence = chat::fence_of(after.chat, runner_)});
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(std::get<chat::Refusal>(late.error()).kind, chat::RefusalKind::Stale) << "the first owner writes nothing";
}

}  // namespace
}  // namespace assay::store

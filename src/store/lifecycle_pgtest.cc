// What people do to a chat at the same instant, with the real transitions on real rows: the first commit under the lock
// decides, and the books balance afterwards.
#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

#include "chat/edit.h"
#include "chat/promote.h"
#include "chat/state.h"
#include "database/test_database.h"
#include "net/task_group.h"
#include "store/chat_store.h"
#include "structured/outcome.h"

namespace assay::store {
namespace {

using test_database::in_test_time;
using test_database::StoreTest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

template <class Input>
net::Task<> try_on(ChatStore* store, ChatId chat, Input input, int* applied) {
  const auto decide = [&input](const chat::LockedChat& locked) { return chat::decide(locked, input); };
  const auto committed = co_await store->transit(chat, chat::reads_of(input), decide, in_test_time());
  if (committed)
    ++*applied;
  else
    EXPECT_TRUE(std::holds_alternative<chat::Refusal>(committed.error()));
}

chat::Content words(std::string text) {
  chat::Content content;
  content.emplace_back(chat::TextPart{.text = std::move(text)});
  return content;
}

class LifecycleTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    chat_ = create_chat().chat.id;
    store::Store& other = open_replica(ReplicaId::random(system_random()));
    doors_ = {&chats(), &other.chats()};
  }

  // A message that asks for a value; the request's id.
  RequestId ask(chat::BusyBehavior behavior = chat::BusyBehavior::Queue) {
    chat::SendMessage input;
    input.content = words("ask");
    const RequestId id = RequestId::random(system_random());
    input.content.emplace_back(
        structured::RequestPart{.request_id = id, .name = "n", .description = std::nullopt, .schema = "{}"});
    input.busy_behavior = behavior;
    input.created_by = UserId::random(system_random());
    EXPECT_TRUE(apply(input).has_value());
    return id;
  }
  template <class Input>
  Result<Committed, TransitError> apply(Input input) {
    const auto decide = [&input](const chat::LockedChat& locked) { return chat::decide(locked, input); };
    return get(chats().transit(chat_, chat::reads_of(input), decide, in_test_time()));
  }
  // Starts all inputs at once, by turns through two replicas; how many were carried out.
  template <class Input>
  void spawn(net::TaskGroup& group, Input input, int* applied) {
    group.spawn("transition", try_on(doors_[next_++ % doors_.size()], chat_, std::move(input), applied));
  }

  [[nodiscard]] std::vector<std::int64_t> queue() {
    std::vector<std::int64_t> ids;
    const auto listed = get(chats().list_queue(chat_, in_test_time()));
    for (const auto& message : *listed) ids.push_back(message.id);
    return ids;
  }
  [[nodiscard]] TurnRead turn() { return std::move(**get(chats().read_turn(chat_, in_test_time()))); }
  // Codes of all receipts by request, deleted rows included.
  [[nodiscard]] std::string receipts_of(RequestId id) {
    return database.value(
        "select coalesce(string_agg(p #>> '{structured_output_data,error,code}', ','), '') from chat_messages, "
        "jsonb_array_elements(content) p where p ->> 'type' = 'structured-output-outcome' and "
        "p #>> '{structured_output_data,request_id}' = '" +
        id.to_string() + "'");
  }

  ChatId chat_;
  std::vector<ChatStore*> doors_;
  std::size_t next_ = 0;
};

chat::EditMessage edit_of(std::int64_t id, chat::EditedFormat format = chat::ClearFormat{}) {
  chat::EditMessage input;
  input.message_id = id;
  input.content = words("instead");
  input.format = std::move(format);
  input.created_by = UserId::random(system_random());
  return input;
}

TEST_F(LifecycleTest, AnEditAnswersInIdOrderAndLeavesNobodyWaiting) {
  const RequestId first = ask();
  const RequestId second = ask();
  const auto edited = apply(edit_of(1));
  ASSERT_TRUE(edited);
  EXPECT_EQ(chat::state_of(edited->chat), chat::State::R0);
  EXPECT_THAT(edited->deleted, ElementsAre(1));
  ASSERT_THAT(edited->inserted, SizeIs(3));
  EXPECT_TRUE(std::ranges::is_sorted(edited->inserted, {}, &chat::Message::id));
  EXPECT_EQ(edited->inserted.back().role, chat::Role::User);
  EXPECT_EQ(receipts_of(first), "superseded");
  EXPECT_EQ(receipts_of(second), "superseded");
  EXPECT_THAT(queue(), IsEmpty());
  EXPECT_EQ(edited->chat.history_version, edited->chat.snapshot_version) << "running work is fenced";
}

TEST_F(LifecycleTest, ASecondEditFindsTheMessageGone) {
  net::TaskGroup group(loop);
  int applied = 0;
  for (int count = 0; count < 6; ++count) spawn(group, edit_of(1), &applied);
  run(group.join());
  EXPECT_EQ(applied, 1) << "the first commit under the lock decides";
  EXPECT_THAT(turn().history, SizeIs(1));
}

TEST_F(LifecycleTest, PositionsStayRightUnderConcurrentReordering) {
  constexpr std::int64_t kMessages = 8;
  for (int count = 0; count < kMessages; ++count) ask();
  net::TaskGroup group(loop);
  int promoted = 0;
  int sent = 0;
  int deleted = 0;
  for (std::int64_t id = 1; id <= kMessages; ++id) spawn(group, chat::PromoteQueuedMessage{id}, &promoted);
  for (int count = 0; count < 4; ++count) {
    chat::SendMessage input;
    input.content = words("later");
    spawn(group, std::move(input), &sent);
  }
  for (const std::int64_t id : {2, 5}) spawn(group, chat::DeleteQueuedMessage{id}, &deleted);
  run(group.join());
  EXPECT_EQ(sent, 4);
  EXPECT_EQ(deleted, 2);
  EXPECT_GE(promoted, 6);
  EXPECT_THAT(queue(), UnorderedElementsAre(1, 3, 4, 6, 7, 8, 9, 10, 11, 12));
  EXPECT_EQ(database.value("select count(distinct position) from chat_queued_messages"), "10")
      << "no two share a place";
  EXPECT_EQ(database.value("select queue_length from chats"), "10");
  const auto last = apply(chat::PromoteQueuedMessage{7});
  ASSERT_TRUE(last);
  EXPECT_EQ(queue().front(), 7);
  EXPECT_EQ(last->chat.status, chat::Status::Interrupting);
}

TEST_F(LifecycleTest, TheQueueNeverHoldsMoreThanItsLimit) {
  net::TaskGroup group(loop);
  int sent = 0;
  for (std::size_t count = 0; count < chat::kQueueMax + 5; ++count) {
    chat::SendMessage input;
    input.content = words("more");
    spawn(group, std::move(input), &sent);
  }
  run(group.join());
  EXPECT_EQ(sent, static_cast<int>(chat::kQueueMax));
  EXPECT_THAT(queue(), SizeIs(chat::kQueueMax));
}

TEST_F(LifecycleTest, EveryRequestEndsOnceWhateverRaces) {
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t question = turn().history.back().id;
    const std::vector<RequestId> asked{ask(), ask(), ask()};
    const std::vector<std::int64_t> queued = queue();
    net::TaskGroup group(loop);
    int edits = 0;
    int others = 0;
    spawn(group, chat::DeleteQueuedMessage{queued[0]}, &others);
    spawn(group, edit_of(question), &edits);
    spawn(group, chat::PromoteQueuedMessage{queued[1]}, &others);
    spawn(group, chat::DeleteQueuedMessage{queued[0]}, &others);
    spawn(group, chat::Interrupt{}, &others);
    spawn(group, edit_of(question), &edits);
    run(group.join());
    EXPECT_EQ(edits, 1);
    for (const RequestId& id : asked) {
      EXPECT_THAT(receipts_of(id), ::testing::AnyOf("superseded", "queue_deleted"));
    }
    const TurnRead read = turn();
    EXPECT_EQ(chat::state_of(read.chat) == chat::State::R0 || chat::state_of(read.chat) == chat::State::I0, true);
    if (read.chat.status == chat::Status::Interrupting) {
      database.sql("update chats set status = 'running'");  // nobody runs the turn in this test
    }
  }
}

TEST_F(LifecycleTest, AnInterruptionWaitsForNoLockThatAnEditHolds) {
  // An edit between the interruption's read and its commit: the runner's fence is gone, nothing is written twice.
  const RunnerId runner = RunnerId::random(system_random());
  database.sql("update chats set worker_id = gen_random_uuid(), runner_id = '" + runner.to_string() + "'");
  ASSERT_TRUE(apply(chat::Interrupt{}));
  const chat::Fence before = chat::fence_of(turn().chat, runner);
  ASSERT_TRUE(apply(edit_of(1)));
  const auto late = apply(chat::FinishInterruption{.fence = before, .rows = {}, .receipt = std::nullopt});
  ASSERT_FALSE(late);
  EXPECT_EQ(std::get<chat::Refusal>(late.error()).kind, chat::RefusalKind::Stale);
  EXPECT_THAT(turn().history, SizeIs(1));
}

}  // namespace
}  // namespace assay::store

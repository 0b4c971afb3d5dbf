#include <gmock/gmock.h>

#include <utility>

#include "database/test_database.h"
#include "net/task_group.h"
#include "store/chat_store.h"
#include "store/pool.h"

namespace assay::store {
namespace {

using test_database::in_test_time;
using test_database::StoreTest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

chat::NewMessage text_message(chat::Role role, std::string_view text,
                              chat::Visibility visibility = chat::Visibility::Both) {
  chat::NewMessage message;
  message.role = role;
  message.visibility = visibility;
  message.content.push_back(chat::TextPart{std::string(text)});
  return message;
}

chat::NewMessage receipt(RequestId request) {
  structured::OutcomePart outcome;
  outcome.request_id = request;
  outcome.status = structured::OutcomeStatus::Succeeded;
  outcome.value = R"({"big":1e25,"price":10.00})";
  return chat::receipt_row(outcome);
}

std::string text_of(const chat::Message& message) { return std::get<chat::TextPart>(message.content.front()).text; }

chat::RefusalKind refusal_in(const TransitError& error) {
  const auto* refusal = std::get_if<chat::Refusal>(&error);
  return refusal == nullptr ? chat::RefusalKind::InvalidInput : refusal->kind;
}

StoreErrorKind kind_in(const TransitError& error) {
  const auto* failure = std::get_if<StoreError>(&error);
  EXPECT_NE(failure, nullptr) << "a refusal: " << std::get<chat::Refusal>(error).message;
  return failure == nullptr ? StoreErrorKind::Internal : failure->kind;
}

class ChatStoreTest : public StoreTest {
 protected:
  Result<Committed, TransitError> apply(ChatId chat, chat::Effects effects) {
    return get(chats().transit(
        chat, chat::ReadPlan(), [&effects](const chat::LockedChat&) -> chat::Decision { return effects; },
        in_test_time()));
  }
  Committed insert(ChatId chat, std::vector<chat::NewMessage> messages) {
    chat::Effects effects;
    effects.insert = std::move(messages);
    auto committed = apply(chat, std::move(effects));
    EXPECT_TRUE(committed.has_value());
    return committed.has_value() ? std::move(*committed) : Committed();
  }
  Committed enqueue(ChatId chat, std::string_view text) {
    chat::Effects effects;
    chat::EnqueueMessage message;
    message.content.push_back(chat::TextPart{std::string(text)});
    message.created_by = UserId::random(system_random());
    effects.enqueue.push_back(std::move(message));
    auto committed = apply(chat, std::move(effects));
    EXPECT_TRUE(committed.has_value());
    return committed.has_value() ? std::move(*committed) : Committed();
  }
};

TEST_F(ChatStoreTest, CreatesAChatWithItsFirstMessage) {
  const Committed created = create_chat("what is the time?");
  EXPECT_EQ(created.chat.status, chat::Status::Running);
  EXPECT_EQ(created.chat.snapshot_version, 1);
  EXPECT_EQ(created.chat.history_version, 1);
  EXPECT_EQ(created.chat.last_message_id, 1);
  ASSERT_THAT(created.inserted, SizeIs(1));
  EXPECT_EQ(created.inserted[0].id, 1);
  EXPECT_EQ(created.inserted[0].revision, 1);

  const auto found = get(chats().find_chat(created.chat.id, in_test_time()));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->owner_id, created.chat.owner_id);
  const auto page = get(chats().list_messages(created.chat.id, std::nullopt, std::nullopt, 10, in_test_time()));
  ASSERT_TRUE(page);
  ASSERT_THAT(page->messages, SizeIs(1));
  EXPECT_EQ(text_of(page->messages[0]), "what is the time?");
  EXPECT_EQ(page->messages[0].created_at, created.inserted[0].created_at);
}

TEST_F(ChatStoreTest, RefusesASecondChatOfTheSameId) {
  const Committed created = create_chat();
  chat::NewChat again;
  again.chat = created.chat;
  const auto refused = get(chats().create(std::move(again), in_test_time()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refusal_in(refused.error()), chat::RefusalKind::Conflict);
}

TEST_F(ChatStoreTest, KeepsEverySettingOfAChat) {
  chat::NewChat created;
  chat::Chat& chat = created.chat;
  chat.id = ChatId::random(system_random());
  chat.organization_id = OrganizationId::random(system_random());
  chat.owner_id = UserId::random(system_random());
  chat.parent_chat_id = ChatId::random(system_random());
  chat.root_chat_id = chat.parent_chat_id;
  chat.title = "a 'title' with \"quotes\" and \xC3\xA9";
  chat.mode = "explore";
  chat.plan_mode = "plan";
  chat.client_type = "ui";
  chat.labels = {{"team", "blue"}, {"key\"with", "quote\\"}};
  chat.dynamic_tools = R"([{"name":"x","input_schema":{"maximum":1e400}}])";
  chat.last_model_config = ModelConfigId::random(system_random());
  chat.reasoning_effort = "high";
  chat.status = chat::Status::Waiting;
  const auto committed = get(chats().create(created, in_test_time()));
  ASSERT_TRUE(committed);
  const chat::Chat& kept = committed->chat;
  EXPECT_EQ(kept.organization_id, chat.organization_id);
  EXPECT_EQ(kept.parent_chat_id, chat.parent_chat_id);
  EXPECT_EQ(kept.root_chat_id, chat.root_chat_id);
  EXPECT_EQ(kept.title, chat.title);
  EXPECT_EQ(kept.mode, "explore");
  EXPECT_EQ(kept.plan_mode, "plan");
  EXPECT_EQ(kept.client_type, "ui");
  EXPECT_EQ(kept.labels, chat.labels);
  EXPECT_EQ(kept.dynamic_tools, chat.dynamic_tools);
  EXPECT_EQ(kept.last_model_config, chat.last_model_config);
  EXPECT_EQ(kept.reasoning_effort, "high");
  EXPECT_EQ(kept.status, chat::Status::Waiting);
}

TEST_F(ChatStoreTest, AppliesEveryEffectInOneSnapshot) {
  const Committed created = create_chat();
  const ChatId id = created.chat.id;
  chat::Effects effects;
  effects.delete_messages = {1};
  effects.insert = {text_message(chat::Role::Assistant, "one"),
                    text_message(chat::Role::Tool, "two", chat::Visibility::Model)};
  effects.status = chat::Status::Error;
  chat::ChatError error;
  error.message = "it broke";
  error.detail = "badly";
  error.kind = "timeout";
  error.provider = "sim";
  error.retryable = true;
  error.status_code = 504;
  effects.last_error.emplace(error);
  chat::RetryState retry;
  retry.attempt = 3;
  retry.delay_ms = 1500;
  retry.error = error;
  retry.retrying_at = WallTime(std::chrono::microseconds(1'700'000'000'123'456));
  effects.retry_state.emplace(retry);
  effects.requires_action_after_ms = 60'000;
  effects.title = "new title";
  effects.labels = std::map<std::string, std::string>{{"a", "b"}};
  effects.plan_mode = "plan";
  effects.last_model_config = ModelConfigId::random(system_random());
  effects.reasoning_effort.emplace("low");
  effects.compaction_due = true;
  const auto model = effects.last_model_config;

  const auto committed = apply(id, std::move(effects));
  ASSERT_TRUE(committed);
  const chat::Chat& chat = committed->chat;
  EXPECT_EQ(chat.snapshot_version, 2);
  EXPECT_EQ(chat.history_version, 2);
  EXPECT_EQ(chat.last_message_id, 3);
  EXPECT_EQ(chat.status, chat::Status::Error);
  EXPECT_EQ(chat.last_error, error);
  EXPECT_EQ(chat.retry_state, retry);
  EXPECT_EQ(chat.retry_state_version, 2);
  ASSERT_TRUE(chat.requires_action_deadline);
  EXPECT_GE(*chat.requires_action_deadline, chat.created_at + std::chrono::seconds(60));
  EXPECT_EQ(chat.title, "new title");
  EXPECT_EQ(chat.labels, (std::map<std::string, std::string>{{"a", "b"}}));
  EXPECT_EQ(chat.plan_mode, "plan");
  EXPECT_EQ(chat.last_model_config, model);
  EXPECT_EQ(chat.reasoning_effort, "low");
  EXPECT_TRUE(chat.compaction_due);
  EXPECT_THAT(committed->deleted, ElementsAre(1));
  ASSERT_THAT(committed->inserted, SizeIs(2));
  EXPECT_EQ(committed->inserted[1].id, 3);
  EXPECT_EQ(committed->inserted[1].visibility, chat::Visibility::Model);
  EXPECT_EQ(committed->inserted[1].revision, 2);

  chat::Effects undo;
  undo.last_error.emplace(std::nullopt);
  undo.retry_state.emplace(std::nullopt);
  undo.clear_requires_action_deadline = true;
  undo.reasoning_effort.emplace(std::nullopt);
  const auto undone = apply(id, std::move(undo));
  ASSERT_TRUE(undone);
  EXPECT_EQ(undone->chat.last_error, std::nullopt);
  EXPECT_EQ(undone->chat.retry_state, std::nullopt);
  EXPECT_EQ(undone->chat.requires_action_deadline, std::nullopt);
  EXPECT_EQ(undone->chat.reasoning_effort, std::nullopt);
  EXPECT_EQ(undone->chat.title, "new title");
}

TEST_F(ChatStoreTest, KeepsTheQueueInOrder) {
  const ChatId id = create_chat().chat.id;
  EXPECT_EQ(enqueue(id, "a").enqueued[0].id, 1);
  enqueue(id, "b");
  const Committed third = enqueue(id, "c");
  EXPECT_EQ(third.chat.queue_length, 3);
  EXPECT_EQ(third.chat.queue_version, third.chat.snapshot_version);
  EXPECT_EQ(third.chat.history_version, 1);

  chat::Effects reorder;
  reorder.queue_order = {3, 1, 2};
  ASSERT_TRUE(apply(id, std::move(reorder)));
  EXPECT_EQ(enqueue(id, "d").enqueued[0].id, 4);
  chat::Effects remove;
  remove.dequeue = {1};
  const auto removed = apply(id, std::move(remove));
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->chat.queue_length, 3);

  const auto queue = get(chats().list_queue(id, in_test_time()));
  ASSERT_TRUE(queue);
  std::vector<std::int64_t> ids;
  for (const auto& message : *queue) ids.push_back(message.id);
  EXPECT_THAT(ids, ElementsAre(3, 2, 4));
}

TEST_F(ChatStoreTest, ReadsUnderTheLockWhatThePlanAsksFor) {
  const ChatId id = create_chat().chat.id;
  const RequestId closed = RequestId::random(system_random());
  const RequestId open = RequestId::random(system_random());
  insert(id, {receipt(closed)});
  enqueue(id, "queued");
  chat::ReadPlan plan;
  plan.queue = true;
  plan.history = true;
  plan.outcomes_of = {open, closed};
  chat::LockedChat seen;
  const auto decide = [&seen](const chat::LockedChat& locked) -> chat::Decision {
    seen = locked;
    return chat::Effects();
  };
  ASSERT_TRUE(get(chats().transit(id, plan, decide, in_test_time())));
  EXPECT_EQ(seen.chat.snapshot_version, 4);
  EXPECT_THAT(seen.queue, SizeIs(1));
  EXPECT_THAT(seen.history, SizeIs(2));
  EXPECT_THAT(seen.closed_requests, ElementsAre(closed));
  EXPECT_GE(seen.now, seen.chat.created_at);

  ASSERT_TRUE(get(chats().transit(id, chat::ReadPlan(), decide, in_test_time())));
  EXPECT_THAT(seen.queue, IsEmpty());
  EXPECT_THAT(seen.history, IsEmpty());
  EXPECT_THAT(seen.closed_requests, IsEmpty());
}

TEST_F(ChatStoreTest, ReadsTheOpenStepAloneWhenAskedFor) {
  const ChatId id = create_chat("question").chat.id;
  chat::ReadPlan plan;
  plan.open_step = true;
  std::vector<std::string> seen;
  const auto decide = [&seen](const chat::LockedChat& locked) -> chat::Decision {
    seen.clear();
    for (const chat::Message& message : locked.history) seen.push_back(text_of(message));
    return chat::Effects();
  };
  ASSERT_TRUE(get(chats().transit(id, plan, decide, in_test_time())));
  EXPECT_THAT(seen, ElementsAre("question")) << "without an answer all rows are open";

  insert(id, {text_message(chat::Role::Assistant, "first answer"), text_message(chat::Role::User, "again"),
              text_message(chat::Role::Assistant, "calls"), text_message(chat::Role::Tool, "result"),
              text_message(chat::Role::Assistant, "for clients", chat::Visibility::User)});
  ASSERT_TRUE(get(chats().transit(id, plan, decide, in_test_time())));
  EXPECT_THAT(seen, ElementsAre("calls", "result", "for clients"));

  plan.suffix_of = 4;
  ASSERT_TRUE(get(chats().transit(id, plan, decide, in_test_time())));
  EXPECT_THAT(seen, ElementsAre("first answer", "again", "calls", "result", "for clients"));
  plan.suffix_of = 1;
  ASSERT_TRUE(get(chats().transit(id, plan, decide, in_test_time())));
  EXPECT_THAT(seen, SizeIs(6)) << "no step stands before it";
}

TEST_F(ChatStoreTest, CountsADeletedOutcomeAsExisting) {
  const ChatId id = create_chat().chat.id;
  const RequestId request = RequestId::random(system_random());
  insert(id, {receipt(request)});
  chat::Effects remove;
  remove.delete_messages = {2};
  ASSERT_TRUE(apply(id, std::move(remove)));
  chat::ReadPlan plan;
  plan.outcomes_of = {request};
  std::vector<RequestId> closed;
  const auto decide = [&closed](const chat::LockedChat& locked) -> chat::Decision {
    closed = locked.closed_requests;
    return chat::Effects();
  };
  ASSERT_TRUE(get(chats().transit(id, plan, decide, in_test_time())));
  EXPECT_THAT(closed, ElementsAre(request));
  plan = chat::ReadPlan();
  plan.all_outcomes = true;
  ASSERT_TRUE(get(chats().transit(id, plan, decide, in_test_time())));
  EXPECT_THAT(closed, ElementsAre(request));

  chat::Effects second;
  second.insert = {receipt(request)};
  const auto refused = apply(id, std::move(second));
  ASSERT_FALSE(refused);
  EXPECT_EQ(std::get<StoreError>(refused.error()).sqlstate, "23505");
}

TEST_F(ChatStoreTest, ReceiptsLeaveRunningWorkAlone) {
  const ChatId id = create_chat().chat.id;
  chat::Effects attempt;
  attempt.generation_attempt = 2;
  ASSERT_TRUE(apply(id, std::move(attempt)));
  const Committed closed = insert(id, {receipt(RequestId::random(system_random()))});
  EXPECT_EQ(closed.chat.history_version, 1);
  EXPECT_EQ(closed.chat.generation_attempt, 2);
  EXPECT_EQ(closed.inserted[0].revision, closed.chat.snapshot_version);

  const Committed mixed =
      insert(id, {receipt(RequestId::random(system_random())), text_message(chat::Role::User, "next")});
  EXPECT_EQ(mixed.chat.history_version, mixed.chat.snapshot_version);
  EXPECT_EQ(mixed.chat.generation_attempt, 0);
}

TEST_F(ChatStoreTest, ReturnsTheExactTextOfAReceipt) {
  const ChatId id = create_chat().chat.id;
  insert(id, {receipt(RequestId::random(system_random()))});
  const auto page = get(chats().list_messages(id, std::nullopt, std::nullopt, 1, in_test_time()));
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->has_more);
  EXPECT_EQ(std::get<structured::OutcomePart>(page->messages[0].content[1]).value, R"({"big":1e25,"price":10.00})");
}

TEST_F(ChatStoreTest, ARefusalWritesNothing) {
  const ChatId id = create_chat().chat.id;
  const auto subscription = store_->notifications().subscribe(id);
  const auto refuse = [](const chat::LockedChat&) -> chat::Decision {
    return fail(chat::Refusal{chat::RefusalKind::Stale, "moved"});
  };
  const auto refused = get(chats().transit(id, chat::ReadPlan(), refuse, in_test_time()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refusal_in(refused.error()), chat::RefusalKind::Stale);
  EXPECT_EQ(database.value("select snapshot_version from chats"), "1");
  EXPECT_EQ(subscription.snapshot_hint(), 0);
}

TEST_F(ChatStoreTest, RefusesAChatThatDoesNotExist) {
  const auto decide = [](const chat::LockedChat&) -> chat::Decision { return chat::Effects(); };
  const auto refused = get(chats().transit(ChatId::random(system_random()), chat::ReadPlan(), decide, in_test_time()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refusal_in(refused.error()), chat::RefusalKind::NotFound);
  EXPECT_EQ(get(chats().find_chat(ChatId::random(system_random()), in_test_time())), std::nullopt);
}

TEST_F(ChatStoreTest, AFailedWriteRollsBackAndKeepsTheConnection) {
  const ChatId id = create_chat().chat.id;
  const RequestId request = RequestId::random(system_random());
  chat::Effects effects;
  effects.title = "never";
  effects.insert = {receipt(request), receipt(request)};
  const auto failed = apply(id, std::move(effects));
  ASSERT_FALSE(failed);
  EXPECT_EQ(kind_in(failed.error()), StoreErrorKind::Internal);
  EXPECT_EQ(database.value("select title || snapshot_version from chats"), "a chat1");
  EXPECT_EQ(database.value("select count(*) from chat_messages"), "1");
  EXPECT_EQ(store_->pool().counters().opened, 1U);
  EXPECT_EQ(store_->pool().counters().discarded, 0U);
  EXPECT_EQ(insert(id, {text_message(chat::Role::User, "still fine")}).chat.snapshot_version, 2);
}

net::Task<> add_one(ChatStore* store, ChatId chat, int* running, int* most) {
  const Decide decide = [](const chat::LockedChat& locked) -> chat::Decision {
    chat::Effects effects;
    effects.insert = {text_message(chat::Role::User, std::to_string(locked.chat.last_message_id))};
    return effects;
  };
  *most = std::max(*most, ++*running);
  const auto committed = co_await store->transit(chat, chat::ReadPlan(), decide, in_test_time());
  --*running;
  EXPECT_TRUE(committed.has_value());
}

TEST_F(ChatStoreTest, ConcurrentTransitionsSerialise) {
  const ChatId id = create_chat("0").chat.id;
  constexpr int kTransitions = 20;
  net::TaskGroup group(loop);
  int running = 0;
  int most = 0;
  for (int count = 0; count < kTransitions; ++count) group.spawn("add", add_one(&chats(), id, &running, &most));
  run(group.join());
  EXPECT_EQ(group.failed(), 0U);
  EXPECT_GT(most, 1);
  const auto turn = get(chats().read_turn(id, in_test_time()));
  ASSERT_TRUE(turn && *turn);
  EXPECT_EQ((*turn)->chat.snapshot_version, kTransitions + 1);
  ASSERT_THAT((*turn)->history, SizeIs(kTransitions + 1));
  // Each saw what the one before it had left.
  for (std::size_t index = 1; index < (*turn)->history.size(); ++index) {
    EXPECT_EQ(text_of((*turn)->history[index]), std::to_string(index));
    EXPECT_EQ((*turn)->history[index].revision, static_cast<std::int64_t>(index) + 1);
  }
}

TEST_F(ChatStoreTest, AStepTakesTwoRoundTrips) {
  const ChatId id = create_chat().chat.id;
  const PoolCounters before = store_->pool().counters();
  chat::ReadPlan plan;
  plan.outcomes_of = {RequestId::random(system_random())};
  const auto decide = [](const chat::LockedChat&) -> chat::Decision {
    chat::Effects effects;
    effects.insert = {text_message(chat::Role::Assistant, "a step"), receipt(RequestId::random(system_random()))};
    effects.status = chat::Status::Waiting;
    return effects;
  };
  ASSERT_TRUE(get(chats().transit(id, plan, decide, in_test_time())));
  const PoolCounters after = store_->pool().counters();
  EXPECT_EQ(after.exchanges - before.exchanges, 2U);
  // begin, lock, outcomes; insert, update, commit
  EXPECT_EQ(after.statements - before.statements, 6U);
}

TEST_F(ChatStoreTest, ADeadlineEndsAWaitForTheLock) {
  const ChatId id = create_chat().chat.id;
  database.sql("begin");
  database.sql("select 1 from chats for update");
  const auto decide = [](const chat::LockedChat&) -> chat::Decision { return chat::Effects(); };
  const Deadline deadline = Deadline::after(system_clock(), Milliseconds(50));
  const auto failed = get(chats().transit(id, chat::ReadPlan(), decide, deadline));
  ASSERT_FALSE(failed);
  EXPECT_EQ(kind_in(failed.error()), StoreErrorKind::Timeout);
  EXPECT_EQ(store_->pool().counters().discarded, 1U);
  // The statement that waited is told to stop, so that it does not take the lock later.
  while (database.value("select count(*) from pg_locks l join pg_stat_activity a using (pid) "
                        "where not l.granted and a.datname = current_database()") != "0") {
  }
  database.sql("rollback");
  EXPECT_EQ(database.value("select snapshot_version from chats"), "1");
}

TEST_F(ChatStoreTest, ALostAnswerToCommitIsInDoubt) {
  const ChatId id = create_chat().chat.id;
  // The session is killed by its own COMMIT, after everything that this test can see was written.
  database.sql(
      "create function kill_self() returns trigger language plpgsql as "
      "$$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;"
      "create constraint trigger kill_at_commit after insert on chat_messages deferrable initially deferred "
      "for each row execute function kill_self()");
  chat::Effects effects;
  effects.insert = {text_message(chat::Role::User, "in doubt")};
  const auto failed = apply(id, std::move(effects));
  ASSERT_FALSE(failed);
  EXPECT_EQ(kind_in(failed.error()), StoreErrorKind::InDoubt);
  database.sql("drop trigger kill_at_commit on chat_messages");
  // The version says what became of it.
  EXPECT_EQ(database.value("select snapshot_version from chats"), "1");
  EXPECT_EQ(insert(id, {text_message(chat::Role::User, "again")}).chat.snapshot_version, 2);
}

TEST_F(ChatStoreTest, ASessionKilledBeforeCommitIsNoDoubt) {
  const ChatId id = create_chat().chat.id;
  database.sql(
      "create function kill_self() returns trigger language plpgsql as "
      "$$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;"
      "create trigger kill_at_insert after insert on chat_messages for each row execute function kill_self()");
  chat::Effects effects;
  effects.insert = {text_message(chat::Role::User, "never")};
  const auto failed = apply(id, std::move(effects));
  ASSERT_FALSE(failed);
  EXPECT_EQ(kind_in(failed.error()), StoreErrorKind::Unavailable);
}

TEST_F(ChatStoreTest, ReplacesConnectionsThatTheServerClosed) {
  const ChatId id = create_chat().chat.id;
  database.cut_connections();
  EXPECT_EQ(insert(id, {text_message(chat::Role::User, "after the cut")}).chat.snapshot_version, 2);
  EXPECT_GE(store_->pool().counters().discarded, 1U);
}

TEST_F(ChatStoreTest, ListsMessagesInPages) {
  const ChatId id = create_chat("1").chat.id;
  for (int number = 2; number <= 6; ++number) {
    insert(id, {text_message(chat::Role::User, std::to_string(number),
                             number == 4 ? chat::Visibility::Model : chat::Visibility::Both)});
  }
  const auto ids = [this, id](std::optional<std::int64_t> before, std::optional<std::int64_t> after,
                              std::int64_t limit) {
    const auto page = get(chats().list_messages(id, before, after, limit, in_test_time()));
    std::vector<std::int64_t> found;
    for (const auto& message : page->messages) found.push_back(message.id);
    found.push_back(page->has_more ? 1 : 0);
    return found;
  };
  EXPECT_THAT(ids(std::nullopt, std::nullopt, 5), ElementsAre(6, 5, 3, 2, 1, 0));
  EXPECT_THAT(ids(std::nullopt, std::nullopt, 4), ElementsAre(6, 5, 3, 2, 1));
  EXPECT_THAT(ids(5, std::nullopt, 2), ElementsAre(3, 2, 1));
  EXPECT_THAT(ids(std::nullopt, 2, 2), ElementsAre(3, 5, 1));
  EXPECT_THAT(ids(std::nullopt, 3, 2), ElementsAre(5, 6, 0));
  EXPECT_THAT(ids(6, 1, 10), ElementsAre(5, 3, 2, 0));
}

TEST_F(ChatStoreTest, ListsTheChatsOfAnOwner) {
  const UserId owner = UserId::random(system_random());
  const ChatId first = create_chat_for(owner, "Rhubarb").chat.id;
  const ChatId second = create_chat_for(owner, "custard").chat.id;
  create_chat();
  chat::Effects touch;
  touch.labels = std::map<std::string, std::string>{{"team", "blue"}, {"other", "x"}};
  ASSERT_TRUE(apply(first, std::move(touch)));
  chat::Effects archive;
  archive.archived = true;
  archive.status = chat::Status::Waiting;

  const auto ids = [this](ChatListQuery query) {
    std::vector<ChatId> found;
    const auto listed = get(chats().list_chats(std::move(query), in_test_time()));
    for (const auto& chat : *listed) found.push_back(chat.id);
    return found;
  };
  ChatListQuery query;
  query.owner = owner;
  EXPECT_THAT(ids(query), ElementsAre(first, second));
  query.limit = 1;
  EXPECT_THAT(ids(query), ElementsAre(first));
  query.offset = 1;
  EXPECT_THAT(ids(query), ElementsAre(second));
  query.offset = 0;
  query.after_id = first;
  EXPECT_THAT(ids(query), ElementsAre(second));

  query = ChatListQuery();
  query.owner = owner;
  query.labels = {{"team", "blue"}};
  EXPECT_THAT(ids(query), ElementsAre(first));
  query.labels.emplace_back("other", "y");
  EXPECT_THAT(ids(query), IsEmpty());
  query.labels.clear();
  query.title_contains = "CUST";
  EXPECT_THAT(ids(query), ElementsAre(second));

  ASSERT_TRUE(apply(second, std::move(archive)));
  query.title_contains.clear();
  query.archived = true;
  EXPECT_THAT(ids(query), ElementsAre(second));
  query.archived = false;
  EXPECT_THAT(ids(query), ElementsAre(first));
}

TEST_F(ChatStoreTest, SyncReadsWhatChangedSinceTheCursor) {
  const ChatId id = create_chat("1").chat.id;
  insert(id, {text_message(chat::Role::Assistant, "2"), text_message(chat::Role::Tool, "3", chat::Visibility::Model)});
  enqueue(id, "queued");
  const auto sync = [this, id](SyncCursor cursor) { return **get(chats().read_sync(id, cursor, in_test_time())); };

  const SyncRead first = sync(SyncCursor());
  EXPECT_EQ(first.chat.snapshot_version, 3);
  EXPECT_THAT(first.messages, SizeIs(2));
  ASSERT_TRUE(first.queue);
  EXPECT_THAT(*first.queue, SizeIs(1));
  SyncCursor cursor{first.chat.snapshot_version, first.chat.queue_version, 0};
  const SyncRead nothing = sync(cursor);
  EXPECT_THAT(nothing.messages, IsEmpty());
  EXPECT_EQ(nothing.queue, std::nullopt);

  chat::Effects edit;
  edit.delete_messages = {2, 3};
  edit.dequeue = {1};
  edit.insert = {text_message(chat::Role::User, "4")};
  const auto edited = apply(id, std::move(edit));
  ASSERT_TRUE(edited);
  EXPECT_THAT(edited->deleted, ElementsAre(2));
  const SyncRead after = sync(cursor);
  ASSERT_THAT(after.messages, SizeIs(1));
  EXPECT_EQ(after.messages[0].id, 4);
  EXPECT_THAT(after.deleted, ElementsAre(2));
  ASSERT_TRUE(after.queue);
  EXPECT_THAT(*after.queue, IsEmpty());

  const SyncRead resumed = sync(SyncCursor{0, -1, 1});
  ASSERT_THAT(resumed.messages, SizeIs(1));
  EXPECT_EQ(resumed.messages[0].id, 4);
  EXPECT_THAT(resumed.deleted, IsEmpty());
}

TEST_F(ChatStoreTest, SyncSendsAReceiptByItsRevision) {
  const ChatId id = create_chat().chat.id;
  const Committed closed = insert(id, {receipt(RequestId::random(system_random()))});
  const auto read = get(chats().read_sync(id, SyncCursor{1, 0, 0}, in_test_time()));
  ASSERT_TRUE(read && *read);
  ASSERT_THAT((*read)->messages, SizeIs(1));
  EXPECT_EQ((*read)->messages[0].id, closed.inserted[0].id);
  EXPECT_EQ((*read)->chat.history_version, 1);
}

TEST_F(ChatStoreTest, AReadNeitherWaitsForATransitionNorDelaysOne) {
  const ChatId id = create_chat().chat.id;
  const std::string locker = database.value("select xmax from chats");
  ASSERT_TRUE(get(chats().read_sync(id, SyncCursor(), in_test_time())));
  EXPECT_EQ(database.value("select xmax from chats"), locker) << "the read has locked the row";
  database.sql("begin");
  database.sql("update chats set snapshot_version = snapshot_version + 1");
  const auto read = get(chats().read_sync(id, SyncCursor(), in_test_time()));
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->chat.snapshot_version, 1);
  database.sql("rollback");
}

TEST_F(ChatStoreTest, ACorruptRowConcernsItsChatAlone) {
  const UserId owner = UserId::random(system_random());
  const ChatId sound = create_chat_for(owner).chat.id;
  const ChatId corrupt = create_chat_for(owner).chat.id;
  database.sql("update chat_messages set content = '[{\"type\": \"nonsense\"}]' where chat_id = '" +
               corrupt.to_string() + "'");
  const auto turn = get(chats().read_turn(corrupt, in_test_time()));
  ASSERT_TRUE(turn && *turn);
  ASSERT_THAT((*turn)->history, SizeIs(1));
  EXPECT_TRUE((*turn)->history[0].corruption) << "readers go on; the turn that needs the row fails closed";
  EXPECT_TRUE((*turn)->history[0].content.empty());
  const auto sync = get(chats().read_sync(corrupt, SyncCursor(), in_test_time()));
  ASSERT_TRUE(sync && *sync);
  EXPECT_TRUE((*sync)->messages.at(0).corruption);
  chat::ReadPlan plan;
  plan.history = true;
  bool saw_corruption = false;
  const auto decide = [&saw_corruption](const chat::LockedChat& locked) -> chat::Decision {
    saw_corruption = locked.history.at(0).corruption.has_value();
    return chat::Effects();
  };
  EXPECT_TRUE(get(chats().transit(corrupt, plan, decide, in_test_time())));
  EXPECT_TRUE(saw_corruption);

  // The turn can be ended all the same, and the others never notice.
  chat::Effects end;
  end.status = chat::Status::Error;
  EXPECT_TRUE(apply(corrupt, std::move(end)));
  EXPECT_TRUE(get(chats().read_turn(sound, in_test_time())));
  ChatListQuery query;
  query.owner = owner;
  EXPECT_THAT(*get(chats().list_chats(query, in_test_time())), SizeIs(2));
  database.sql("update chats set labels = '{\"a\": 1}' where id = '" + corrupt.to_string() + "'");
  EXPECT_THAT(*get(chats().list_chats(query, in_test_time())), SizeIs(1));
}

TEST_F(ChatStoreTest, StoresTextThatPostgresCannotHold) {
  const ChatId id = create_chat(std::string("a\0b\xFF", 4)).chat.id;
  chat::NewMessage message;
  chat::ToolCallPart call;
  call.id = "call";
  call.name = "tool";
  call.arguments = R"({"text":"\u0000 \ud800"})";
  message.role = chat::Role::Assistant;
  message.content.push_back(call);
  insert(id, {message});
  chat::Effects effects;
  effects.title = std::string("nul \0", 5);
  chat::ChatError error;
  error.message = std::string("\0", 1);
  effects.last_error.emplace(error);
  const auto committed = apply(id, std::move(effects));
  ASSERT_TRUE(committed);
  EXPECT_EQ(committed->chat.title, "nul \xEF\xBF\xBD");
  EXPECT_EQ(committed->chat.last_error->message, "\xEF\xBF\xBD");
  const auto turn = get(chats().read_turn(id, in_test_time()));
  ASSERT_TRUE(turn && *turn);
  EXPECT_EQ(text_of((*turn)->history[0]),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(std::get<chat::ToolCallPart>((*turn)->history[1].content[0]).arguments, call.arguments);
}

}  // namespace
}  // namespace assay::store

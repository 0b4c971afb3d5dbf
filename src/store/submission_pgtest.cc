// Submissions that are carried out once: races of two replicas, lost answers.
#include <gmock/gmock.h>

#include "database/test_database.h"
#include "net/task_group.h"
#include "store/chat_store.h"
#include "store/submission.h"

namespace assay::store {
namespace {

using test_database::in_test_time;
using test_database::StoreTest;

Once once(std::string key, std::string digest_of = "body") {
  Once made;
  made.submission.route = "send";
  made.submission.key = std::move(key);
  made.submission.digest = request_digest("send", digest_of);
  made.status = 200;
  made.render = [](const Committed& committed) { return std::to_string(committed.chat.last_message_id); };
  return made;
}

chat::Decision say_something(const chat::LockedChat&) {
  chat::Effects effects;
  effects.insert.push_back(chat::text_row(chat::Role::User, chat::Visibility::Both, "said"));
  return effects;
}

net::Task<> submit(ChatStore* store, ChatId chat, Once once, std::vector<std::string>* bodies) {
  auto kept = co_await store->transit_once(chat, chat::ReadPlan(), say_something, std::move(once), in_test_time());
  EXPECT_TRUE(kept.has_value());
  if (kept) bodies->push_back(kept->body);
}

class OnceTest : public StoreTest {
 protected:
  Result<KeptAnswer, TransitError> submit_now(ChatId chat, Once made) {
    return get(chats().transit_once(chat, chat::ReadPlan(), say_something, std::move(made), in_test_time()));
  }
};

TEST_F(OnceTest, TwoReplicasCarryOutOneOfManyDuplicates) {
  const ChatId chat = create_chat().chat.id;
  Store& other = open_replica(ReplicaId::random(system_random()));
  net::TaskGroup group(loop);
  std::vector<std::string> bodies;
  for (int count = 0; count < 10; ++count) {
    ChatStore* store = count % 2 == 0 ? &chats() : &other.chats();
    group.spawn("submit", submit(store, chat, once("k"), &bodies));
  }
  run(group.join());
  EXPECT_EQ(bodies, std::vector<std::string>(10, "2"));
  EXPECT_EQ(database.value("select count(*) from chat_messages"), "2");
  EXPECT_EQ(database.value("select snapshot_version from chats"), "2") << "a repetition moves nothing";
}

TEST_F(OnceTest, TellsTheDigestOfWhatWasCarriedOut) {
  const ChatId chat = create_chat().chat.id;
  ASSERT_TRUE(submit_now(chat, once("k", "first")));
  const auto second = submit_now(chat, once("k", "second"));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->digest, request_digest("send", "first"));
  const auto found = get(chats().find_answer(chat, once("k").submission, in_test_time()));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->body, "2");
  const auto unknown = get(chats().find_answer(chat, once("l").submission, in_test_time()));
  ASSERT_TRUE(unknown);
  EXPECT_FALSE(*unknown);
}

TEST_F(OnceTest, ARefusalKeepsNothing) {
  const ChatId chat = create_chat().chat.id;
  const auto refuse = [](const chat::LockedChat&) -> chat::Decision { return fail(chat::Refusal()); };
  EXPECT_FALSE(get(chats().transit_once(chat, chat::ReadPlan(), refuse, once("k"), in_test_time())));
  EXPECT_EQ(database.value("select count(*) from chat_submissions"), "0");
  EXPECT_TRUE(submit_now(chat, once("k")));
}

TEST_F(OnceTest, AFailedWriteKeepsNothing) {
  const ChatId chat = create_chat().chat.id;
  database.sql("create function no_more() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$");
  database.sql("create trigger no_more before insert on chat_submissions for each row execute function no_more()");
  const auto failed = submit_now(chat, once("k"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(database.value("select count(*) from chat_messages"), "1") << "the answer and what it tells are one";
  database.sql("drop trigger no_more on chat_submissions");
  EXPECT_TRUE(submit_now(chat, once("k"))) << "the connection can still be used";
}

TEST_F(OnceTest, ACreateUnderAKeyHappensOnce) {
  chat::NewChat made;
  Once creation = once("k");
  creation.submission.route = "create";
  made.chat.id = chat_id_of(creation.submission);
  made.messages.push_back(chat::text_row(chat::Role::User, chat::Visibility::Both, "hello"));
  const auto first = get(chats().create_once(made, creation, in_test_time()));
  ASSERT_TRUE(first);
  const auto second = get(chats().create_once(made, creation, in_test_time()));
  ASSERT_TRUE(second);
  EXPECT_EQ(first->body, second->body);
  EXPECT_EQ(database.value("select count(*) from chats"), "1");
  Once stranger = creation;
  stranger.submission.key = "l";
  const auto refused = get(chats().create_once(made, stranger, in_test_time()));
  ASSERT_FALSE(refused) << "the id is taken and the key unknown";
}

TEST_F(OnceTest, KeysGoWithTheirChat) {
  const ChatId chat = create_chat().chat.id;
  ASSERT_TRUE(submit_now(chat, once("k")));
  database.sql("delete from chats");
  EXPECT_EQ(database.value("select count(*) from chat_submissions"), "0");
}

TEST_F(OnceTest, TheReadMarkMovesNothingElse) {
  const Committed created = create_chat();
  const ChatId chat = created.chat.id;
  EXPECT_EQ(created.chat.last_read_message_id, 1) << "whoever creates a chat has read it";
  ASSERT_TRUE(submit_now(chat, once("k")));
  const auto before = database.sql("select snapshot_version, updated_at, history_version from chats");
  ASSERT_TRUE(get(chats().mark_read(chat, in_test_time())));
  EXPECT_EQ(database.sql("select snapshot_version, updated_at, history_version from chats"), before);
  EXPECT_EQ(database.value("select last_read_message_id from chats"), "2");
}

}  // namespace
}  // namespace assay::store

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "database/test_database.h"
#include "net/task_group.h"
#include "store/hints.h"
#include "store/notifications.h"

namespace assay::store {
namespace {

using test_database::in_test_time;
using test_database::StoreTest;

class NotificationsTest : public StoreTest {
 protected:
  void touch(ChatId chat) {
    const Decide decide = [](const chat::LockedChat&) -> chat::Decision { return chat::Effects(); };
    EXPECT_TRUE(get(chats().transit(chat, chat::ReadPlan(), decide, in_test_time())));
  }
  // Waits until the subscription has heard of the snapshot.
  bool hears(Subscription& subscription, std::int64_t snapshot) { return get(hear(&subscription, snapshot)); }
  static net::Task<bool> hear(Subscription* subscription, std::int64_t snapshot) {
    while (subscription->snapshot_hint() < snapshot) {
      const auto outcome = co_await subscription->changed().wait(in_test_time());
      if (outcome != net::WaitOutcome::Signalled) co_return false;
      subscription->changed().clear();
    }
    co_return true;
  }
  bool is_woken(net::Event& event) { return get(event.wait(in_test_time())) == net::WaitOutcome::Signalled; }
};

TEST_F(NotificationsTest, WakesLocalSubscribersRightAfterTheCommit) {
  const ChatId chat = create_chat().chat.id;
  Subscription subscription = store_->notifications().subscribe(chat);
  Subscription another = store_->notifications().subscribe(chat);
  const Subscription elsewhere = store_->notifications().subscribe(ChatId::random(system_random()));
  touch(chat);
  EXPECT_TRUE(subscription.changed().is_set());
  EXPECT_TRUE(another.changed().is_set());
  EXPECT_EQ(subscription.snapshot_hint(), 2);
  EXPECT_EQ(elsewhere.snapshot_hint(), 0);
}

TEST_F(NotificationsTest, TellsOtherReplicas) {
  const ChatId chat = create_chat().chat.id;
  Store& other = open_replica(ReplicaId::random(system_random()));
  Subscription subscription = other.notifications().subscribe(chat);
  touch(chat);
  EXPECT_TRUE(hears(subscription, 2));
}

TEST_F(NotificationsTest, AnnouncesWorkWithoutAnOwner) {
  Store& other = open_replica(ReplicaId::random(system_random()));
  other.notifications().ownership().clear();
  store_->notifications().ownership().clear();
  const ChatId chat = create_chat().chat.id;
  EXPECT_TRUE(store_->notifications().ownership().is_set());
  EXPECT_TRUE(is_woken(other.notifications().ownership()));

  const auto owned = get(chats().acquire(replica_, 10, Milliseconds(20'000), in_test_time()));
  ASSERT_TRUE(owned && owned->size() == 1);
  store_->notifications().ownership().clear();
  touch(chat);
  EXPECT_FALSE(store_->notifications().ownership().is_set()) << "it has an owner";
  EXPECT_EQ(get(chats().release(owned->front(), in_test_time())), true);
  EXPECT_TRUE(store_->notifications().ownership().is_set());
}

TEST_F(NotificationsTest, SendsHintsTogether) {
  const ChatId first = create_chat().chat.id;
  const ChatId second = create_chat().chat.id;
  Store& other = open_replica(ReplicaId::random(system_random()));
  Subscription heard_first = other.notifications().subscribe(first);
  Subscription heard_second = other.notifications().subscribe(second);
  for (std::int64_t snapshot = 2; snapshot <= 500; ++snapshot) {
    store_->notifications().publish(ChatHint{first, snapshot, false});
    store_->notifications().publish(ChatHint{second, snapshot, false});
  }
  EXPECT_TRUE(hears(heard_first, 500));
  EXPECT_TRUE(hears(heard_second, 500));
  // One statement for all of them: its text is the last that the session ran, or a later ping.
  EXPECT_EQ(database.value("select count(*) from pg_stat_activity where datname = current_database() "
                           "and query like 'listen%'"),
            "0");
}

TEST_F(NotificationsTest, ComesBackAfterTheServerCutsIt) {
  const ChatId chat = create_chat().chat.id;
  Store& other = open_replica(ReplicaId::random(system_random()));
  Subscription subscription = other.notifications().subscribe(chat);
  subscription.changed().clear();
  database.cut_connections();
  // Whatever was missed meanwhile: everybody is woken once it listens again.
  EXPECT_TRUE(is_woken(subscription.changed()));
  touch(chat);
  EXPECT_TRUE(hears(subscription, 2));
  EXPECT_TRUE(is_woken(store_->notifications().ownership()));
}

TEST_F(NotificationsTest, KeepsHintsUntilTheyCanBeSent) {
  const ChatId chat = create_chat().chat.id;
  Store& other = open_replica(ReplicaId::random(system_random()));
  Subscription subscription = other.notifications().subscribe(chat);
  EXPECT_EQ(database.value(fmt::format("select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' "
                                       "and ((classid::bigint << 32) | objid::bigint) = replica_lock_key('{}')",
                                       replica_.to_string())),
            "t");
  store_->notifications().publish(ChatHint{chat, 77, false});
  EXPECT_TRUE(hears(subscription, 77));
}

TEST_F(NotificationsTest, IgnoresWhatIsNoHint) {
  const ChatId chat = create_chat().chat.id;
  Subscription subscription = store_->notifications().subscribe(chat);
  database.sql("notify assay_chats, 'nonsense'; notify assay_chats, ''; notify assay_chats");
  database.sql(fmt::format("notify assay_chats, '{}:9'", chat.to_string()));
  EXPECT_TRUE(hears(subscription, 9));
}

TEST_F(NotificationsTest, ASubscriptionEndsWithItsObject) {
  const ChatId chat = create_chat().chat.id;
  Subscription kept = store_->notifications().subscribe(chat);
  {
    const Subscription ended = store_->notifications().subscribe(chat);
    Subscription moved = store_->notifications().subscribe(chat);
    moved = store_->notifications().subscribe(ChatId::random(system_random()));
  }
  touch(chat);
  EXPECT_EQ(kept.snapshot_hint(), 2);
}

TEST_F(NotificationsTest, HoldsTheReplicaLockWhileItLives) {
  EXPECT_TRUE(store_->notifications().holds_replica_lock());
  const std::string held = fmt::format(
      "select count(*) from pg_locks where locktype = 'advisory' and granted "
      "and ((classid::bigint << 32) | objid::bigint) = replica_lock_key('{}')",
      replica_.to_string());
  EXPECT_EQ(database.value(held), "1");
  run(store_->notifications().stop(in_test_time()));
  EXPECT_FALSE(store_->notifications().holds_replica_lock());
  while (database.value(held) != "0") {
  }
}

TEST_F(NotificationsTest, StopIsHarmlessTwice) {
  run(store_->notifications().stop(in_test_time()));
  run(store_->notifications().stop(in_test_time()));
}

// The whole path without any notice: readers poll.
TEST_F(NotificationsTest, ReadersThatPollNeedNoNotice) {
  const ChatId chat = create_chat().chat.id;
  Store& other = open_replica(ReplicaId::random(system_random()));
  run(store_->notifications().stop(in_test_time()));
  run(other.notifications().stop(in_test_time()));
  touch(chat);
  const auto read = get(other.chats().read_sync(chat, SyncCursor{1, 0, 0}, in_test_time()));
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->chat.snapshot_version, 2);
}

}  // namespace
}  // namespace assay::store

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "database/test_database.h"
#include "net/task_group.h"
#include "net/timer.h"
#include "store/statements.h"

namespace assay::store {
namespace {

using test_database::in_test_time;
using test_database::StoreTest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr Milliseconds kLease{20'000};
constexpr std::int64_t kMany = 100;

class OwnershipTest : public StoreTest {
 protected:
  std::vector<Ownership> acquire(ReplicaId replica, std::int64_t limit = kMany, Milliseconds lease = kLease) {
    auto acquired = get(chats().acquire(replica, limit, lease, in_test_time()));
    EXPECT_TRUE(acquired.has_value());
    return acquired ? std::move(*acquired) : std::vector<Ownership>();
  }
  std::vector<Ownership> heartbeat(ReplicaId replica, std::vector<Ownership> owned) {
    auto kept = get(chats().heartbeat(replica, std::move(owned), in_test_time()));
    EXPECT_TRUE(kept.has_value());
    return kept ? std::move(*kept) : std::vector<Ownership>();
  }
  void set_status(ChatId chat, std::string_view status) {
    database.sql(fmt::format("update chats set status = '{}' where id = '{}'", status, chat.to_string()));
  }
  // As if every heartbeat were older by so much.
  void age_heartbeats(int seconds) {
    database.sql(fmt::format("update chat_heartbeats set heartbeat_at = heartbeat_at - interval '{} s'", seconds));
  }
  // Replica locks count only some time after the server's start; tests do not wait for that.
  void pass_grace() {
    database.sql(
        "create schema fake; create function fake.pg_postmaster_start_time() returns timestamptz language sql as "
        "$$ select '2000-01-01'::timestamptz $$;");
    database.sql(fmt::format("alter database {} set search_path = fake, public, pg_catalog", database.name()));
    database.cut_connections();
  }

  const ReplicaId other_ = ReplicaId::random(system_random());
};

TEST_F(OwnershipTest, TakesChatsThatHaveWorkAndNoOwner) {
  const ChatId running = create_chat().chat.id;
  const ChatId interrupting = create_chat().chat.id;
  const ChatId waiting_for_tools = create_chat().chat.id;
  const ChatId idle = create_chat().chat.id;
  const ChatId failed = create_chat().chat.id;
  const ChatId archived = create_chat().chat.id;
  set_status(interrupting, "interrupting");
  set_status(waiting_for_tools, "requires_action");
  set_status(idle, "waiting");
  set_status(failed, "error");
  database.sql("update chats set archived = true where id = '" + archived.to_string() + "'");

  const auto acquired = acquire(replica_);
  std::vector<ChatId> taken;
  for (const Ownership& one : acquired) taken.push_back(one.chat);
  EXPECT_THAT(taken, UnorderedElementsAre(running, interrupting, waiting_for_tools));
  const auto chat = get(chats().find_chat(running, in_test_time()));
  EXPECT_EQ((*chat)->worker_id, replica_);
  EXPECT_EQ((*chat)->snapshot_version, 2);
  EXPECT_THAT(acquire(other_), IsEmpty());
}

TEST_F(OwnershipTest, TheLongestWaitingComesFirst) {
  const ChatId first = create_chat().chat.id;
  const ChatId second = create_chat().chat.id;
  const ChatId third = create_chat().chat.id;
  database.sql("update chats set updated_at = now() where id = '" + first.to_string() + "'");
  const auto acquired = acquire(replica_, 2);
  ASSERT_THAT(acquired, SizeIs(2));
  EXPECT_THAT((std::vector<ChatId>{acquired[0].chat, acquired[1].chat}), UnorderedElementsAre(second, third));
}

TEST_F(OwnershipTest, ALapsedHeartbeatLosesTheChat) {
  create_chat();
  const auto acquired = acquire(replica_);
  ASSERT_THAT(acquired, SizeIs(1));
  age_heartbeats(19);
  EXPECT_THAT(acquire(other_), IsEmpty());
  age_heartbeats(2);
  const auto taken = acquire(other_);
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_NE(taken[0].runner, acquired[0].runner);
  EXPECT_THAT(heartbeat(replica_, acquired), IsEmpty());
  EXPECT_EQ(database.value("select count(*) from chat_heartbeats"), "1");
}

TEST_F(OwnershipTest, AHeartbeatRenewsTheLease) {
  create_chat();
  const auto acquired = acquire(replica_);
  age_heartbeats(60);
  EXPECT_THAT(heartbeat(replica_, acquired), ElementsAre(acquired[0]));
  EXPECT_THAT(acquire(other_), IsEmpty());
  EXPECT_THAT(heartbeat(replica_, {}), IsEmpty());
}

TEST_F(OwnershipTest, AHeartbeatSurvivesTheLossOfItsTable) {
  create_chat();
  const auto acquired = acquire(replica_);
  database.sql("truncate chat_heartbeats");  // what a crash of the server does
  EXPECT_THAT(heartbeat(replica_, acquired), ElementsAre(acquired[0]));
  EXPECT_THAT(acquire(other_), IsEmpty());
  database.sql("truncate chat_heartbeats");
  EXPECT_THAT(acquire(other_), SizeIs(1));
}

TEST_F(OwnershipTest, AReleasedChatIsFreeAtOnce) {
  create_chat();
  const auto acquired = acquire(replica_);
  ASSERT_THAT(acquired, SizeIs(1));
  EXPECT_EQ(get(chats().release(acquired[0], in_test_time())), true);
  EXPECT_EQ(get(chats().release(acquired[0], in_test_time())), false);
  const auto taken = acquire(other_);
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(get(chats().release(acquired[0], in_test_time())), false) << "a stale runner's release changes nothing";
  EXPECT_THAT(heartbeat(other_, taken), SizeIs(1));
}

TEST_F(OwnershipTest, RowsInUseAreLeftToTheNextCall) {
  const ChatId locked = create_chat().chat.id;
  const ChatId free = create_chat().chat.id;
  database.sql("begin");
  database.sql("select 1 from chats where id = '" + locked.to_string() + "' for update");
  const auto acquired = acquire(replica_);
  ASSERT_THAT(acquired, SizeIs(1));
  EXPECT_EQ(acquired[0].chat, free);
  database.sql("rollback");
  EXPECT_THAT(acquire(replica_), SizeIs(1));
}

net::Task<> acquire_into(ChatStore* store, std::vector<Ownership>* taken) {
  const ReplicaId replica = ReplicaId::random(system_random());
  for (;;) {
    const auto acquired = co_await store->acquire(replica, 3, kLease, in_test_time());
    EXPECT_TRUE(acquired.has_value());
    if (!acquired || acquired->empty()) co_return;
    taken->insert(taken->end(), acquired->begin(), acquired->end());
  }
}

TEST_F(OwnershipTest, ReplicasThatRaceNeverShareAChat) {
  constexpr std::size_t kChats = 24;
  for (std::size_t count = 0; count < kChats; ++count) create_chat();
  net::TaskGroup group(loop);
  std::vector<Ownership> taken;
  for (int replica = 0; replica < 4; ++replica) group.spawn("acquire", acquire_into(&chats(), &taken));
  run(group.join());
  std::vector<ChatId> ids;
  for (const Ownership& one : taken) ids.push_back(one.chat);
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
  EXPECT_THAT(ids, SizeIs(kChats));
}

TEST_F(OwnershipTest, AFreeReplicaLockMeansThatTheOwnerIsGone) {
  pass_grace();
  create_chat();
  Store& owner = open_replica(other_);
  ASSERT_TRUE(owner.notifications().holds_replica_lock());
  const auto acquired = get(owner.chats().acquire(other_, kMany, kLease, in_test_time()));
  ASSERT_THAT(*acquired, SizeIs(1));
  EXPECT_THAT(acquire(replica_), IsEmpty()) << "the owner lives";
  run(owner.notifications().stop(in_test_time()));  // as the death of its process does
  while (database.value("select count(*) from pg_locks where locktype = 'advisory' and granted "
                        "and database = (select oid from pg_database where datname = current_database())") != "0" &&
         acquire(replica_).empty()) {
  }
  EXPECT_EQ(database.value("select count(*) from chats where worker_id = '" + replica_.to_string() + "'"), "1");
}

TEST_F(OwnershipTest, WithoutItsReplicaLockAnOwnerKeepsItsLease) {
  pass_grace();
  create_chat();
  ASSERT_THAT(acquire(other_), SizeIs(1));  // this replica holds no lock
  EXPECT_THAT(acquire(replica_), IsEmpty());
}

TEST_F(OwnershipTest, AFreeLockSaysNothingJustAfterARestart) {
  const auto uptime =
      database.value("select extract(epoch from clock_timestamp() - pg_postmaster_start_time())::bigint");
  create_chat();
  acquire(replica_);
  database.sql("update chats set worker_id = gen_random_uuid()");
  database.sql("update chat_heartbeats set has_replica_lock = true");
  database.sql(
      "create schema fake; create function fake.pg_postmaster_start_time() returns timestamptz language sql as "
      "$$ select clock_timestamp() - interval '1 s' $$;");
  database.sql(fmt::format("alter database {} set search_path = fake, public, pg_catalog", database.name()));
  database.cut_connections();
  EXPECT_THAT(acquire(other_), IsEmpty()) << "the server has run for " << uptime << " s";
}

// The plan of a statement with stand-in parameters, for a database with many idle chats.
class PlanTest : public OwnershipTest {
 protected:
  void SetUp() override {
    OwnershipTest::SetUp();
    database.sql(
        "insert into chats (id, organization_id, owner_id, title, client_type, last_model_config_id, status) "
        "select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 't', 'api', gen_random_uuid(), 'waiting' "
        "from generate_series(1, 5000)");
    chat_ = create_chat().chat.id;
    database.sql(fmt::format(
        "insert into chat_messages (chat_id, id, role, visibility, content) "
        "select '{}', n, 'user', 'both', '[{{\"type\": \"text\", \"text\": \"x\"}}]' from generate_series(2, 3000) n",
        chat_.to_string()));
    database.sql("analyze");
  }
  std::string plan(std::string sql, std::string_view parameters) {
    database.sql("deallocate all");
    database.sql("prepare stand_in as " + std::move(sql));
    std::string text;
    for (const auto& line : database.sql(fmt::format("explain execute stand_in ({})", parameters))) {
      text += line[0].value_or("") + "\n";
    }
    return text;
  }
  ChatId chat_;
};

TEST_F(PlanTest, AcquisitionNeverVisitsIdleChats) {
  const std::string text = plan(statements::kAcquire.sql, fmt::format("'{}', 10, 20000", replica_.to_string()));
  EXPECT_THAT(text, ::testing::HasSubstr("chats_with_work"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("Seq Scan on chats")));
}

TEST_F(PlanTest, ASyncReadsOnlyWhatChanged) {
  const std::string text = plan(statements::kSyncMessages.sql, fmt::format("'{}', 1, 0", chat_.to_string()));
  database.sql("update chats set snapshot_version = 100 where id = '" + chat_.to_string() + "'");
  EXPECT_THAT(text, ::testing::HasSubstr("chat_messages_by_revision"));
}

TEST_F(PlanTest, PendingCallsCostAChatNothingWhileNoneCanBe) {
  const std::string text = plan(statements::kPendingStep.sql, fmt::format("'{}'", chat_.to_string()));
  EXPECT_THAT(text, ::testing::HasSubstr("One-Time Filter")) << text;
}

TEST_F(PlanTest, TheOutcomeOfARequestIsFoundByItsIndex) {
  const std::string text = plan(statements::kClosedRequests.sql, fmt::format("'{0}', '{{{0}}}'", chat_.to_string()));
  EXPECT_THAT(text, ::testing::HasSubstr("chat_messages_one_outcome"));
}

TEST_F(PlanTest, AnOwnersListIsReadFromItsIndex) {
  const std::string text =
      plan(statements::kListChats.sql, fmt::format("'{}', null, '{{}}', '', null, 50, 0, null", replica_.to_string()));
  EXPECT_THAT(text, ::testing::HasSubstr("chats_by_owner"));
}

}  // namespace
}  // namespace assay::store

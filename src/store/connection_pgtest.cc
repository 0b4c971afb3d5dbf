#include <fmt/format.h>
#include <gmock/gmock.h>

#include "database/test_database.h"
#include "net/task_group.h"
#include "store/connection.h"

namespace assay::store {
namespace {

using test_database::DatabaseTest;
using test_database::in_test_time;

const Statement kEcho{"echo", "select $1::text, $2::bigint, $3::boolean, $4::uuid"};
const Statement kOne{"one", "select 1"};
const Statement kDivide{"divide", "select 1 / $1::bigint"};
const Statement kBroken{"broken", "select nothing from nowhere"};
const Statement kSleep{"sleep", "select pg_sleep(60)"};
const Statement kBegin{"test_begin", "begin"};
const Statement kRepeat{"repeat", "select repeat($1::text, $2::int)"};
const Statement kLength{"length", "select length($1::text)"};
const Statement kKillSelf{"kill_self", "select pg_terminate_backend(pg_backend_pid())"};

class ConnectionTest : public DatabaseTest {
 protected:
  void SetUp() override { connection = connect(); }

  std::unique_ptr<Connection> connect() {
    auto connected = get(Connection::connect(loop, database.url(), in_test_time()));
    EXPECT_TRUE(connected.has_value()) << connected.error().message;
    return connected ? std::move(*connected) : nullptr;
  }
  Result<std::vector<Rows>, ExchangeError> exchange(Connection::End end = Connection::End::Sync) {
    return get(connection->exchange(end, in_test_time()));
  }

  std::unique_ptr<Connection> connection;
};

TEST_F(ConnectionTest, AnswersStatementsInOrder) {
  const Uuid id = Uuid::random(system_random());
  for (int round = 0; round < 3; ++round) {
    connection->queue(kEcho, Params().text("a").integer(-5).boolean(true).uuid(id));
    connection->queue(kOne);
    connection->queue(kEcho, Params().null().null().null().null());
    const auto answers = exchange();
    ASSERT_TRUE(answers);
    ASSERT_EQ(answers->size(), 3U);
    const Rows& first = answers->front();
    EXPECT_EQ(first.text(0, 0), "a");
    EXPECT_EQ(first.integer(0, 1), -5);
    EXPECT_TRUE(first.boolean(0, 2));
    EXPECT_EQ(first.uuid(0, 3), id);
    EXPECT_EQ((*answers)[1].integer(0, 0), 1);
    EXPECT_TRUE((*answers)[2].is_null(0, 0));
    EXPECT_EQ((*answers)[2].integer(0, 1), 0);
    EXPECT_TRUE(connection->is_idle());
  }
  EXPECT_EQ(connection->statements_sent(), 9U);
  EXPECT_EQ(connection->exchanges_made(), 3U);
}

TEST_F(ConnectionTest, AFailedStatementIsReportedAndTheConnectionGoesOn) {
  connection->queue(kOne);
  connection->queue(kDivide, Params().integer(0));
  connection->queue(kOne);
  const auto failed = exchange();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().error.sqlstate, "22012");
  EXPECT_EQ(failed.error().error.kind, StoreErrorKind::Internal);
  EXPECT_TRUE(failed.error().definite);
  EXPECT_TRUE(connection->is_idle());
  connection->queue(kDivide, Params().integer(1));
  EXPECT_TRUE(exchange());
}

TEST_F(ConnectionTest, AFailedPreparationIsTriedAgainNextTime) {
  for (int round = 0; round < 2; ++round) {
    connection->queue(kBroken);
    const auto failed = exchange();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().error.sqlstate, "42P01");
  }
  database.sql("create table nowhere (nothing int)");
  connection->queue(kBroken);
  EXPECT_TRUE(exchange());
}

TEST_F(ConnectionTest, AFlushLeavesTheTransactionOpen) {
  connection->queue(kBegin);
  connection->queue(kOne);
  ASSERT_TRUE(exchange(Connection::End::Flush));
  EXPECT_FALSE(connection->is_idle());
  ASSERT_TRUE(get(connection->rollback(in_test_time())));
  EXPECT_TRUE(connection->is_idle());

  connection->queue(kBegin);
  connection->queue(kDivide, Params().integer(0));
  EXPECT_FALSE(exchange(Connection::End::Flush));
  EXPECT_FALSE(connection->is_idle());
  EXPECT_FALSE(connection->is_broken());
  ASSERT_TRUE(get(connection->rollback(in_test_time())));
  EXPECT_TRUE(connection->is_idle());
}

TEST_F(ConnectionTest, CarriesLargeTextsBothWays) {
  constexpr std::int64_t kBytes = 20'000'000;
  const std::string large(kBytes, 'x');
  connection->queue(kRepeat, Params().text("y").integer(kBytes));
  connection->queue(kLength, Params().text(large));
  connection->queue(kRepeat, Params().text("z").integer(kBytes));
  const auto answers = exchange();
  ASSERT_TRUE(answers);
  EXPECT_EQ((*answers)[0].text(0, 0).size(), static_cast<std::size_t>(kBytes));
  EXPECT_EQ((*answers)[1].integer(0, 0), kBytes);
  EXPECT_EQ((*answers)[2].text(0, 0).size(), static_cast<std::size_t>(kBytes));
}

TEST_F(ConnectionTest, ADeadlineBreaksTheConnectionAndTheStatementCanBeStopped) {
  connection->queue(kSleep);
  const Deadline deadline = Deadline::after(system_clock(), Milliseconds(30));
  const auto failed = get(connection->exchange(Connection::End::Sync, deadline));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().error.kind, StoreErrorKind::Timeout);
  EXPECT_FALSE(failed.error().definite);
  EXPECT_TRUE(connection->is_broken());
  const std::string sleeping = fmt::format("select count(*) from pg_stat_activity where pid = {} and state = 'active'",
                                           connection->server_process());
  EXPECT_EQ(database.value(sleeping), "1");
  Connection::CancelHandle handle = connection->abandon();
  ASSERT_NE(handle, nullptr);
  Connection::cancel(std::move(handle));
  while (database.value(sleeping) != "0") {
  }
  connection->queue(kOne);
  EXPECT_FALSE(exchange());
}

TEST_F(ConnectionTest, ASessionThatTheServerEndsIsBroken) {
  connection->queue(kOne);
  connection->queue(kKillSelf);
  const auto failed = exchange();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().error.kind, StoreErrorKind::Unavailable);
  EXPECT_EQ(failed.error().error.sqlstate, "57P01");
  EXPECT_FALSE(failed.error().definite) << "it was the last statement";
  EXPECT_TRUE(connection->is_broken());

  connection = connect();
  connection->queue(kKillSelf);
  connection->queue(kOne);
  const auto earlier = exchange();
  ASSERT_FALSE(earlier);
  EXPECT_TRUE(earlier.error().definite) << "the last statement was never reached";
}

TEST_F(ConnectionTest, NoticesWhenTheServerSpeaksUp) {
  EXPECT_FALSE(connection->has_unexpected_input());
  const std::string alive =
      fmt::format("select count(*) from pg_stat_activity where pid = {}", connection->server_process());
  database.cut_connections();
  while (database.value(alive) != "0") {
  }
  EXPECT_TRUE(connection->has_unexpected_input());
}

TEST_F(ConnectionTest, RunsScripts) {
  ASSERT_TRUE(get(connection->run_script("create table t (a int); insert into t values (1), (2);", in_test_time())));
  EXPECT_EQ(database.value("select count(*) from t"), "2");
  const auto failed = get(connection->run_script("insert into t values (3); select 1 / 0;", in_test_time()));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().sqlstate, "22012");
  EXPECT_EQ(database.value("select count(*) from t"), "2");
  connection->queue(kOne);
  EXPECT_TRUE(exchange());
}

TEST_F(ConnectionTest, SaysWhyItCannotConnect) {
  const auto absent = get(Connection::connect(loop, database.url() + " dbname=no_such_database", in_test_time()));
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().kind, StoreErrorKind::Unavailable);
  EXPECT_THAT(absent.error().message, ::testing::HasSubstr("no_such_database"));
  const auto refused = get(Connection::connect(loop, "host=127.0.0.1 port=1 password=sesame", in_test_time()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, StoreErrorKind::Unavailable);
  EXPECT_THAT(refused.error().message, ::testing::Not(::testing::HasSubstr("sesame")));
  const auto malformed = get(Connection::connect(loop, "postgresql://me:sesame@[host/x", in_test_time()));
  ASSERT_FALSE(malformed);
  EXPECT_EQ(malformed.error().kind, StoreErrorKind::Internal);
  EXPECT_THAT(malformed.error().message, ::testing::Not(::testing::HasSubstr("sesame")));
}

}  // namespace
}  // namespace assay::store

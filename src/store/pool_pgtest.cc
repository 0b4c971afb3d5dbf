#include <gmock/gmock.h>

#include "database/test_database.h"
#include "net/event.h"
#include "net/task_group.h"
#include "store/pool.h"
#include "store/query.h"
#include "store/statements.h"

namespace assay::store {
namespace {

using test_database::DatabaseTest;
using test_database::in_test_time;

const Statement kSleep{"pool_sleep", "select pg_sleep(60)"};

class PoolTest : public DatabaseTest {
 protected:
  PoolTest() : pool(loop, database.url(), 2) {}
  void TearDown() override { run(pool.close(in_test_time())); }

  Lease checkout() {
    auto lease = get(pool.checkout(in_test_time()));
    if (!lease) throw std::runtime_error(lease.error().message);
    return std::move(*lease);
  }

  Pool pool;
};

TEST_F(PoolTest, OpensConnectionsAsTheyAreNeededAndReusesThem) {
  EXPECT_EQ(pool.counters().opened, 0U);
  {
    const Lease first = checkout();
    EXPECT_FALSE(first.is_reused());
    EXPECT_EQ(pool.counters().in_use, 1U);
  }
  const Lease again = checkout();
  EXPECT_TRUE(again.is_reused());
  const Lease second = checkout();
  EXPECT_EQ(pool.counters().opened, 2U);
  EXPECT_EQ(pool.counters().in_use, 2U);
  EXPECT_EQ(pool.counters().idle, 0U);
}

TEST_F(PoolTest, AnExhaustedPoolFailsAtTheDeadline) {
  const Lease first = checkout();
  const Lease second = checkout();
  const auto failed = get(pool.checkout(Deadline::after(system_clock(), Milliseconds(20))));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, StoreErrorKind::Timeout);
  EXPECT_EQ(pool.counters().checkout_timeouts, 1U);
  EXPECT_EQ(pool.counters().waiting, 0U);
}

net::Task<> take_in_turn(Pool* pool, int number, std::vector<int>* order) {
  const auto lease = co_await pool->checkout(in_test_time());
  EXPECT_TRUE(lease.has_value());
  order->push_back(number);
}

TEST_F(PoolTest, WhoWaitsIsServedInOrder) {
  std::vector<int> order;
  net::TaskGroup group(loop);
  {
    const Lease first = checkout();
    const Lease second = checkout();
    for (int number = 0; number < 5; ++number) group.spawn("take", take_in_turn(&pool, number, &order));
    get(pool.checkout(Deadline::after(system_clock(), Milliseconds(1))));  // lets the others begin to wait
    EXPECT_EQ(pool.counters().waiting, 5U);
  }
  run(group.join());
  EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(pool.counters().opened, 2U);
}

TEST_F(PoolTest, AConnectionInTheMiddleOfSomethingIsNotUsedAgain) {
  {
    const Lease lease = checkout();
    lease->queue(statements::kBegin);
    ASSERT_TRUE(get(lease->exchange(Connection::End::Flush, in_test_time())));
  }
  EXPECT_EQ(pool.counters().discarded, 1U);
  EXPECT_EQ(pool.counters().idle, 0U);
  EXPECT_FALSE(checkout().is_reused());
}

TEST_F(PoolTest, ATimedOutStatementIsStoppedOnTheServer) {
  const Deadline deadline = Deadline::after(system_clock(), Milliseconds(30));
  const auto failed = get(query(pool, kSleep, Params(), deadline));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, StoreErrorKind::Timeout);
  run(pool.close(in_test_time()));  // waits for the cancellation
  while (database.value("select count(*) from pg_stat_activity where query like '%pg_sleep(60)%' "
                        "and state = 'active' and pid <> pg_backend_pid()") != "0") {
  }
}

TEST_F(PoolTest, DeadConnectionsAreReplaced) {
  {
    const Lease warm = checkout();
  }
  database.cut_connections();
  EXPECT_TRUE(get(query(pool, statements::kPing, Params(), in_test_time())));
  EXPECT_EQ(pool.counters().discarded, 1U);
  EXPECT_EQ(pool.counters().opened, 2U);
}

TEST_F(PoolTest, AFailedConnectFreesItsPlace) {
  Pool unreachable(loop, database.url() + " dbname=no_such_database", 1);
  for (int round = 0; round < 3; ++round) {
    const auto failed = get(unreachable.checkout(in_test_time()));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().kind, StoreErrorKind::Unavailable);
  }
  run(unreachable.close(in_test_time()));
}

net::Task<> hold_until(Pool* pool, net::Event* end, net::Event* held) {
  const auto lease = co_await pool->checkout(in_test_time());
  EXPECT_TRUE(lease.has_value());
  held->set();
  co_await end->wait(in_test_time());
}

net::Task<> close_while_held(Pool* pool, net::Event* end, net::Event* held, net::TaskGroup* group) {
  co_await held->wait(in_test_time());
  group->spawn("close", pool->close(in_test_time()));
  const auto refused = co_await pool->checkout(in_test_time());
  EXPECT_FALSE(refused.has_value());
  EXPECT_EQ(group->running(), 2U) << "close() waits for the borrowed connection";
  end->set();
}

TEST_F(PoolTest, CloseWaitsForWhatIsBorrowed) {
  net::Event end;
  net::Event held;
  net::TaskGroup group(loop);
  group.spawn("hold", hold_until(&pool, &end, &held));
  run(close_while_held(&pool, &end, &held, &group));
  run(group.join());
  EXPECT_EQ(pool.counters().in_use, 0U);
  EXPECT_EQ(pool.counters().idle, 0U);
}

}  // namespace
}  // namespace assay::store

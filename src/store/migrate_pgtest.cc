#include <fmt/format.h>
#include <gmock/gmock.h>

#include "database/test_database.h"
#include "net/task_group.h"
#include "store/migrate.h"
#include "store/migrations.h"
#include "store/store.h"

namespace assay::store {
namespace {

using test_database::DatabaseTest;
using test_database::in_test_time;
using test_database::TestDatabase;

class MigrateTest : public DatabaseTest {
 protected:
  MigrateTest() : DatabaseTest(TestDatabase::Schema::Empty) {}
  Result<std::int64_t, StoreError> migrate_now() { return get(migrate(loop, database.url(), in_test_time())); }
  Result<std::unique_ptr<Store>, StoreError> open() {
    StoreOptions options;
    options.database_url = database.url();
    options.replica = ReplicaId::random(system_random());
    return get(Store::open(loop, std::move(options), in_test_time()));
  }
};

TEST_F(MigrateTest, TheNumbersAscendFromOne) {
  std::int64_t expected = 1;
  for (const Migration& migration : migrations()) {
    EXPECT_EQ(migration.version, expected++);
    EXPECT_FALSE(migration.name.empty());
    EXPECT_FALSE(migration.sql.empty());
  }
  EXPECT_EQ(schema_version(), expected - 1);
}

TEST_F(MigrateTest, BringsAnEmptyDatabaseToTheCurrentVersionOnce) {
  const auto first = migrate_now();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(*first, schema_version());
  EXPECT_EQ(migrate_now(), 0);
  EXPECT_EQ(database.value("select max(version) from schema_migrations"), fmt::to_string(schema_version()));
  EXPECT_EQ(database.value("select count(*) from organizations where is_default"), "1");
}

net::Task<> migrate_into(net::Loop* loop, std::string url, std::int64_t* total) {
  const auto applied = co_await migrate(*loop, std::move(url), in_test_time());
  EXPECT_TRUE(applied.has_value());
  if (applied) *total += *applied;
}

TEST_F(MigrateTest, ReplicasThatStartAtOnceMigrateOnce) {
  std::int64_t total = 0;
  net::TaskGroup group(loop);
  for (int replica = 0; replica < 4; ++replica) {
    group.spawn("migrate", migrate_into(&loop, database.url(), &total));
  }
  run(group.join());
  EXPECT_EQ(total, schema_version());
}

TEST_F(MigrateTest, RefusesASchemaNewerThanTheBinary) {
  ASSERT_TRUE(migrate_now());
  database.sql(
      fmt::format("insert into schema_migrations (version, name) values ({}, 'future')", schema_version() + 1));
  const auto migrated = migrate_now();
  ASSERT_FALSE(migrated);
  EXPECT_EQ(migrated.error().kind, StoreErrorKind::SchemaNewer);
  const auto opened = open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, StoreErrorKind::SchemaNewer);
}

TEST_F(MigrateTest, AnUnmigratedDatabaseIsNotOpened) {
  const auto opened = open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, ::testing::HasSubstr("assay migrate"));
}

TEST_F(MigrateTest, AFailedMigrationLeavesNothingBehind) {
  database.sql("create table chat_messages (in_the_way int)");
  const auto failed = migrate_now();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().sqlstate, "42P07");
  EXPECT_EQ(database.value("select count(*) from schema_migrations"), "0");
  EXPECT_EQ(database.value("select count(*) from pg_tables where tablename = 'chats'"), "0");
  database.sql("drop table chat_messages");
  EXPECT_EQ(migrate_now(), schema_version());
}

}  // namespace
}  // namespace assay::store

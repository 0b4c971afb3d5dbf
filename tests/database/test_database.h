#pragma once
// Databases for tests. The server is the one that ASSAY_TEST_DATABASE_URL names; without it, a throw-away cluster that
// lives as long as the test program. Every TestDatabase is a database of its own, so that notifications, locks and
// migrations of one test never reach another.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "net/loop.h"
#include "net/task.h"
#include "store/store.h"

namespace assay::test_database {

using Row = std::vector<std::optional<std::string>>;

// No test waits longer for anything.
inline constexpr Milliseconds kTestTimeout{60'000};
inline Deadline in_test_time() { return Deadline::after(system_clock(), kTestTimeout); }

class TestDatabase {
 public:
  enum class Schema { Migrated, Empty };
  explicit TestDatabase(Schema schema = Schema::Migrated);
  ~TestDatabase();
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  // Runs SQL on a connection of the test's own and waits for it. A failure is a failed test.
  std::vector<Row> sql(const std::string& text);
  // The first column of the first row.
  std::string value(const std::string& text);
  // The SQLSTATE with which the server refuses `text`; empty where it does not.
  std::string refusal(const std::string& text);
  // Ends every session of this database but the test's own.
  void cut_connections();

 private:
  struct Session;
  std::string name_;
  std::string url_;
  std::unique_ptr<Session> session_;
};

// A test with a loop and a database; tasks run to their end on the calling thread.
class DatabaseTest : public ::testing::Test {
 protected:
  explicit DatabaseTest(TestDatabase::Schema schema = TestDatabase::Schema::Migrated) : database(schema) {}

  void run(net::Task<> task) { loop.run(std::move(task)); }
  template <class T>
  T get(net::Task<T> task) {
    std::optional<T> result;
    loop.run(keep(std::move(task), &result));
    return std::move(*result);
  }

  TestDatabase database;
  net::Loop loop;

 private:
  template <class T>
  static net::Task<> keep(net::Task<T> task, std::optional<T>* result) {
    result->emplace(co_await std::move(task));
  }
};

// The same with an opened store of one replica.
class StoreTest : public DatabaseTest {
 protected:
  void SetUp() override;
  void TearDown() override;
  // Another replica on the same database. Closed at the end of the test.
  store::Store& open_replica(ReplicaId replica, Milliseconds lease = Milliseconds(20'000));

  [[nodiscard]] store::ChatStore& chats() { return store_->chats(); }

  // A chat of a new owner with one user message, in R0.
  store::Committed create_chat(std::string_view text = "hello");
  store::Committed create_chat_for(UserId owner, std::string_view title = "a chat", std::string_view text = "hello");

  ReplicaId replica_ = ReplicaId::random(system_random());
  store::Store* store_ = nullptr;

 private:
  std::vector<std::unique_ptr<store::Store>> stores_;
};

}  // namespace assay::test_database

#pragma once
// One connection to PostgreSQL, asynchronous and always in pipeline mode: statements are queued and travel together.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/uuid.h"
#include "net/loop.h"
#include "net/task.h"
#include "store/error.h"
#include "store/params.h"

struct pg_conn;
struct pg_result;
struct pg_cancel;

namespace assay::store {

// A statement that is prepared under its name on the first use by each connection. Lifetime: static.
struct Statement {
  std::string name;
  std::string sql;
};

// The rows that one statement returned, in text format. Views are valid while this lives.
class Rows {
 public:
  explicit Rows(pg_result* result) : result_(result) {}

  [[nodiscard]] std::size_t size() const;
  // How many rows an insert, update or delete touched.
  [[nodiscard]] bool is_null(std::size_t row, int column) const;
  // Empty where null.
  [[nodiscard]] std::string_view text(std::size_t row, int column) const;
  // 0, false and nil where null or not of that type: the statement's select list vouches for the type.
  [[nodiscard]] std::int64_t integer(std::size_t row, int column) const;
  [[nodiscard]] bool boolean(std::size_t row, int column) const;
  [[nodiscard]] Uuid uuid(std::size_t row, int column) const;
  [[nodiscard]] WallTime instant(std::size_t row, int column) const;  // from microseconds since the epoch

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

struct ExchangeError {
  StoreError error;
  // The server said so, and said it about a statement before the last or with the session intact: the last statement
  // certainly had no effect. Otherwise it may have been executed.
  bool definite = false;
};

struct Notification {
  std::string channel;
  std::string payload;
  int process = 0;  // of the server process that sent it
};

// Loop thread only; one task at a time. Lifetime: the loop outlives it.
class Connection {
 public:
  // `database_url` is a URL or a conninfo string. Names are resolved off the loop; that part cannot be cut short.
  static net::Task<Result<std::unique_ptr<Connection>, StoreError>> connect(net::Loop& loop, std::string database_url,
                                                                            Deadline deadline);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Adds a statement to the next exchange.
  void queue(const Statement& statement, Params params = Params());

  // Flush: the statements are executed and answered, the transaction stays open. Sync: ends an implicit transaction
  // too. Every failure but a definite one leaves the connection broken. `what` names a failpoint between the sending
  // and the answers; empty: none.
  enum class End : std::uint8_t { Flush, Sync };
  net::Task<Result<std::vector<Rows>, ExchangeError>> exchange(End end, Deadline deadline, std::string_view what = {});

  // Leaves a transaction, also a failed one. Requires: nothing is queued.
  net::Task<Result<void, StoreError>> rollback(Deadline deadline);

  // Runs SQL text of several statements (migrations). Requires: outside a transaction, nothing queued.
  net::Task<Result<void, StoreError>> run_script(std::string sql, Deadline deadline);

  // Returns when the server sent something, `wake` was called or the deadline passed; for an idle connection that
  // listens. False: the connection is broken.
  net::Task<bool> wait_for_news(Deadline deadline);
  void wake();
  // What arrived since the last call, with any exchange as well.
  std::vector<Notification> take_notifications();

  // No transaction is open and nothing is under way.
  [[nodiscard]] bool is_idle() const;
  [[nodiscard]] bool is_broken() const { return broken_; }
  // An idle connection on which the server has spoken up: it is closing.
  [[nodiscard]] bool has_unexpected_input() const;
  [[nodiscard]] int server_process() const;
  // Statements sent so far, the preparation of named statements not counted, and exchanges; for tests.
  [[nodiscard]] std::uint64_t statements_sent() const { return statements_sent_; }
  [[nodiscard]] std::uint64_t exchanges_made() const { return exchanges_made_; }

  // Closes the socket. Where the server is still at work for us, the returned handle asks it to stop: give it to
  // cancel() off the loop, since that call blocks.
  struct Cancel {
    void operator()(pg_cancel* handle) const;
  };
  using CancelHandle = std::unique_ptr<pg_cancel, Cancel>;
  [[nodiscard]] CancelHandle abandon();
  static void cancel(CancelHandle handle);

 private:
  struct Io;
  struct Expected {
    const Statement* prepared = nullptr;  // the answer to a preparation of this statement
    std::size_t index = 0;                // which of the exchange's statements this belongs to
  };

  explicit Connection(net::Loop& loop);
  net::Task<Result<void, StoreError>> establish(std::string database_url, Deadline deadline);
  net::Task<Result<void, StoreError>> configure(Deadline deadline);
  net::Task<bool> wait_for_socket(bool write, Deadline deadline);
  net::Task<Result<void, StoreError>> flush(Deadline deadline);
  net::Task<Result<pg_result*, StoreError>> next_result(Deadline deadline);
  net::Task<Result<std::vector<Rows>, ExchangeError>> collect(Deadline deadline);
  net::Task<Result<void, StoreError>> resynchronize(Deadline deadline);
  StoreError lost();
  StoreError timed_out();
  void collect_notifications();

  net::Loop& loop_;
  std::shared_ptr<Io> io_;
  pg_conn* connection_ = nullptr;
  std::deque<Expected> expected_;
  std::size_t queued_ = 0;
  std::optional<StoreError> send_error_;
  std::unordered_set<const Statement*> prepared_;
  std::vector<Notification> notifications_;
  bool broken_ = false;
  bool is_open_ = false;  // the last exchange ended without Sync: libpq does not know of the transaction
  std::uint64_t statements_sent_ = 0;
  std::uint64_t exchanges_made_ = 0;
};

}  // namespace assay::store

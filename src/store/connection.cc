#include "store/connection.h"

#include <libpq-fe.h>
#include <sys/socket.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <charconv>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "net/event.h"
#include "store/failpoint.h"
#include "store/statements.h"

namespace assay::store {

namespace {

std::string trimmed(const char* text) {
  std::string line = text == nullptr ? "" : text;
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  return line;
}

// The field of an error that the server reported; empty where it said none.
std::string_view field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

StoreErrorKind kind_of(std::string_view sqlstate) {
  const std::string_view group = sqlstate.substr(0, 2);
  if (sqlstate == "57014" || sqlstate == "55P03") return StoreErrorKind::Timeout;  // canceled; lock not available
  if (sqlstate == "25006") return StoreErrorKind::Unavailable;  // a read-only standby answers: a failover is under way
  if (group == "08" || group == "40" || group == "53" || group == "57" || group == "58") {
    return StoreErrorKind::Unavailable;  // connection, rolled back, resources, operator, system
  }
  if (group == "XX") return StoreErrorKind::Corrupt;
  return StoreErrorKind::Internal;
}

StoreError reported_error(const PGresult* result) {
  const std::string_view sqlstate = field(result, PG_DIAG_SQLSTATE);
  std::string message(field(result, PG_DIAG_MESSAGE_PRIMARY));
  if (message.empty()) message = trimmed(PQresultErrorMessage(result));
  if (sqlstate.empty()) return StoreError{StoreErrorKind::Unavailable, std::move(message), ""};
  return StoreError{kind_of(sqlstate), std::move(message), std::string(sqlstate)};
}

bool ends_session(const PGresult* result) {
  const std::string_view severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  return severity.empty() || severity == "FATAL" || severity == "PANIC";
}

// libpq's own spelling of `database_url` with our settings where it states none.
struct ConnectOptions {
  std::vector<std::string> keywords;
  std::vector<std::string> values;

  void set_if_absent(const char* keyword, const char* value) {
    for (const auto& known : keywords) {
      if (known == keyword) return;
    }
    keywords.emplace_back(keyword);
    values.emplace_back(value);
  }
};

std::optional<ConnectOptions> connect_options(const std::string& database_url) {
  char* complaint = nullptr;  // may quote the URL, and with it the password: never shown
  PQconninfoOption* parsed = PQconninfoParse(database_url.c_str(), &complaint);
  PQfreemem(complaint);
  if (parsed == nullptr) return std::nullopt;
  ConnectOptions options;
  for (const PQconninfoOption* option = parsed; option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    options.keywords.emplace_back(option->keyword);
    options.values.emplace_back(option->val);
  }
  PQconninfoFree(parsed);
  options.set_if_absent("client_encoding", "UTF8");
  options.set_if_absent("fallback_application_name", "assay");
  // A cut network is noticed within seconds instead of hours.
  options.set_if_absent("keepalives_idle", "5");
  options.set_if_absent("keepalives_interval", "2");
  options.set_if_absent("keepalives_count", "3");
  options.set_if_absent("tcp_user_timeout", "15000");
  return options;
}

PGconn* start_connecting(const ConnectOptions& options) {
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (std::size_t index = 0; index < options.keywords.size(); ++index) {
    keywords.push_back(options.keywords[index].c_str());
    values.push_back(options.values[index].c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  return PQconnectStartParams(keywords.data(), values.data(), 0);
}

}  // namespace

void Rows::Clear::operator()(pg_result* result) const { PQclear(result); }

std::size_t Rows::size() const { return static_cast<std::size_t>(PQntuples(result_.get())); }

bool Rows::is_null(std::size_t row, int column) const {
  return PQgetisnull(result_.get(), static_cast<int>(row), column) == 1;
}

std::string_view Rows::text(std::size_t row, int column) const {
  const int line = static_cast<int>(row);
  const auto length = static_cast<std::size_t>(PQgetlength(result_.get(), line, column));
  return {PQgetvalue(result_.get(), line, column), length};
}

std::int64_t Rows::integer(std::size_t row, int column) const {
  const std::string_view digits = text(row, column);
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

bool Rows::boolean(std::size_t row, int column) const { return text(row, column) == "t"; }

Uuid Rows::uuid(std::size_t row, int column) const {
  const auto parsed = Uuid::parse(text(row, column));
  return parsed ? *parsed : Uuid();
}

WallTime Rows::instant(std::size_t row, int column) const {
  return WallTime(std::chrono::microseconds(integer(row, column)));
}

// Shared with the handlers of waits that may still be under way when the connection is gone.
struct Connection::Io : public std::enable_shared_from_this<Connection::Io> {
  explicit Io(const boost::asio::any_io_executor& executor) : descriptor(executor) {}

  void arm_read() {
    if (std::exchange(read_armed, true)) return;
    descriptor.async_wait(descriptor.wait_read, [self = shared_from_this()](boost::system::error_code) {
      self->read_armed = false;
      self->ready.set();
    });
  }
  void arm_write() {
    if (std::exchange(write_armed, true)) return;
    descriptor.async_wait(descriptor.wait_write, [self = shared_from_this()](boost::system::error_code) {
      self->write_armed = false;
      self->ready.set();
    });
  }
  // libpq owns the socket: Asio must let go of it before libpq may close or replace it.
  void let_go() {
    if (descriptor.is_open()) descriptor.release();
  }

  boost::asio::posix::stream_descriptor descriptor;
  net::Event ready;
  bool read_armed = false;
  bool write_armed = false;
};

Connection::Connection(net::Loop& loop) : loop_(loop), io_(std::make_shared<Io>(loop.executor())) {}

Connection::~Connection() { std::ignore = abandon(); }

net::Task<Result<std::unique_ptr<Connection>, StoreError>> Connection::connect(net::Loop& loop,
                                                                               std::string database_url,
                                                                               Deadline deadline) {
  std::unique_ptr<Connection> connection(new Connection(loop));
  auto established = co_await connection->establish(std::move(database_url), deadline);
  if (!established) co_return fail(std::move(established).error());
  auto configured = co_await connection->configure(deadline);
  if (!configured) co_return fail(std::move(configured).error());
  co_return std::move(connection);
}

net::Task<Result<void, StoreError>> Connection::establish(std::string database_url, Deadline deadline) {
  const auto options = connect_options(database_url);
  if (!options) co_return fail(StoreError{StoreErrorKind::Internal, "the database URL is malformed", ""});
  auto start = [&options] { return start_connecting(*options); };
  connection_ = co_await loop_.run_blocking(start);  // it may resolve a name
  if (connection_ == nullptr) co_return fail(StoreError{StoreErrorKind::Internal, "libpq is out of memory", ""});
  PQsetNoticeProcessor(connection_, [](void*, const char*) {}, nullptr);

  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  if (PQstatus(connection_) == CONNECTION_BAD) state = PGRES_POLLING_FAILED;
  while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
    io_->descriptor.assign(PQsocket(connection_));
    io_->read_armed = io_->write_armed = false;
    io_->ready.clear();
    state == PGRES_POLLING_READING ? io_->arm_read() : io_->arm_write();
    const net::WaitOutcome outcome = co_await io_->ready.wait(deadline);
    io_->let_go();
    if (outcome != net::WaitOutcome::Signalled) {
      std::ignore = abandon();
      co_return fail(StoreError{StoreErrorKind::Timeout, "the database did not accept the connection in time", ""});
    }
    state = PQconnectPoll(connection_);
  }
  if (state != PGRES_POLLING_OK) {
    StoreError error{StoreErrorKind::Unavailable, trimmed(PQerrorMessage(connection_)), ""};
    std::ignore = abandon();
    co_return fail(std::move(error));
  }
  PQsetnonblocking(connection_, 1);
  PQenterPipelineMode(connection_);
  io_->descriptor.assign(PQsocket(connection_));
  io_->read_armed = io_->write_armed = false;
  io_->ready.clear();
  co_return Result<void, StoreError>();
}

net::Task<Result<void, StoreError>> Connection::configure(Deadline deadline) {
  queue(statements::kConfigureSession);
  auto configured = co_await exchange(End::Sync, deadline);
  if (!configured && broken_) co_return fail(std::move(configured).error().error);
  statements_sent_ = exchanges_made_ = 0;
  co_return Result<void, StoreError>();  // a server without one of the settings serves as well
}

void Connection::queue(const Statement& statement, Params params) {
  const std::size_t index = queued_++;
  if (broken_ || send_error_) return;
  ++statements_sent_;
  bool sent = true;
  if (!prepared_.contains(&statement)) {
    sent = PQsendPrepare(connection_, statement.name.c_str(), statement.sql.c_str(), 0, nullptr) == 1;
    prepared_.insert(&statement);
    expected_.push_back(Expected{&statement, index});
  }
  const auto pointers = params.pointers();
  sent = sent && PQsendQueryPrepared(connection_, statement.name.c_str(), static_cast<int>(pointers.size()),
                                     pointers.data(), nullptr, nullptr, 0) == 1;
  expected_.push_back(Expected{nullptr, index});
  if (!sent) send_error_ = lost();
}

net::Task<Result<std::vector<Rows>, ExchangeError>> Connection::exchange(End end, Deadline deadline,
                                                                         std::string_view what) {
  ++exchanges_made_;
  if (!broken_ && !send_error_) {
    const int sent = end == End::Sync ? PQpipelineSync(connection_) : PQsendFlushRequest(connection_);
    if (sent != 1) send_error_ = lost();
  }
  if (broken_ || send_error_) {
    StoreError error = send_error_ ? *send_error_ : lost();
    co_return fail(ExchangeError{std::move(error), false});
  }
  auto flushed = co_await flush(deadline);
  if (!flushed) co_return fail(ExchangeError{std::move(flushed).error(), false});
  if (!what.empty()) failpoint("sent", what);
  auto collected = co_await collect(deadline);
  is_open_ = end == End::Flush && collected.has_value();
  if (broken_ || is_open_) co_return collected;
  if (end == End::Flush && PQpipelineSync(connection_) != 1) co_return fail(ExchangeError{lost(), true});
  auto synchronized = co_await resynchronize(deadline);
  // What was answered before stays answered: a lost Sync only costs the connection.
  co_return collected;
}

// Reads the answers to everything that was queued.
net::Task<Result<std::vector<Rows>, ExchangeError>> Connection::collect(Deadline deadline) {
  std::vector<Rows> rows;
  std::optional<ExchangeError> failure;
  const std::size_t last = queued_ - 1;
  while (!expected_.empty()) {
    auto answer = co_await next_result(deadline);
    if (!answer && failure) break;
    if (!answer) co_return fail(ExchangeError{std::move(answer).error(), false});
    Rows result(*answer);
    const Expected expected = expected_.front();
    const ExecStatusType status = PQresultStatus(*answer);
    if (status == PGRES_FATAL_ERROR && !failure) {
      const bool ended = ends_session(*answer);
      broken_ = broken_ || ended;
      failure = ExchangeError{reported_error(*answer), !ended || expected.index < last};
      if (field(*answer, PG_DIAG_SQLSTATE).empty()) failure->definite = false;
    }
    if (*answer == nullptr) {
      co_return fail(ExchangeError{lost(), false});
    }
    const bool succeeded = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (expected.prepared != nullptr && !succeeded) prepared_.erase(expected.prepared);
    if (expected.prepared == nullptr && succeeded) rows.push_back(std::move(result));
    expected_.pop_front();
    if (broken_) break;
    auto separator = co_await next_result(deadline);
    if (!separator && !failure && !expected_.empty())
      co_return fail(ExchangeError{std::move(separator).error(), false});
    if (separator && *separator != nullptr) PQclear(*separator);
  }
  queued_ = 0;
  if (failure) co_return fail(std::move(*failure));
  co_return std::move(rows);
}

// Reads up to the answer to a Sync.
net::Task<Result<void, StoreError>> Connection::resynchronize(Deadline deadline) {
  auto flushed = co_await flush(deadline);
  if (!flushed) co_return flushed;
  for (;;) {
    auto answer = co_await next_result(deadline);
    if (!answer) co_return fail(std::move(answer).error());
    const Rows result(*answer);
    const ExecStatusType status = PQresultStatus(*answer);
    if (status == PGRES_PIPELINE_SYNC) co_return Result<void, StoreError>();
    if (*answer != nullptr && status == PGRES_FATAL_ERROR && ends_session(*answer)) co_return fail(lost());
    if (*answer == nullptr && PQstatus(connection_) == CONNECTION_BAD) co_return fail(lost());
  }
}

net::Task<Result<void, StoreError>> Connection::rollback(Deadline deadline) {
  ASSAY_CHECK(queued_ == 0, "a rollback travels alone");
  if (broken_) co_return fail(lost());
  queue(statements::kRollback);
  auto rolled_back = co_await exchange(End::Sync, deadline);
  if (!rolled_back) {
    broken_ = true;
    co_return fail(std::move(rolled_back).error().error);
  }
  co_return Result<void, StoreError>();
}

net::Task<Result<void, StoreError>> Connection::run_script(std::string sql, Deadline deadline) {
  ASSAY_CHECK(queued_ == 0, "a script travels alone");
  if (broken_ || PQexitPipelineMode(connection_) != 1) co_return fail(lost());
  if (PQsendQuery(connection_, sql.c_str()) != 1) co_return fail(lost());
  auto flushed = co_await flush(deadline);
  if (!flushed) co_return flushed;
  std::optional<StoreError> failure;
  for (;;) {
    auto answer = co_await next_result(deadline);
    if (!answer) co_return fail(std::move(answer).error());
    if (*answer == nullptr) break;
    const Rows result(*answer);
    if (PQresultStatus(*answer) == PGRES_FATAL_ERROR && !failure) {
      failure = reported_error(*answer);
      broken_ = broken_ || ends_session(*answer);
    }
  }
  if (!broken_ && PQenterPipelineMode(connection_) != 1) broken_ = true;
  if (failure) co_return fail(std::move(*failure));
  co_return Result<void, StoreError>();
}

net::Task<Result<void, StoreError>> Connection::flush(Deadline deadline) {
  for (;;) {
    const int pending = PQflush(connection_);
    if (pending == 0) co_return Result<void, StoreError>();
    if (pending < 0) co_return fail(lost());
    const bool ready = co_await wait_for_socket(true, deadline);
    if (!ready) co_return fail(timed_out());
    // The server stops reading while nobody takes its answers.
    if (PQconsumeInput(connection_) != 1) co_return fail(lost());
  }
}

net::Task<Result<pg_result*, StoreError>> Connection::next_result(Deadline deadline) {
  while (PQisBusy(connection_) == 1) {
    const bool ready = co_await wait_for_socket(false, deadline);
    if (!ready) co_return fail(timed_out());
    if (PQconsumeInput(connection_) != 1) co_return fail(lost());
  }
  pg_result* result = PQgetResult(connection_);
  collect_notifications();
  co_return result;
}

net::Task<bool> Connection::wait_for_socket(bool write, Deadline deadline) {
  io_->arm_read();
  if (write) io_->arm_write();
  const net::WaitOutcome outcome = co_await io_->ready.wait(deadline);
  io_->ready.clear();
  co_return outcome == net::WaitOutcome::Signalled;
}

net::Task<bool> Connection::wait_for_news(Deadline deadline) {
  if (broken_) co_return false;
  if (!notifications_.empty()) co_return true;
  co_await wait_for_socket(false, deadline);
  if (PQconsumeInput(connection_) != 1 || PQstatus(connection_) == CONNECTION_BAD) {
    lost();
    co_return false;
  }
  // Outside an exchange the server speaks only to notify, to tell a setting, or to say goodbye.
  if (has_unexpected_input() && PQconsumeInput(connection_) != 1) {
    lost();
    co_return false;
  }
  collect_notifications();
  co_return true;
}

void Connection::wake() { io_->ready.set(); }

std::vector<Notification> Connection::take_notifications() { return std::exchange(notifications_, {}); }

void Connection::collect_notifications() {
  while (PGnotify* notice = PQnotifies(connection_)) {
    notifications_.push_back(Notification{notice->relname, notice->extra, notice->be_pid});
    PQfreemem(notice);
  }
}

bool Connection::is_idle() const {
  return !broken_ && connection_ != nullptr && queued_ == 0 && expected_.empty() && !is_open_ &&
         PQtransactionStatus(connection_) == PQTRANS_IDLE;
}

bool Connection::has_unexpected_input() const {
  if (broken_ || connection_ == nullptr) return true;
  char byte = 0;
  const auto seen = ::recv(PQsocket(connection_), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return seen >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

int Connection::server_process() const { return connection_ == nullptr ? 0 : PQbackendPID(connection_); }

StoreError Connection::lost() {
  broken_ = true;
  std::string message = connection_ == nullptr ? "" : trimmed(PQerrorMessage(connection_));
  if (message.empty()) message = "the connection to the database was lost";
  return StoreError{StoreErrorKind::Unavailable, std::move(message), ""};
}

StoreError Connection::timed_out() {
  broken_ = true;  // what is under way can no longer be told from what comes next
  return StoreError{StoreErrorKind::Timeout, "the database did not answer in time", ""};
}

void Connection::Cancel::operator()(pg_cancel* handle) const { PQfreeCancel(handle); }

Connection::CancelHandle Connection::abandon() {
  CancelHandle handle;
  io_->let_go();
  if (connection_ != nullptr) {
    if (!expected_.empty()) handle.reset(PQgetCancel(connection_));
    PQfinish(std::exchange(connection_, nullptr));
  }
  broken_ = true;
  return handle;
}

void Connection::cancel(CancelHandle handle) {
  if (!handle) return;
  char ignored[256];
  PQcancel(handle.get(), ignored, sizeof ignored);
}

}  // namespace assay::store

#include "database/test_database.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "store/cluster.h"
#include "store/migrate.h"

namespace assay::test_database {

namespace {

// A cluster for test programs that were given no server.
class ThrowawayCluster {
 public:
  ThrowawayCluster() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-test.XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
    std::filesystem::permissions(folder_, std::filesystem::perms(0711));
    store::ClusterOptions options;
    options.folder = folder_;
    auto cluster = store::Cluster::start(std::move(options), in_test_time());
    if (!cluster) {
      fmt::print(stderr, "no database for the tests: {}\n", cluster.error().message);
      std::abort();
    }
    cluster_ = std::move(*cluster);
  }
  ~ThrowawayCluster() {
    cluster_->stop(in_test_time());
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ThrowawayCluster(const ThrowawayCluster&) = delete;
  ThrowawayCluster& operator=(const ThrowawayCluster&) = delete;

  [[nodiscard]] const std::string& url() const { return cluster_->database_url(); }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<store::Cluster> cluster_;
};

std::string server_url() {
  if (const char* given = std::getenv("ASSAY_TEST_DATABASE_URL"); given != nullptr && *given != '\0') return given;
  static const ThrowawayCluster cluster;
  return cluster.url();
}

// The same server, another database, as a conninfo string.
std::string url_of(const std::string& database) {
  PQconninfoOption* options = PQconninfoParse(server_url().c_str(), nullptr);
  if (options == nullptr) {
    fmt::print(stderr, "ASSAY_TEST_DATABASE_URL is malformed\n");
    std::abort();
  }
  std::string url = fmt::format("dbname={}", database);
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    if (option->val == nullptr || std::string_view(option->keyword) == "dbname") continue;
    std::string quoted;
    for (const char byte : std::string_view(option->val)) {
      if (byte == '\'' || byte == '\\') quoted += '\\';
      quoted += byte;
    }
    url += fmt::format(" {}='{}'", option->keyword, quoted);
  }
  PQconninfoFree(options);
  return url;
}

struct Answer {
  std::vector<Row> rows;
  std::string sqlstate;
  std::string message;
};

Answer execute(PGconn* connection, const std::string& text) {
  PGresult* result = PQexec(connection, text.c_str());
  Answer answer;
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    const char* code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    answer.sqlstate = code == nullptr ? "08000" : code;
    answer.message = PQerrorMessage(connection);
  }
  for (int row = 0; row < PQntuples(result); ++row) {
    Row& cells = answer.rows.emplace_back();
    for (int column = 0; column < PQnfields(result); ++column) {
      if (PQgetisnull(result, row, column) == 1)
        cells.emplace_back();
      else
        cells.emplace_back(PQgetvalue(result, row, column));
    }
  }
  PQclear(result);
  return answer;
}

// On the server's own database, where test databases are made and dropped.
void administrate(const std::string& text) {
  PGconn* connection = PQconnectdb(server_url().c_str());
  if (PQstatus(connection) != CONNECTION_OK) {
    fmt::print(stderr, "the test database cannot be reached: {}\n", PQerrorMessage(connection));
    std::abort();
  }
  const Answer answer = execute(connection, text);
  if (!answer.sqlstate.empty()) {
    fmt::print(stderr, "{}: {}\n", text, answer.message);
    std::abort();
  }
  PQfinish(connection);
}

std::string unique_name(std::string_view kind) {
  static std::atomic<int> count{0};
  return fmt::format("assay_{}_{}_{}", kind, ::getpid(), ++count);
}

// A migrated database that the others are copied from.
class Template {
 public:
  Template() {
    administrate(fmt::format("create database {}", name_));
    net::Loop loop;
    loop.run(migrate(&loop, url_of(name_)));
  }
  ~Template() { administrate(fmt::format("drop database if exists {} with (force)", name_)); }
  Template(const Template&) = delete;
  Template& operator=(const Template&) = delete;

  static const std::string& name() {
    server_url();  // made first, so that it is destroyed last
    static const Template instance;
    return instance.name_;
  }

 private:
  static net::Task<> migrate(net::Loop* loop, std::string url) {
    const auto migrated = co_await store::migrate(*loop, std::move(url), in_test_time());
    if (!migrated) {
      fmt::print(stderr, "the migrations fail: {}\n", migrated.error().message);
      std::abort();
    }
  }

  const std::string name_ = unique_name("template");
};

}  // namespace

struct TestDatabase::Session {
  PGconn* connection;
  explicit Session(const std::string& url) : connection(PQconnectdb(url.c_str())) {
    PQsetNoticeProcessor(connection, [](void*, const char*) {}, nullptr);
  }
  ~Session() { PQfinish(connection); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

TestDatabase::TestDatabase(Schema schema) : name_(unique_name("test")), url_(url_of(name_)) {
  const std::string source = schema == Schema::Migrated ? Template::name() : "template0";
  administrate(fmt::format("create database {} template {}", name_, source));
  session_ = std::make_unique<Session>(url_);
}

TestDatabase::~TestDatabase() {
  session_.reset();
  administrate(fmt::format("drop database if exists {} with (force)", name_));
}

std::vector<Row> TestDatabase::sql(const std::string& text) {
  Answer answer = execute(session_->connection, text);
  EXPECT_EQ(answer.sqlstate, "") << answer.message << "\nin: " << text;
  return std::move(answer.rows);
}

std::string TestDatabase::value(const std::string& text) {
  const auto rows = sql(text);
  if (rows.empty() || rows.front().empty()) return "no row";
  return rows.front().front().value_or("null");
}

std::string TestDatabase::refusal(const std::string& text) { return execute(session_->connection, text).sqlstate; }

void TestDatabase::cut_connections() {
  sql("select pg_terminate_backend(pid) from pg_stat_activity "
      "where datname = current_database() and pid <> pg_backend_pid()");
}

void StoreTest::SetUp() { store_ = &open_replica(replica_); }

void StoreTest::TearDown() {
  for (const auto& opened : stores_) run(opened->close(in_test_time()));
}

store::Store& StoreTest::open_replica(ReplicaId replica, Milliseconds lease) {
  store::StoreOptions options;
  options.database_url = database.url();
  options.replica = replica;
  options.connections_max = 4;
  options.lease = lease;
  auto opened = get(store::Store::open(loop, std::move(options), in_test_time()));
  if (!opened) throw std::runtime_error(opened.error().message);
  stores_.push_back(std::move(*opened));
  return *stores_.back();
}

store::Committed StoreTest::create_chat(std::string_view text) {
  return create_chat_for(UserId::random(system_random()), "a chat", text);
}

store::Committed StoreTest::create_chat_for(UserId owner, std::string_view title, std::string_view text) {
  chat::NewChat created;
  created.chat.id = ChatId::random(system_random());
  created.chat.organization_id = OrganizationId::random(system_random());
  created.chat.owner_id = owner;
  created.chat.title = title;
  created.chat.last_model_config = ModelConfigId::random(system_random());
  created.chat.status = chat::Status::Running;
  chat::NewMessage message;
  message.content.push_back(chat::TextPart{std::string(text)});
  message.created_by = owner;
  created.messages.push_back(std::move(message));
  auto committed = get(chats().create(std::move(created), in_test_time()));
  if (!committed) throw std::runtime_error("the chat was not created");
  return std::move(*committed);
}

}  // namespace assay::test_database

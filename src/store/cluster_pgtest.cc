// The private cluster starts servers of its own: ASSAY_TEST_DATABASE_URL plays no part here.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "store/cluster.h"
#include "store/server_process.h"

namespace assay::store {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Deadline in_time() { return Deadline::after(system_clock(), Milliseconds(60'000)); }

// The first cell of an answer; the error where there is none.
std::string ask(const std::string& url, const std::string& sql) {
  PGconn* connection = PQconnectdb(url.c_str());
  std::string answer = PQerrorMessage(connection);
  if (PQstatus(connection) == CONNECTION_OK) {
    PGresult* result = PQexec(connection, sql.c_str());
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_TUPLES_OK)
      answer = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "no row";
    else
      answer = status == PGRES_COMMAND_OK ? "done" : PQresultErrorMessage(result);
    PQclear(result);
  }
  PQfinish(connection);
  return answer;
}

fs::path make_open_folder() {
  std::string pattern = (fs::temp_directory_path() / "assay-cluster.XXXXXX").string();
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  ::chmod(pattern.c_str(), 0711);
  return pattern;
}

class ClusterTest : public ::testing::Test {
 protected:
  // Initialising costs far more than a copy of what it makes.
  static void SetUpTestSuite() {
    initialized_ = make_open_folder();
    ASSERT_TRUE(try_start(initialized_ / "cluster"));
  }
  static void TearDownTestSuite() { fs::remove_all(initialized_); }

  void SetUp() override { parent_ = make_open_folder(); }
  // Data as an earlier run left it.
  void reuse_data() const {
    const std::string copy = fmt::format("cp -a {} {}", (initialized_ / "cluster").string(), folder().string());
    ASSERT_EQ(std::system(copy.c_str()), 0);
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(parent_, ignored);
  }

  [[nodiscard]] fs::path folder() const { return parent_ / "cluster"; }
  [[nodiscard]] Result<std::unique_ptr<Cluster>, ClusterError> try_start() const { return try_start(folder()); }
  static Result<std::unique_ptr<Cluster>, ClusterError> try_start(fs::path folder) {
    ClusterOptions options;
    options.folder = std::move(folder);
    return Cluster::start(std::move(options), in_time());
  }
  [[nodiscard]] std::unique_ptr<Cluster> start() const {
    if (!fs::exists(folder())) reuse_data();
    auto started = try_start();
    EXPECT_TRUE(started.has_value()) << started.error().message;
    return started ? std::move(*started) : nullptr;
  }
  [[nodiscard]] std::optional<std::string> running() const {
    ClusterOptions options;
    options.folder = folder();
    return Cluster::url_of_running(options);
  }

  static inline fs::path initialized_;
  fs::path parent_;
};

TEST_F(ClusterTest, StartsServesAndKeepsItsData) {
  {
    const auto cluster = start();
    ASSERT_NE(cluster, nullptr);
    EXPECT_FALSE(cluster->was_adopted());
    EXPECT_EQ(ask(cluster->database_url(), "create table kept (a int)"), "done");
    EXPECT_EQ(ask(cluster->database_url(), "show listen_addresses"), "");
    EXPECT_EQ(ask(cluster->database_url(), "show fsync"), "on");
    EXPECT_EQ(ask(cluster->url_of("postgres"), "select current_database()"), "postgres");
    if (::geteuid() == 0) {
      struct stat status{};
      ASSERT_EQ(::stat(fmt::format("/proc/{}", cluster->server_process()).c_str(), &status), 0);
      EXPECT_NE(status.st_uid, 0U) << "the server runs as root";
    }
    EXPECT_TRUE(cluster->stop(in_time()));
    EXPECT_TRUE(cluster->stop(in_time()));
    EXPECT_THAT(processes_in(folder() / "data"), ::testing::IsEmpty());
  }
  const auto again = start();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(ask(again->database_url(), "select count(*) from kept"), "0");
}

TEST_F(ClusterTest, StopsQuicklyWithOpenSessions) {
  const auto cluster = start();
  ASSERT_NE(cluster, nullptr);
  PGconn* session = PQconnectdb(cluster->database_url().c_str());
  PQclear(PQexec(session, "begin"));
  EXPECT_TRUE(cluster->stop(in_time()));
  PQfinish(session);
}

TEST_F(ClusterTest, IsStartedAgainAfterItsServerWasKilled) {
  const auto cluster = start();
  ASSERT_NE(cluster, nullptr);
  EXPECT_EQ(ask(cluster->database_url(), "create table kept (a int)"), "done");
  EXPECT_EQ(cluster->ensure_running(in_time()), false);
  PGconn* busy = PQconnectdb(cluster->database_url().c_str());
  ASSERT_EQ(PQsendQuery(busy, "select pg_sleep(600)"), 1);  // a session that outlives the server and blocks the next
  while (ask(cluster->database_url(),
             "select count(*) from pg_stat_activity where query like '%(600)%' "
             "and pid <> pg_backend_pid()") != "1") {
  }
  ::kill(cluster->server_process(), SIGKILL);
  while (cluster->ensure_running(in_time()) == false) pause_briefly();  // dying takes a moment
  EXPECT_EQ(ask(cluster->database_url(), "select count(*) from kept"), "0");
  PQfinish(busy);
}

TEST_F(ClusterTest, OneProcessAtATime) {
  const auto cluster = start();
  ASSERT_NE(cluster, nullptr);
  const auto second = try_start();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ClusterErrorKind::InUse);
}

TEST_F(ClusterTest, AVisitorFindsTheRunningServer) {
  EXPECT_EQ(running(), std::nullopt);
  const auto cluster = start();
  ASSERT_NE(cluster, nullptr);
  const auto url = running();
  ASSERT_TRUE(url);
  EXPECT_EQ(ask(*url, "select current_database()"), "assay");
  EXPECT_TRUE(cluster->stop(in_time()));
  EXPECT_EQ(running(), std::nullopt);
}

// Starts a cluster in a child process that then dies by kill -9, or hands the server over to a longer life first.
class OwnerProcess {
 public:
  explicit OwnerProcess(const fs::path& folder) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    child_ = ::fork();
    if (child_ == 0) {
      ClusterOptions options;
      options.folder = folder;
      auto started = Cluster::start(std::move(options), in_time());
      const pid_t server = started ? (*started)->server_process() : 0;
      if (::write(ends[1], &server, sizeof server) != sizeof server) ::_exit(1);
      for (;;) ::pause();
    }
    EXPECT_EQ(::read(ends[0], &server_, sizeof server_), static_cast<ssize_t>(sizeof server_));
    ::close(ends[0]);
    ::close(ends[1]);
  }
  void kill() const {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  [[nodiscard]] pid_t server() const { return server_; }

 private:
  pid_t child_ = 0;
  pid_t server_ = 0;
};

TEST_F(ClusterTest, TheServerEndsWithTheProcessThatStartedIt) {
  reuse_data();
  const OwnerProcess owner(folder());
  ASSERT_TRUE(is_postgres(owner.server()));
  owner.kill();
  while (is_postgres(owner.server())) pause_briefly();
  const auto cluster = start();
  ASSERT_NE(cluster, nullptr);
  EXPECT_FALSE(cluster->was_adopted());
}

TEST_F(ClusterTest, StartsAtOnceAfterItsOwnerWasKilled) {
  reuse_data();
  const OwnerProcess owner(folder());
  ASSERT_TRUE(is_postgres(owner.server()));
  owner.kill();  // the server is still on its way out
  const auto cluster = start();
  ASSERT_NE(cluster, nullptr);
  EXPECT_EQ(ask(cluster->database_url(), "select 1"), "1");
}

TEST_F(ClusterTest, AdoptsAServerThatStayed) {
  auto cluster = start();
  ASSERT_NE(cluster, nullptr);
  EXPECT_TRUE(cluster->stop(in_time()));
  cluster.reset();
  // As left by an owner whose death the kernel did not pass on.
  const auto user = find_server_user();
  ASSERT_TRUE(user);
  const std::string version = [this] {
    std::ifstream file(folder() / "data" / "PG_VERSION");
    std::string line;
    std::getline(file, line);
    return line;
  }();
  const auto server =
      start_process({fmt::format("/usr/lib/postgresql/{}/bin/postgres", version), "-D", (folder() / "data").string(),
                     "-k", (folder() / "run").string(), "-c", "listen_addresses="},
                    *user, parent_ / "log");
  ASSERT_TRUE(server);
  while (!running()) pause_briefly();

  auto adopter = start();
  ASSERT_NE(adopter, nullptr);
  EXPECT_TRUE(adopter->was_adopted());
  EXPECT_EQ(adopter->server_process(), *server);
  EXPECT_EQ(ask(adopter->database_url(), "select 1"), "1");
  std::thread reaper([server] { ::waitpid(*server, nullptr, 0); });
  EXPECT_TRUE(adopter->stop(in_time()));
  reaper.join();
}

TEST_F(ClusterTest, ACutInitialisationIsRepeated) {
  fs::create_directories(folder() / "data.new");
  std::ofstream(folder() / "data.new" / "PG_VERSION") << "15\n";
  const auto cluster = start();
  ASSERT_NE(cluster, nullptr);
  EXPECT_EQ(ask(cluster->database_url(), "select 1"), "1");
}

TEST_F(ClusterTest, RefusesTheDataOfAnotherVersion) {
  fs::create_directories(folder() / "data");
  std::ofstream(folder() / "data" / "PG_VERSION") << "9.6\n";
  const auto refused = try_start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ClusterErrorKind::WrongVersion);
  EXPECT_THAT(refused.error().message, HasSubstr("9.6"));
}

TEST_F(ClusterTest, RefusesAFolderThatTheServersUserCannotEnter) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root drops to another user";
  ::chmod(parent_.c_str(), 0700);
  const auto refused = try_start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ClusterErrorKind::FolderUnusable);
  EXPECT_THAT(refused.error().message, HasSubstr(parent_.string()));
}

TEST_F(ClusterTest, RefusesAFolderThatIsAFile) {
  std::ofstream(folder()) << "in the way";
  const auto refused = try_start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ClusterErrorKind::FolderUnusable);
}

TEST_F(ClusterTest, ALongPathGetsAShortSocketFolder) {
  reuse_data();
  const fs::path deep = parent_ / std::string(120, 'd');
  fs::rename(folder(), deep);
  auto started = try_start(deep);
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_EQ(ask((*started)->database_url(), "select 1"), "1");
  const std::string sockets = ask((*started)->database_url(), "show unix_socket_directories");
  EXPECT_LT(sockets.size(), 90U);
  struct stat status{};
  ASSERT_EQ(::stat(sockets.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  started->reset();
  fs::remove_all(sockets);
}

TEST_F(ClusterTest, SaysWhatTheServerSaid) {
  auto cluster = start();
  ASSERT_NE(cluster, nullptr);
  EXPECT_TRUE(cluster->stop(in_time()));
  cluster.reset();
  std::ofstream(folder() / "data" / "postgresql.conf", std::ios::app) << "no_such_setting = 1\n";
  const auto refused = try_start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ClusterErrorKind::Failed);
  EXPECT_THAT(refused.error().message, HasSubstr("no_such_setting"));
}

TEST_F(ClusterTest, AFullDiskIsNamed) {
  auto cluster = start();
  ASSERT_NE(cluster, nullptr);
  EXPECT_TRUE(cluster->stop(in_time()));
  cluster.reset();
  std::ofstream(folder() / "postgres.log", std::ios::app) << "FATAL:  could not write: No space left on device\n";
  fs::remove(folder() / "data" / "global" / "pg_control");
  const auto refused = try_start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ClusterErrorKind::DiskFull);
}

}  // namespace
}  // namespace assay::store

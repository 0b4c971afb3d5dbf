// What the store makes of cut connections and dying servers, seen from outside.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "database/test_database.h"
#include "store/cluster.h"
#include "store/migrate.h"
#include "store/server_process.h"

namespace assay::store {
namespace {

namespace fs = std::filesystem;
using test_database::in_test_time;
using test_database::StoreTest;

// Stands between the store and the server, and can lose the answer to a COMMIT that the server has carried out.
class Proxy {
 public:
  explicit Proxy(const std::string& server_socket) : server_socket_(server_socket) {
    std::string pattern = (fs::temp_directory_path() / "assay-proxy.XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    const sockaddr_un address = address_of((folder_ / ".s.PGSQL.5432").string());
    listener_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~Proxy() {
    ends_ = true;
    acceptor_.join();
    for (std::thread& pair : pairs_) pair.join();
    ::close(listener_);
    fs::remove_all(folder_);
  }
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  [[nodiscard]] std::string folder() const { return folder_.string(); }
  void lose_next_commit() { loses_commit_ = true; }

 private:
  static constexpr int kPollMs = 20;

  static sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
  }
  void accept_all() {
    while (!ends_) {
      pollfd waiting{listener_, POLLIN, 0};
      if (::poll(&waiting, 1, kPollMs) <= 0) continue;
      const int client = ::accept(listener_, nullptr, nullptr);
      const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
      const sockaddr_un address = address_of(server_socket_);
      EXPECT_EQ(::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
      pairs_.emplace_back([this, client, server] { carry(client, server); });
    }
  }
  void carry(int client, int server) {
    bool alive = true;
    while (alive && !ends_) {
      pollfd waiting[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
      ::poll(waiting, 2, kPollMs);
      if (waiting[0].revents != 0) alive = forward(client, server, false);
      if (alive && waiting[1].revents != 0) alive = forward(server, client, true);
    }
    ::close(client);
    ::close(server);
  }
  bool forward(int from, int to, bool is_answer) {
    char buffer[65536];
    const ssize_t count = ::recv(from, buffer, sizeof buffer, 0);
    if (count <= 0) return false;
    const std::string_view bytes(buffer, static_cast<std::size_t>(count));
    const bool commits = is_answer && bytes.find(std::string_view("COMMIT\0", 7)) != std::string_view::npos;
    if (commits && loses_commit_.exchange(false)) return false;
    return ::send(to, buffer, static_cast<std::size_t>(count), MSG_NOSIGNAL) == count;
  }

  const std::string server_socket_;
  fs::path folder_;
  int listener_ = -1;
  std::atomic<bool> ends_{false};
  std::atomic<bool> loses_commit_{false};
  std::thread acceptor_;
  std::vector<std::thread> pairs_;
};

chat::Effects say(std::string_view text) {
  chat::NewMessage message;
  message.content.push_back(chat::TextPart{std::string(text)});
  chat::Effects effects;
  effects.insert.push_back(std::move(message));
  return effects;
}

class FaultTest : public StoreTest {
 protected:
  Result<Committed, TransitError> append(ChatStore& store, ChatId chat, std::string_view text) {
    const Decide decide = [text](const chat::LockedChat&) -> chat::Decision { return say(text); };
    return get(store.transit(chat, chat::ReadPlan(), decide, in_test_time()));
  }
};

TEST_F(FaultTest, ACommitWhoseAnswerIsLostIsInDoubtAndDone) {
  const std::string sockets = database.value("show unix_socket_directories");
  const std::string port = database.value("show port");
  Proxy proxy(fmt::format("{}/.s.PGSQL.{}", sockets, port));
  StoreOptions options;
  options.database_url = fmt::format("host={} port=5432 user={} dbname={}", proxy.folder(),
                                     database.value("select user"), database.name());
  options.replica = ReplicaId::random(system_random());
  auto opened = get(Store::open(loop, std::move(options), in_test_time()));
  ASSERT_TRUE(opened) << opened.error().message;
  Store& store = **opened;

  const ChatId chat = create_chat().chat.id;
  ASSERT_TRUE(append(store.chats(), chat, "one"));
  Subscription subscription = store.notifications().subscribe(chat);
  proxy.lose_next_commit();
  const auto lost = append(store.chats(), chat, "two");
  ASSERT_FALSE(lost);
  EXPECT_EQ(std::get<StoreError>(lost.error()).kind, StoreErrorKind::InDoubt);
  EXPECT_TRUE(subscription.changed().is_set()) << "whoever watches has to look";
  const auto turn = get(store.chats().read_turn(chat, in_test_time()));
  ASSERT_TRUE(turn && *turn);
  EXPECT_EQ((*turn)->chat.snapshot_version, 3);
  EXPECT_EQ((*turn)->history.size(), 3U);
  EXPECT_TRUE(append(store.chats(), chat, "three"));
  EXPECT_EQ(database.value("select count(*) from chat_messages"), "4");
  run(store.close(in_test_time()));
}

TEST_F(FaultTest, ACreateInDoubtIsToldApartBySendingItAgain) {
  const std::string sockets = database.value("show unix_socket_directories");
  Proxy proxy(fmt::format("{}/.s.PGSQL.{}", sockets, database.value("show port")));
  StoreOptions options;
  options.database_url = fmt::format("host={} port=5432 user={} dbname={}", proxy.folder(),
                                     database.value("select user"), database.name());
  options.replica = ReplicaId::random(system_random());
  auto opened = get(Store::open(loop, std::move(options), in_test_time()));
  ASSERT_TRUE(opened) << opened.error().message;
  chat::NewChat created;
  created.chat = create_chat().chat;
  created.chat.id = ChatId::random(system_random());
  proxy.lose_next_commit();
  const auto lost = get((*opened)->chats().create(created, in_test_time()));
  ASSERT_FALSE(lost);
  EXPECT_EQ(std::get<StoreError>(lost.error()).kind, StoreErrorKind::InDoubt);
  const auto again = get((*opened)->chats().create(created, in_test_time()));
  ASSERT_FALSE(again);
  EXPECT_EQ(std::get<chat::Refusal>(again.error()).kind, chat::RefusalKind::Conflict);
  run((*opened)->close(in_test_time()));
}

// A server of the test's own, killed and started again under an open store.
TEST(ServerRestart, TheStoreComesBackWithItsServer) {
  std::string pattern = (fs::temp_directory_path() / "assay-restart.XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  ::chmod(pattern.c_str(), 0711);
  ClusterOptions where;
  where.folder = fs::path(pattern) / "cluster";
  auto cluster = Cluster::start(where, Deadline::after(system_clock(), Milliseconds(60'000)));
  ASSERT_TRUE(cluster) << cluster.error().message;
  net::Loop loop;
  const fs::path data_folder = where.folder / "data";
  const auto body = [](net::Loop* on, Cluster* server, const fs::path* data) -> net::Task<> {
    const auto migrated = co_await migrate(*on, server->database_url(), in_test_time());
    EXPECT_TRUE(migrated.has_value());
    StoreOptions options;
    options.database_url = server->database_url();
    options.replica = ReplicaId::random(system_random());
    auto opened = co_await Store::open(*on, std::move(options), in_test_time());
    EXPECT_TRUE(opened.has_value());
    if (!opened) co_return;
    Store& store = **opened;
    chat::NewChat created;
    created.chat.id = ChatId::random(system_random());
    created.chat.status = chat::Status::Running;
    const ChatId chat = created.chat.id;
    const auto made = co_await store.chats().create(std::move(created), in_test_time());
    EXPECT_TRUE(made.has_value());
    Subscription subscription = store.notifications().subscribe(chat);

    ::kill(server->server_process(), SIGKILL);
    while (!processes_in(*data).empty()) pause_briefly();  // idle sessions leave with their server
    const auto down = co_await store.ping(in_test_time());
    EXPECT_FALSE(down.has_value());
    if (!down) EXPECT_EQ(down.error().kind, StoreErrorKind::Unavailable);
    auto restarted = server->ensure_running(in_test_time());
    while (restarted == false) {  // dying takes a moment
      pause_briefly();
      restarted = server->ensure_running(in_test_time());
    }
    EXPECT_TRUE(restarted.has_value() && *restarted) << (restarted ? "it ran" : restarted.error().message);
    const auto up = co_await store.ping(in_test_time());
    EXPECT_TRUE(up.has_value());
    const auto found = co_await store.chats().find_chat(chat, in_test_time());
    EXPECT_TRUE(found.has_value() && found->has_value()) << "what was committed has survived";
    const auto woken = co_await subscription.changed().wait(in_test_time());
    EXPECT_EQ(woken, net::WaitOutcome::Signalled) << "the listener comes back and wakes everybody";
    EXPECT_TRUE(store.notifications().holds_replica_lock());
    co_await store.close(in_test_time());
  };
  loop.run(body(&loop, cluster->get(), &data_folder));
  EXPECT_TRUE((*cluster)->stop(in_test_time()));
  fs::remove_all(pattern);
}

}  // namespace
}  // namespace assay::store

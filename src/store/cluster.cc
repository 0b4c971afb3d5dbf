#include "store/cluster.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <functional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "store/server_process.h"

namespace assay::store {

namespace fs = std::filesystem;

namespace {

constexpr const char* kInstallations = "/usr/lib/postgresql";
constexpr int kVersionMin = 15;
constexpr const char* kSuperuser = "assay";
constexpr const char* kDatabase = "assay";
constexpr int kPort = 5432;  // only a part of the socket's name
constexpr std::uintmax_t kLogBytesMax = 16 * 1024 * 1024;
constexpr std::size_t kLastWordsBytesMax = 600;
// How long a server that answers must go on answering before it is adopted: one whose process has just died still
// accepts for an instant.
constexpr Milliseconds kAdoptionTrial{150};

auto refuse(ClusterErrorKind kind, std::string message) { return fail(ClusterError{kind, std::move(message)}); }

std::string system_error_text() { return std::strerror(errno); }

struct Installation {
  int version = 0;
  fs::path programs;
};

// Newest first.
std::vector<Installation> installations() {
  std::vector<Installation> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kInstallations, error)) {
    const std::string name = entry.path().filename().string();
    Installation one;
    const auto [end, parsed] = std::from_chars(name.data(), name.data() + name.size(), one.version);
    if (parsed != std::errc() || end != name.data() + name.size() || one.version < kVersionMin) continue;
    one.programs = entry.path() / "bin";
    if (fs::exists(one.programs / "postgres", error) && fs::exists(one.programs / "initdb", error))
      found.push_back(one);
  }
  std::ranges::sort(found, std::greater(), &Installation::version);
  return found;
}

std::string first_line(const fs::path& file) {
  std::ifstream input(file);
  std::string line;
  std::getline(input, line);
  return line;
}

// What postmaster.pid says about the server that wrote it.
struct ServerFile {
  pid_t process = 0;
  std::string socket_folder;
  bool is_ready = false;
};

std::optional<ServerFile> read_server_file(const fs::path& data) {
  std::ifstream input(data / "postmaster.pid");
  std::vector<std::string> lines;
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  if (lines.empty()) return std::nullopt;
  ServerFile file;
  std::from_chars(lines[0].data(), lines[0].data() + lines[0].size(), file.process);
  if (file.process <= 1) return std::nullopt;
  if (lines.size() > 4) file.socket_folder = lines[4];
  if (lines.size() > 7) file.is_ready = lines[7].starts_with("ready");
  return file;
}

std::string conninfo_value(std::string_view value) {
  std::string text = "'";
  for (const char byte : value) {
    if (byte == '\'' || byte == '\\') text += '\\';
    text += byte;
  }
  return text + "'";
}

std::string conninfo(const fs::path& socket_folder, std::string_view database) {
  return fmt::format("host={} port={} user={} dbname={}", conninfo_value(socket_folder.string()), kPort, kSuperuser,
                     conninfo_value(database));
}

// One statement on a blocking connection; the first cell of its answer. nullopt: it failed.
std::optional<std::string> ask(const fs::path& socket_folder, const std::string& statement) {
  PGconn* connection = PQconnectdb((conninfo(socket_folder, "postgres") + " connect_timeout=5").c_str());
  std::optional<std::string> answer;
  if (PQstatus(connection) == CONNECTION_OK) {
    PGresult* result = PQexec(connection, statement.c_str());
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_TUPLES_OK) answer = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
    if (status == PGRES_COMMAND_OK) answer = "";
    PQclear(result);
  }
  PQfinish(connection);
  return answer;
}

bool serves(const fs::path& socket_folder, const fs::path& data) {
  const auto served = ask(socket_folder, "show data_directory");
  std::error_code error;
  return served && fs::equivalent(*served, data, error);
}

// A socket's path has room for little more than a hundred bytes.
bool fits_socket(const fs::path& folder) {
  const std::string socket = fmt::format("{}/.s.PGSQL.{}", folder.string(), kPort);
  return socket.size() < sizeof(sockaddr_un::sun_path);
}

// Makes the folder, with the mode and for the user given; refuses one that belongs to somebody else.
Result<void, ClusterError> make_folder(const fs::path& folder, mode_t mode, uid_t uid, gid_t gid) {
  if (::mkdir(folder.c_str(), mode) != 0 && errno != EEXIST) {
    const auto kind = errno == ENOSPC ? ClusterErrorKind::DiskFull : ClusterErrorKind::FolderUnusable;
    return refuse(kind, fmt::format("{} cannot be created: {}", folder.string(), system_error_text()));
  }
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return refuse(ClusterErrorKind::FolderUnusable, fmt::format("{} is no folder", folder.string()));
  }
  const bool is_ours = status.st_uid == ::geteuid() || status.st_uid == uid;
  if (!is_ours) {
    return refuse(ClusterErrorKind::FolderUnusable, fmt::format("{} belongs to another user", folder.string()));
  }
  if ((status.st_uid != uid && ::chown(folder.c_str(), uid, gid) != 0) || ::chmod(folder.c_str(), mode) != 0) {
    return refuse(ClusterErrorKind::FolderUnusable,
                  fmt::format("{} cannot be given to the database's user: {}", folder.string(), system_error_text()));
  }
  return {};
}

}  // namespace

struct Cluster::Parts {
  explicit Parts(fs::path chosen) : folder(std::move(chosen)), data(folder / "data"), log(folder / "postgres.log") {}
  ~Parts() {
    if (lock >= 0) ::close(lock);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  Result<void, ClusterError> prepare_folders();
  Result<void, ClusterError> choose_installation();
  Result<void, ClusterError> take_lock();
  Result<void, ClusterError> initialize(Deadline deadline);
  Result<bool, ClusterError> adopt(Deadline deadline);
  Result<void, ClusterError> launch(Deadline deadline);
  Result<void, ClusterError> create_database();
  Result<void, ClusterError> bring_up(Deadline deadline);
  [[nodiscard]] ClusterError server_error(std::string_view what) const;
  [[nodiscard]] bool is_running();

  const fs::path folder;
  const fs::path data;
  const fs::path log;
  fs::path sockets;
  ServerUser user;
  Installation installation;
  int lock = -1;
  pid_t server = 0;  // 0: none
  bool adopted = false;
  std::string url;
};

namespace {

// Where the socket lives: below the data where the path is short enough, else in a folder named after it.
fs::path socket_folder_of(const fs::path& folder) {
  fs::path run = folder / "run";
  if (fits_socket(run)) return run;
  const std::size_t hash = std::hash<std::string>()(folder.string());
  return fs::temp_directory_path() / fmt::format("assay-{:016x}", hash);
}

}  // namespace

Result<void, ClusterError> Cluster::Parts::prepare_folders() {
  const auto found = find_server_user();
  if (!found) {
    return refuse(
        ClusterErrorKind::NoUnprivilegedUser,
        "PostgreSQL refuses to run as root and there is no user `postgres`: install the package postgresql-15, "
        "or start assay as an ordinary user");
  }
  user = *found;
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  // The server's user must pass through, and only its own folders are closed to others.
  const auto made = make_folder(folder, user.is_other ? 0711 : 0700, ::geteuid(), ::getegid());
  if (!made) return made;
  if (const auto closed = first_closed_folder(folder, user)) {
    return refuse(ClusterErrorKind::FolderUnusable,
                  fmt::format("the database's user cannot enter {}: choose a data folder outside it, or open it with "
                              "chmod a+x",
                              closed->string()));
  }
  sockets = socket_folder_of(folder);
  if (!fits_socket(sockets)) {
    return refuse(ClusterErrorKind::PathTooLong,
                  fmt::format("{} is too long for a socket: set TMPDIR to a shorter path", sockets.string()));
  }
  return make_folder(sockets, 0700, user.uid, user.gid);
}

Result<void, ClusterError> Cluster::Parts::choose_installation() {
  const auto found = installations();
  const std::string stored = first_line(data / "PG_VERSION");
  if (found.empty()) {
    return refuse(ClusterErrorKind::NotInstalled,
                  fmt::format("no PostgreSQL of version {} or newer is installed under {}: install the package "
                              "postgresql-15, or name a database with --database-url",
                              kVersionMin, kInstallations));
  }
  if (stored.empty()) {
    installation = found.front();
    return {};
  }
  for (const Installation& one : found) {
    if (fmt::to_string(one.version) != stored) continue;
    installation = one;
    return {};
  }
  return refuse(
      ClusterErrorKind::WrongVersion,
      fmt::format("{} was made by PostgreSQL {}, which is not installed (found: {}): install it, or migrate the "
                  "data with pg_upgrade",
                  data.string(), stored, found.front().version));
}

Result<void, ClusterError> Cluster::Parts::take_lock() {
  const fs::path file = folder / "lock";
  lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) {
    return refuse(ClusterErrorKind::FolderUnusable,
                  fmt::format("{} cannot be opened: {}", file.string(), system_error_text()));
  }
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return refuse(ClusterErrorKind::InUse,
                  fmt::format("another assay runs on {}: stop it, or choose another data folder", folder.string()));
  }
  return {};
}

// In a folder beside, so that an initialisation that was cut short leaves nothing that looks whole.
Result<void, ClusterError> Cluster::Parts::initialize(Deadline deadline) {
  if (fs::exists(data / "PG_VERSION")) return {};
  const fs::path fresh = folder / "data.new";
  std::error_code error;
  fs::remove_all(fresh, error);
  auto made = make_folder(fresh, 0700, user.uid, user.gid);
  if (!made) return made;
  const std::vector<std::string> command{(installation.programs / "initdb").string(),
                                         "-D",
                                         fresh.string(),
                                         "-U",
                                         kSuperuser,
                                         "-A",
                                         "trust",
                                         "-E",
                                         "UTF8",
                                         "--locale=C",
                                         "--no-instructions"};
  const auto child = start_process(command, user, log);
  if (!child) return refuse(ClusterErrorKind::Failed, "no process could be started: " + system_error_text());
  const auto status = wait_for_exit(*child, deadline);
  if (!status) {
    ::kill(*child, SIGKILL);
    wait_for_exit(*child, Deadline::never());
    return refuse(ClusterErrorKind::Failed, "initdb did not end in time");
  }
  if (*status != 0) return fail(server_error("initdb failed"));
  fs::rename(fresh, data, error);
  if (error)
    return refuse(ClusterErrorKind::FolderUnusable, "the new data folder cannot be renamed: " + error.message());
  return {};
}

// True: a healthy server runs on the folder and is ours now. False: none runs any more.
Result<bool, ClusterError> Cluster::Parts::adopt(Deadline deadline) {
  const auto file = read_server_file(data);
  if (file && is_postgres(file->process) && file->is_ready && serves(sockets, data)) {
    const Deadline trial = Deadline::after(system_clock(), kAdoptionTrial);
    while (!trial.has_passed(system_clock())) pause_briefly();
    if (is_postgres(file->process) && serves(sockets, data)) {
      server = file->process;
      adopted = true;
      return true;
    }
  }
  // A server on its way out, a stuck one, or sessions that outlived theirs and would block the next.
  std::vector<pid_t> remains = processes_in(data);
  if (remains.empty()) return false;
  const bool has_server = file && std::ranges::find(remains, file->process) != remains.end();
  if (has_server && end_processes({file->process}, SIGINT, deadline)) remains = processes_in(data);
  if (!end_processes(remains, SIGQUIT, deadline) && !end_processes(remains, SIGKILL, deadline)) {
    return refuse(ClusterErrorKind::InUse, fmt::format("a server process does not leave {}", data.string()));
  }
  return false;
}

Result<void, ClusterError> Cluster::Parts::launch(Deadline deadline) {
  std::error_code error;
  if (fs::file_size(log, error) > kLogBytesMax && !error) fs::rename(log, fs::path(log) += ".1", error);
  const std::vector<std::string> command{(installation.programs / "postgres").string(),
                                         "-D",
                                         data.string(),
                                         "-k",
                                         sockets.string(),
                                         "-p",
                                         fmt::to_string(kPort),
                                         "-c",
                                         "listen_addresses=",
                                         "-c",
                                         "unix_socket_permissions=0700"};
  const auto child = start_process(command, user, log);
  if (!child) return refuse(ClusterErrorKind::Failed, "no process could be started: " + system_error_text());
  server = *child;
  adopted = false;
  for (;;) {
    const auto file = read_server_file(data);
    if (file && file->process == server && file->is_ready) return {};
    if (wait_for_exit(server, Deadline::after(system_clock(), Milliseconds(0)))) {
      server = 0;
      return fail(server_error("PostgreSQL did not start"));
    }
    if (deadline.has_passed(system_clock())) return fail(server_error("PostgreSQL was not ready in time"));
    pause_briefly();
  }
}

Result<void, ClusterError> Cluster::Parts::create_database() {
  const auto found = ask(sockets, fmt::format("select 1 from pg_database where datname = '{}'", kDatabase));
  if (found && *found == "1") return {};
  if (found && ask(sockets, fmt::format("create database {}", kDatabase))) return {};
  return fail(server_error("the database could not be created"));
}

Result<void, ClusterError> Cluster::Parts::bring_up(Deadline deadline) {
  const auto adopts = adopt(deadline);
  if (!adopts) return fail(adopts.error());
  if (!*adopts) {
    auto launched = launch(deadline);
    if (!launched) return launched;
  }
  return create_database();
}

// With the end of the server's log, where it says why.
ClusterError Cluster::Parts::server_error(std::string_view what) const {
  std::ifstream input(log, std::ios::binary | std::ios::ate);
  std::string words;
  if (input) {
    const auto size = static_cast<std::size_t>(input.tellg());
    const std::size_t start = size > kLastWordsBytesMax ? size - kLastWordsBytesMax : 0;
    input.seekg(static_cast<std::streamoff>(start));
    words.assign(std::istreambuf_iterator<char>(input), {});
  }
  const bool is_full = words.find("No space left on device") != std::string::npos;
  const auto kind = is_full ? ClusterErrorKind::DiskFull : ClusterErrorKind::Failed;
  const std::string_view advice = is_full ? ": the disk is full" : "";
  return ClusterError{kind, fmt::format("{}{}; {} ends in:\n{}", what, advice, log.string(), words)};
}

bool Cluster::Parts::is_running() {
  if (server == 0) return false;
  if (adopted) return is_postgres(server);
  // A child runs until it is reaped: while it is dying its pid still counts for the next server's start.
  if (wait_for_exit(server, Deadline::after(system_clock(), Milliseconds(0)))) server = 0;
  return server != 0;
}

Cluster::Cluster(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Cluster::~Cluster() {
  constexpr Milliseconds kLastResort{10'000};
  if (parts_) std::ignore = stop(Deadline::after(system_clock(), kLastResort));
}

Result<std::unique_ptr<Cluster>, ClusterError> Cluster::start(ClusterOptions options, Deadline deadline) {
  auto parts = std::make_unique<Parts>(fs::weakly_canonical(fs::absolute(options.folder)));
  for (const auto step : {&Parts::prepare_folders, &Parts::take_lock, &Parts::choose_installation}) {
    auto done = (*parts.*step)();
    if (!done) return fail(std::move(done).error());
  }
  std::unique_ptr<Cluster> cluster(new Cluster(std::move(parts)));
  auto initialized = cluster->parts_->initialize(deadline);
  if (!initialized) return fail(std::move(initialized).error());
  auto up = cluster->parts_->bring_up(deadline);
  if (!up) return fail(std::move(up).error());
  cluster->parts_->url = conninfo(cluster->parts_->sockets, kDatabase);
  log::info("the private PostgreSQL runs", {{"folder", cluster->parts_->folder.string()},
                                            {"process", cluster->parts_->server},
                                            {"adopted", cluster->parts_->adopted ? "yes" : "no"}});
  return cluster;
}

std::optional<std::string> Cluster::url_of_running(const ClusterOptions& options) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(fs::absolute(options.folder), error);
  const fs::path sockets = socket_folder_of(folder);
  if (error || !serves(sockets, folder / "data")) return std::nullopt;
  return conninfo(sockets, kDatabase);
}

const std::string& Cluster::database_url() const { return parts_->url; }
std::string Cluster::url_of(std::string_view database) const { return conninfo(parts_->sockets, database); }
int Cluster::server_process() const { return parts_->server; }
bool Cluster::was_adopted() const { return parts_->adopted; }

Result<bool, ClusterError> Cluster::ensure_running(Deadline deadline) {
  if (parts_->is_running()) return false;
  log::warning("the private PostgreSQL is gone and is started again");
  auto up = parts_->bring_up(deadline);
  if (!up) return fail(std::move(up).error());
  log::info("the private PostgreSQL runs again");
  return true;
}

Result<void, ClusterError> Cluster::stop(Deadline deadline) {
  const pid_t server = std::exchange(parts_->server, 0);
  if (server == 0) return {};
  ::kill(server, SIGINT);  // fast shutdown
  const auto wait = [this, server](Deadline until) {
    return parts_->adopted ? end_processes({server}, 0, until) : wait_for_exit(server, until).has_value();
  };
  if (wait(deadline)) return {};
  end_processes(processes_in(parts_->data), SIGKILL, Deadline::never());
  wait(Deadline::never());
  return refuse(ClusterErrorKind::Failed, "PostgreSQL did not stop in time and was killed; the next start recovers");
}

}  // namespace assay::store

#include "tests/crash/fleet.h"

#include <libpq-fe.h>
#include <signal.h>
#include <stdlib.h>

#include <fstream>
#include <stdexcept>

namespace assay::tests {
namespace {

namespace fs = std::filesystem;
using test_database::in_test_time;

// The server and its children.
std::vector<pid_t> family_of(pid_t parent) {
  std::vector<pid_t> family{parent};
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;
    // "pid (command) state parent ...": the command may hold anything.
    const std::size_t end = line.rfind(')');
    if (end != std::string::npos && std::atoi(line.c_str() + end + 4) == parent) family.push_back(std::stoi(name));
  }
  return family;
}

}  // namespace

Postgres::Postgres() {
  std::string pattern = (fs::temp_directory_path() / "assay-crash.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = pattern;
  fs::permissions(folder_, fs::perms(0711));
  auto cluster = store::Cluster::start(store::ClusterOptions{.folder = folder_}, in_test_time());
  if (!cluster) throw std::runtime_error(cluster.error().message);
  cluster_ = std::move(*cluster);
}

Postgres::~Postgres() {
  resume();
  cluster_->stop(in_test_time());
  cluster_.reset();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Postgres::crash(int signal) {
  ::kill(cluster_->server_process(), signal);
  restart();
}

// Until the death has been noticed there is nothing to start.
void Postgres::restart() {
  const Deadline deadline = in_test_time();
  for (;;) {
    const auto restarted = cluster_->ensure_running(deadline);
    if (!restarted) throw std::runtime_error(restarted.error().message);
    if (*restarted) return;
    if (deadline.has_passed(system_clock())) throw std::runtime_error("PostgreSQL does not die");
  }
}

void Postgres::signal_all(int signal) {
  for (const pid_t process : family_of(cluster_->server_process())) ::kill(process, signal);
}

void Postgres::terminate_sessions() {
  PGconn* connection = PQconnectdb(url().c_str());
  PQclear(PQexec(connection, "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()"));
  PQfinish(connection);
}

Fleet::Fleet(const Postgres& postgres, const Simulator& simulator, ChildProcess::Environment settings) {
  options_.database_url = postgres.url();
  options_.provider_url = simulator.url();
  options_.more = std::move(settings);
  urls_.resize(kReplicas);
  servers_.resize(kReplicas);
  for (std::size_t replica = 0; replica < kReplicas; ++replica) restart(replica);
}

std::string Fleet::url(std::size_t replica) const {
  const std::scoped_lock lock(mutex_);
  return urls_[replica];
}

std::string Fleet::log() const {
  std::string text;
  for (const auto& server : servers_) text += "--- a replica\n" + server->process().output();
  return text;
}

void Fleet::restart(std::size_t replica, const std::string& failpoints) {
  servers_[replica].reset();
  ServerOptions options = options_;
  if (!failpoints.empty()) {
    options.program = "assay-failpoints";
    options.more["ASSAY_FAILPOINT"] = failpoints;
  }
  try {
    servers_[replica] = std::make_unique<Server>(options);
  } catch (const std::runtime_error&) {
    // Killed before it was ready: a failpoint does that.
    if (failpoints.empty()) throw;
    servers_[replica] = std::make_unique<Server>(options_);
  }
  const std::scoped_lock lock(mutex_);
  urls_[replica] = servers_[replica]->url();
}

std::size_t Fleet::look_after() {
  std::size_t dead = 0;
  for (std::size_t replica = 0; replica < kReplicas; ++replica) {
    if (servers_[replica]->process().is_running()) continue;
    ++dead;
    restart(replica);
  }
  return dead;
}

}  // namespace assay::tests

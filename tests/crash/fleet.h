#pragma once
// Two replicas on a PostgreSQL of their own, and everything that can be done to them.
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/cluster.h"
#include "tests/harness/deployment.h"

namespace assay::tests {

// A durable cluster that outlives kill -9. Only on the main thread: the server dies with the thread that started it.
class Postgres {
 public:
  Postgres();
  ~Postgres();
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;

  [[nodiscard]] const std::string& url() const { return cluster_->database_url(); }
  void kill() { crash(SIGKILL); }              // of the postmaster alone, as by the OOM killer
  void stop_immediately() { crash(SIGQUIT); }  // without a checkpoint
  void restart();
  void pause() { signal_all(SIGSTOP); }
  void resume() { signal_all(SIGCONT); }
  // Ends every session of the database.
  void terminate_sessions();

 private:
  void crash(int signal);
  void signal_all(int signal);

  std::filesystem::path folder_;
  std::unique_ptr<store::Cluster> cluster_;
};

class Fleet {
 public:
  static constexpr std::size_t kReplicas = 2;
  Fleet(const Postgres& postgres, const Simulator& simulator, ChildProcess::Environment settings);

  // The address of a replica; it may be down. From any thread.
  [[nodiscard]] std::string url(std::size_t replica) const;
  [[nodiscard]] ChildProcess& process(std::size_t replica) { return servers_[replica]->process(); }

  // What the replicas that run now have printed.
  [[nodiscard]] std::string log() const;

  // Ends what runs in the place as kill -9 does, and starts another one. `failpoints` empty: the binary of the product.
  void restart(std::size_t replica, const std::string& failpoints = "");
  // Starts those that have died anew, by the product's binary; how many. Reads on what all of them print.
  std::size_t look_after();

 private:
  ServerOptions options_;
  mutable std::mutex mutex_;
  std::vector<std::string> urls_;
  std::vector<std::unique_ptr<Server>> servers_;
};

}  // namespace assay::tests

#pragma once
// A private PostgreSQL of this process: the system's binaries on a data folder and a unix socket of our own, for
// installations without a database server. The same engine and the same SQL as any other.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace assay::store {

enum class ClusterErrorKind {
  NotInstalled,        // no PostgreSQL of version 15 or newer under /usr/lib/postgresql
  NoUnprivilegedUser,  // started as root, and the system has no `postgres` user to drop to
  FolderUnusable,      // cannot be made, is not the right user's, or a parent is closed to that user
  WrongVersion,        // the data folder belongs to another major version
  InUse,               // another process runs a cluster on this folder
  DiskFull,
  PathTooLong,  // the socket's path would exceed the system's limit
  Failed,       // PostgreSQL itself refused; the message ends in its own last words
};

struct ClusterError {
  ClusterErrorKind kind = ClusterErrorKind::Failed;
  std::string message;  // says what to do about it
};

struct ClusterOptions {
  std::filesystem::path folder;  // everything lives below it; made when absent
};

// Blocking calls. Requires: start() is called on a thread that lives as long as the process (the server gets SIGINT
// when the thread that started it ends), and nobody else reaps this process's children.
class Cluster {
 public:
  // Creates the cluster where there is none, adopts a server that already runs on the folder (left by a process that
  // was killed), else starts one. Returns when the server accepts connections.
  static Result<std::unique_ptr<Cluster>, ClusterError> start(ClusterOptions options, Deadline deadline);
  // The URL of the server that another process runs on this folder; nothing where none answers. For short visits beside
  // a running `assay serve`: it neither starts, adopts nor locks anything.
  static std::optional<std::string> url_of_running(const ClusterOptions& options);
  // Stops the server when stop() was not called.
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // For libpq: the database `assay` of this cluster.
  [[nodiscard]] const std::string& database_url() const;
  // The same for another database of the cluster.
  [[nodiscard]] std::string url_of(std::string_view database) const;
  [[nodiscard]] int server_process() const;
  [[nodiscard]] bool was_adopted() const;

  // Starts the server again where it has died. True: it had. For a supervisor that looks from time to time.
  Result<bool, ClusterError> ensure_running(Deadline deadline);

  // Fast shutdown: sessions are ended, everything committed is on disk. Kills the server once the deadline has passed
  // (the next start then recovers). Twice is harmless.
  Result<void, ClusterError> stop(Deadline deadline);

 private:
  struct Parts;
  explicit Cluster(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace assay::store

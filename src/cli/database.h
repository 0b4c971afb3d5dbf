#pragma once
// The database that a command works on: the one it was told, or the private cluster under the data folder.
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/exit_code.h"
#include "cli/serve_options.h"
#include "net/loop.h"
#include "net/stop.h"
#include "net/task.h"
#include "store/cluster.h"
#include "store/store.h"

namespace assay::cli {

// An exit code with the sentence that explains it.
struct CommandFailure {
  ExitCode exit = kExitInternal;
  std::string message;
};

class Database {
 public:
  enum class Sharing {
    Owner,    // runs the private cluster; refused where another process does
    Visitor,  // uses the cluster that another process runs, else runs it while this object lives
  };

  // Blocking. Requires: called on the main thread (store/cluster.h).
  static Result<Database, CommandFailure> open(const ServeOptions& options, Sharing sharing);

  [[nodiscard]] const std::string& url() const { return url_; }
  // Starts the private cluster again where it has died. Blocks while it does; to be called on the main thread.
  void ensure_running();
  // Stops the private cluster, where this object runs it.
  void close();

 private:
  explicit Database(std::string url, std::unique_ptr<store::Cluster> cluster)
      : url_(std::move(url)), cluster_(std::move(cluster)) {}

  std::string url_;
  std::unique_ptr<store::Cluster> cluster_;
};

// Migrates and opens the store, trying again for a while where the database does not answer yet.
net::Task<Result<std::unique_ptr<store::Store>, CommandFailure>> open_store(net::Loop& loop, std::string url,
                                                                            store::StoreOptions options,
                                                                            net::StopToken stop = net::StopToken());

CommandFailure explain(const store::StoreError& error);

}  // namespace assay::cli

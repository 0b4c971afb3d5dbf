#include "cli/database.h"

#include <fmt/format.h>

#include "base/log.h"
#include "net/timer.h"
#include "store/migrate.h"

namespace assay::cli {
namespace {

constexpr Milliseconds kClusterStartTimeout{120'000};   // crash recovery of a busy cluster takes its time
constexpr Milliseconds kClusterRestartTimeout{20'000};  // the loop stands still meanwhile
constexpr Milliseconds kClusterStopTimeout{30'000};
constexpr Milliseconds kOpenTimeout{60'000};  // migrations of large tables included
constexpr Milliseconds kOpenPatience{20'000};
constexpr Milliseconds kOpenRetryDelay{500};

}  // namespace

Result<Database, CommandFailure> Database::open(const ServeOptions& options, Sharing sharing) {
  if (!options.database_url.empty()) return Database(options.database_url, nullptr);
  const store::ClusterOptions cluster_options{.folder = options.data_dir};
  if (sharing == Sharing::Visitor) {
    if (auto running = store::Cluster::url_of_running(cluster_options)) return Database(std::move(*running), nullptr);
  }
  auto cluster = store::Cluster::start(cluster_options, Deadline::after(system_clock(), kClusterStartTimeout));
  if (!cluster) {
    return fail(CommandFailure{
        kExitDatabaseUnavailable,
        fmt::format("the private PostgreSQL under {} does not start: {}", options.data_dir, cluster.error().message)});
  }
  std::string url = (*cluster)->database_url();
  return Database(std::move(url), std::move(*cluster));
}

void Database::ensure_running() {
  if (!cluster_) return;
  const auto outcome = cluster_->ensure_running(Deadline::after(system_clock(), kClusterRestartTimeout));
  if (!outcome) log::error("private PostgreSQL does not start again", {{"error", outcome.error().message}});
}

void Database::close() {
  if (!cluster_) return;
  if (const auto stopped = cluster_->stop(Deadline::after(system_clock(), kClusterStopTimeout)); !stopped) {
    log::error("private PostgreSQL did not stop cleanly", {{"error", stopped.error().message}});
  }
  cluster_.reset();
}

CommandFailure explain(const store::StoreError& error) {
  switch (error.kind) {
    case store::StoreErrorKind::SchemaNewer:
      return CommandFailure{
          kExitSchemaNewer,
          fmt::format("{}; run a newer assay, or restore a backup from before the upgrade", error.message)};
    case store::StoreErrorKind::Unavailable:
    case store::StoreErrorKind::Timeout:
      return CommandFailure{
          kExitDatabaseUnavailable,
          fmt::format("the database cannot be reached: {}; check ASSAY_DATABASE_URL and that the server "
                      "runs, or leave it unset to use a private PostgreSQL",
                      error.message)};
    default:
      return CommandFailure{kExitDatabaseUnavailable, fmt::format("the database is not usable: {}", error.message)};
  }
}

net::Task<Result<std::unique_ptr<store::Store>, CommandFailure>> open_store(net::Loop& loop, std::string url,
                                                                            store::StoreOptions options,
                                                                            net::StopToken stop) {
  options.database_url = url;
  const Deadline patience = Deadline::after(system_clock(), kOpenPatience);
  for (;;) {
    const Deadline deadline = Deadline::after(system_clock(), kOpenTimeout);
    auto migrated = co_await store::migrate(loop, url, deadline);
    if (migrated) {
      auto opened = co_await store::Store::open(loop, options, deadline);
      if (opened) co_return std::move(*opened);
      migrated = fail(std::move(opened.error()));
    }
    const bool may_pass = migrated.error().kind == store::StoreErrorKind::Unavailable && !stop.stopped();
    if (!may_pass || patience.has_passed(system_clock())) co_return fail(explain(migrated.error()));
    log::warning("database does not answer yet", {{"error", migrated.error().message}});
    co_await net::sleep_for(kOpenRetryDelay, stop);
  }
}

}  // namespace assay::cli

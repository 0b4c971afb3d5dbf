#include "cli/serve.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "api/api.h"
#include "base/log.h"
#include "base/random.h"
#include "cli/database.h"
#include "cli/model_catalogue.h"
#include "cli/turn_metrics.h"
#include "live/episode.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/loop.h"
#include "net/stop.h"
#include "net/timer.h"
#include "providers/client.h"
#include "store/store.h"
#include "worker/worker.h"

namespace assay::cli {
namespace {

constexpr Milliseconds kStoreCloseTimeout{10'000};
constexpr Milliseconds kSupervisionInterval{1'000};  // between two looks at the private cluster

worker::Settings worker_settings(const ServeOptions& options, ReplicaId replica) {
  worker::Settings settings;
  settings.replica = replica;
  settings.lease = options.lease;
  settings.heartbeat = options.heartbeat;
  settings.acquire_interval = options.acquire_interval;
  settings.attempts_max = options.attempts_max;
  settings.attempts_window = options.attempts_window;
  settings.client_tools_timeout = options.client_tools_timeout;
  settings.steps_max = options.steps_max;
  return settings;
}

ExitCode exit_code_of(net::BindErrorKind kind) {
  return kind == net::BindErrorKind::InvalidAddress ? kExitUsage : kExitAddressInUse;
}

// One replica, from its database to its last farewell.
class Replica {
 public:
  Replica(net::Loop& loop, const ServeOptions& options, Database& database)
      : loop_(loop), options_(options), database_(database), http_(loop), models_(http_) {}

  net::Task<> run(std::optional<CommandFailure>& failure) {
    loop_.spawn("wait for a signal", watch_signals());
    auto begun = co_await begin();
    if (begun) {
      while (co_await net::sleep_for(kSupervisionInterval, shutdown_.token())) database_.ensure_running();
    } else if (!shutdown_.stopped()) {
      failure = std::move(begun.error());
    }
    co_await end();
  }

 private:
  // From the very start: a process that is the first of its container gets no default action.
  net::Task<> watch_signals() {
    const int signal = co_await loop_.wait_for_signal();
    log::info("shutting down", {{"signal", signal}});
    shutdown_.stop(net::StopReason::Shutdown);
  }

  net::Task<Result<void, CommandFailure>> begin() {
    const ReplicaId replica = ReplicaId::random(system_random());
    store::StoreOptions store_options;
    store_options.replica = replica;
    store_options.connections_max = options_.database_connections;
    store_options.lease = options_.lease;
    auto opened = co_await open_store(loop_, database_.url(), std::move(store_options), shutdown_.token());
    if (!opened) co_return fail(std::move(opened.error()));
    store_ = std::move(*opened);

    auto routes = co_await resolve_models(options_, models_, shutdown_.token());
    if (!routes) co_return fail(std::move(routes.error()));
    if (routes->empty()) {
      log::warning("no provider is configured: chats cannot be created; set ASSAY_PROVIDER_URL or see --config");
    }
    catalogue_ = std::make_unique<worker::Catalogue>(std::move(*routes));
    auto listening = start_server();
    if (listening) start_worker(replica);
    co_return listening;
  }

  void start_worker(ReplicaId replica) {
    worker_ = std::make_unique<worker::Worker>(worker::Workplace{
        .loop = loop_,
        .chats = store_->chats(),
        .notifications = store_->notifications(),
        .episodes = episodes_,
        .models = models_,
        .catalogue = *catalogue_,
        .clock = system_clock(),
        .random = system_random(),
        .settings = worker_settings(options_, replica),
        .counters = counters_,
    });
    worker_->start();
  }

  Result<void, CommandFailure> start_server() {
    api::Offer offer;
    offer.models = catalogue_->descriptions();
    offer.structured_output = options_.experiments.contains(kStructuredOutputExperiment);
    api_ = std::make_unique<api::Api>(*store_, episodes_, std::move(offer), system_clock(), system_random());
    api_->add_metrics([this](api::MetricsText& text) { write_turn_metrics(counters_, text); });

    net::HttpServerOptions server_options;
    server_options.handler = [this](net::HttpRequest request) { return api_->handle(std::move(request)); };
    server_options.body_bytes_max = &api::Api::body_bytes_max;
    server_options.refusal = &api::Api::refuse;
    server_options.address = options_.address.host;
    server_options.port = options_.address.port;
    auto listening = net::HttpServer::listen(loop_, std::move(server_options));
    if (!listening) {
      return fail(
          CommandFailure{exit_code_of(listening.error().kind),
                         fmt::format("{}; choose another with ASSAY_ADDRESS or --address", listening.error().message)});
    }
    server_ = std::move(*listening);
    log::info("ready", {{"address", fmt::format("{}:{}", options_.address.host, server_->port())}});
    return {};
  }

  // Requests under way get their time first, with the worker at their service; then the chats go to other replicas.
  net::Task<> end() {
    if (server_) co_await server_->stop(Deadline::after(system_clock(), options_.shutdown_grace));
    if (worker_) co_await worker_->stop();
    if (store_) co_await store_->close(Deadline::after(system_clock(), kStoreCloseTimeout));
    log::info("stopped");
  }

  net::Loop& loop_;
  const ServeOptions& options_;
  Database& database_;
  net::StopSource shutdown_;
  net::HttpClient http_;
  providers::ModelClient models_;
  live::Episodes episodes_;
  worker::TurnCounters counters_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<worker::Catalogue> catalogue_;
  std::unique_ptr<worker::Worker> worker_;
  std::unique_ptr<api::Api> api_;
  std::unique_ptr<net::HttpServer> server_;
};

// Every stream holds a descriptor; the soft limit of many systems is 1 024.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) log::warning("the limit of open files stays as it is");
}

ExitCode report(const CommandFailure& failure) {
  std::cerr << "assay: " << failure.message << '\n';
  return failure.exit;
}

}  // namespace

ExitCode serve(const ServeOptions& options) {
  raise_descriptor_limit();
  auto database = Database::open(options, Database::Sharing::Owner);
  if (!database) return report(database.error());
  std::optional<CommandFailure> failure;
  {
    net::Loop loop;
    Replica replica(loop, options, *database);
    loop.run(replica.run(failure));
  }
  database->close();
  return failure ? report(*failure) : kExitOk;
}

}  // namespace assay::cli

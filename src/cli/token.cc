#include "cli/token.h"

#include <fmt/format.h>

#include <iostream>

#include "base/random.h"
#include "cli/database.h"

namespace assay::cli {
namespace {

constexpr Milliseconds kVisitTimeout{30'000};
constexpr std::size_t kVisitConnections = 1;

using Visit = Result<std::string, CommandFailure>;

net::Task<Visit> make_token(store::Store& store, std::string name) {
  const Deadline deadline = Deadline::after(system_clock(), kVisitTimeout);
  auto user = co_await store.people().create_user_if_missing(std::move(name), system_random(), deadline);
  if (!user) co_return fail(explain(user.error()));
  auto token = co_await store.people().create_token(user->id, system_random(), deadline);
  if (!token) co_return fail(explain(token.error()));
  co_return std::move(*token);
}

// Opens the store, which migrates it, and makes a token where a user is named.
net::Task<> visit(net::Loop& loop, std::string url, std::string user, Visit& result) {
  store::StoreOptions options;
  options.replica = ReplicaId::random(system_random());
  options.connections_max = kVisitConnections;
  auto store = co_await open_store(loop, std::move(url), std::move(options));
  if (!store) {
    result = fail(std::move(store.error()));
    co_return;
  }
  if (!user.empty()) result = co_await make_token(**store, std::move(user));
  co_await (*store)->close(Deadline::after(system_clock(), kVisitTimeout));
}

ExitCode visit_database(const ServeOptions& options, const std::string& user, std::ostream* out) {
  auto database = Database::open(options, Database::Sharing::Visitor);
  if (!database) {
    std::cerr << "assay: " << database.error().message << '\n';
    return database.error().exit;
  }
  Visit result;
  {
    net::Loop loop;
    loop.run(visit(loop, database->url(), user, result));
  }
  database->close();
  if (!result) {
    std::cerr << "assay: " << result.error().message << '\n';
    return result.error().exit;
  }
  if (out != nullptr) *out << *result << '\n';
  return kExitOk;
}

}  // namespace

ExitCode create_token(const ServeOptions& options, const std::string& user, std::ostream& out) {
  if (!store::is_valid_username(user)) {
    std::cerr << fmt::format(
        "assay: --user: a name has 1 to {} letters, digits, '-', '_' and '.', beginning with a letter or digit\n",
        store::kUsernameBytesMax);
    return kExitUsage;
  }
  return visit_database(options, user, &out);
}

ExitCode migrate(const ServeOptions& options) { return visit_database(options, "", nullptr); }

}  // namespace assay::cli

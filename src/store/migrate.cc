#include "store/migrate.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "store/connection.h"
#include "store/migrations.h"
#include "store/query.h"
#include "store/statements.h"

namespace assay::store {

namespace {

// Held by the session that migrates; the number means nothing.
const Statement kTakeMigrationLock{"take_migration_lock", "select pg_advisory_lock(4852187520114)"};
constexpr const char* kCreateVersionTable =
    "set client_min_messages = warning;"
    "create table if not exists schema_migrations ("
    "version bigint primary key, name text not null, applied_at timestamptz not null default now())";

net::Task<Result<std::int64_t, StoreError>> read_version(Connection& connection, Deadline deadline) {
  connection.queue(statements::kSchemaVersion);
  auto rows = co_await connection.exchange(Connection::End::Sync, deadline);
  if (!rows) co_return fail(std::move(rows).error().error);
  co_return rows->front().integer(0, 0);
}

std::string script_of(const Migration& migration) {
  return fmt::format("begin;\n{}\n;insert into schema_migrations (version, name) values ({}, '{}');\ncommit;",
                     migration.sql, migration.version, migration.name);
}

StoreError schema_newer(std::int64_t found) {
  return StoreError{StoreErrorKind::SchemaNewer,
                    fmt::format("the database's schema is version {}, this binary knows only {}: start a newer binary",
                                found, schema_version()),
                    ""};
}

}  // namespace

std::int64_t schema_version() { return migrations().back().version; }

net::Task<Result<std::int64_t, StoreError>> migrate(net::Loop& loop, std::string database_url, Deadline deadline) {
  auto connected = co_await Connection::connect(loop, std::move(database_url), deadline);
  if (!connected) co_return fail(std::move(connected).error());
  Connection& connection = **connected;
  connection.queue(kTakeMigrationLock);  // released with the session
  auto locked = co_await connection.exchange(Connection::End::Sync, deadline);
  if (!locked) co_return fail(std::move(locked).error().error);
  auto prepared = co_await connection.run_script(kCreateVersionTable, deadline);
  if (!prepared) co_return fail(std::move(prepared).error());
  const auto found = co_await read_version(connection, deadline);
  if (!found) co_return fail(found.error());
  if (*found > schema_version()) co_return fail(schema_newer(*found));

  std::int64_t applied = 0;
  for (const Migration& migration : migrations()) {
    if (migration.version <= *found) continue;
    auto done = co_await connection.run_script(script_of(migration), deadline);
    if (!done) co_return fail(std::move(done).error());
    log::info("the schema was migrated", {{"version", migration.version}, {"name", migration.name}});
    ++applied;
  }
  co_return applied;
}

net::Task<Result<void, StoreError>> check_schema(Pool& pool, Deadline deadline) {
  constexpr std::string_view kUndefinedTable = "42P01";
  auto rows = co_await query(pool, statements::kSchemaVersion, Params(), deadline);
  if (!rows && rows.error().sqlstate != kUndefinedTable) co_return fail(std::move(rows).error());
  const std::int64_t found = rows ? rows->integer(0, 0) : 0;
  if (found > schema_version()) co_return fail(schema_newer(found));
  if (found < schema_version()) {
    std::string message = fmt::format("the database's schema is version {}, this binary needs {}: run `assay migrate`",
                                      found, schema_version());
    co_return fail(StoreError{StoreErrorKind::Internal, std::move(message), ""});
  }
  co_return Result<void, StoreError>();
}

}  // namespace assay::store

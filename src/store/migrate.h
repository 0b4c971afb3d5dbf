#pragma once
// Brings a database's schema to this binary's version.
#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "net/loop.h"
#include "net/task.h"
#include "store/error.h"

namespace assay::store {

class Pool;

// The version that this binary needs: the number of its last migration.
std::int64_t schema_version();

// Applies the missing migrations in order, each in a transaction of its own, and returns how many there were. Any
// number of replicas may call it at once: one migrates, the others wait for its lock. SchemaNewer where the database
// is ahead of this binary.
net::Task<Result<std::int64_t, StoreError>> migrate(net::Loop& loop, std::string database_url, Deadline deadline);

// Fails with SchemaNewer, or with Internal where migrations are missing.
net::Task<Result<void, StoreError>> check_schema(Pool& pool, Deadline deadline);

}  // namespace assay::store

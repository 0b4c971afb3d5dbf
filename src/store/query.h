#pragma once
// Statements that need no decision between them: one checkout, one round trip. Internal to store/.
#include <utility>
#include <vector>

#include "store/connection.h"
#include "store/pool.h"

namespace assay::store {

class Batch {
 public:
  void add(const Statement& statement, Params params = Params()) { steps_.emplace_back(&statement, std::move(params)); }

 private:
  friend net::Task<Result<std::vector<Rows>, StoreError>> query(Pool& pool, Batch batch, Deadline deadline);
  std::vector<std::pair<const Statement*, Params>> steps_;
};

// One implicit transaction, unless the batch opens one itself. Tried again on a fresh connection where a pooled one
// turned out to be dead.
// Requires: running the batch twice does no harm.
net::Task<Result<std::vector<Rows>, StoreError>> query(Pool& pool, Batch batch, Deadline deadline);
net::Task<Result<Rows, StoreError>> query(Pool& pool, const Statement& statement, Params params, Deadline deadline);

}  // namespace assay::store

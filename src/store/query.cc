#include "store/query.h"

namespace assay::store {

net::Task<Result<std::vector<Rows>, StoreError>> query(Pool& pool, Batch batch, Deadline deadline) {
  for (;;) {
    auto lease = co_await pool.checkout(deadline);
    if (!lease) co_return fail(std::move(lease).error());
    Connection& connection = **lease;
    for (const auto& [statement, params] : batch.steps_) connection.queue(*statement, params);
    auto answers = co_await connection.exchange(Connection::End::Sync, deadline);
    if (answers) co_return std::move(*answers);
    const StoreError error = std::move(answers).error().error;
    const bool was_dead = connection.is_broken() && error.kind == StoreErrorKind::Unavailable;
    if (was_dead && lease->is_reused()) continue;
    if (!connection.is_broken()) co_await connection.rollback(deadline);
    co_return fail(error);
  }
}

net::Task<Result<Rows, StoreError>> query(Pool& pool, const Statement& statement, Params params, Deadline deadline) {
  Batch batch;
  batch.add(statement, std::move(params));
  auto answers = co_await query(pool, std::move(batch), deadline);
  if (!answers) co_return fail(std::move(answers).error());
  co_return std::move(answers->front());
}

}  // namespace assay::store

// Who owns which chat: the part of ChatStore that the worker's acquisition uses.
#include <utility>

#include "store/chat_store.h"
#include "store/failpoint.h"
#include "store/notifications.h"
#include "store/pool.h"
#include "store/query.h"
#include "store/statements.h"

namespace assay::store {

namespace {

std::vector<Ownership> read_ownerships(const Rows& rows) {
  std::vector<Ownership> owned;
  owned.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    owned.push_back(Ownership{ChatId{rows.uuid(row, 0)}, RunnerId{rows.uuid(row, 1)}});
  }
  return owned;
}

}  // namespace

net::Task<Result<std::vector<Ownership>, StoreError>> ChatStore::acquire(ReplicaId replica, std::int64_t limit,
                                                                         Milliseconds lease, Deadline deadline) {
  Params params;
  params.uuid(replica).integer(limit).integer(lease.count());
  failpoint("before", "acquire");
  auto rows = co_await query(pool_, statements::kAcquire, std::move(params), deadline);
  if (!rows) co_return fail(std::move(rows).error());
  std::vector<Ownership> acquired = read_ownerships(*rows);
  if (!acquired.empty()) failpoint("after", "acquire");
  for (std::size_t row = 0; row < acquired.size(); ++row) {
    notifications_.publish(ChatHint{acquired[row].chat, rows->integer(row, 2), false});
  }
  co_return std::move(acquired);
}

net::Task<Result<std::vector<Ownership>, StoreError>> ChatStore::heartbeat(ReplicaId replica,
                                                                           std::vector<Ownership> owned,
                                                                           Deadline deadline) {
  if (owned.empty()) co_return std::move(owned);
  std::vector<Uuid> chats;
  std::vector<Uuid> runners;
  for (const Ownership& one : owned) {
    chats.push_back(one.chat.value);
    runners.push_back(one.runner.value);
  }
  Params params;
  params.uuid(replica).uuids(chats).uuids(runners);
  failpoint("before", "heartbeat");
  auto rows = co_await query(pool_, statements::kHeartbeat, std::move(params), deadline);
  if (!rows) co_return fail(std::move(rows).error());
  failpoint("after", "heartbeat");
  co_return read_ownerships(*rows);
}

net::Task<Result<bool, StoreError>> ChatStore::release(Ownership owned, Deadline deadline) {
  Params params;
  params.uuid(owned.chat).uuid(owned.runner);
  failpoint("before", "release");
  auto rows = co_await query(pool_, statements::kRelease, std::move(params), deadline);
  if (!rows) co_return fail(std::move(rows).error());
  failpoint("after", "release");
  if (rows->size() == 0) co_return false;
  notifications_.publish(ChatHint{owned.chat, rows->integer(0, 0), rows->boolean(0, 1)});
  co_return true;
}

}  // namespace assay::store

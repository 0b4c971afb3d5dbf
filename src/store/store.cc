#include "store/store.h"

#include <utility>

#include "store/migrate.h"
#include "store/pool.h"
#include "store/query.h"
#include "store/statements.h"

namespace assay::store {

struct Store::Parts {
  Parts(net::Loop& loop, const StoreOptions& options)
      : pool(loop, options.database_url, options.connections_max),
        notifications(loop, NotificationsOptions{options.database_url, options.replica, options.lease}),
        chats(pool, notifications),
        people(pool) {}

  Pool pool;
  Notifications notifications;
  ChatStore chats;
  People people;
};

Store::Store(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Store::~Store() = default;

net::Task<Result<std::unique_ptr<Store>, StoreError>> Store::open(net::Loop& loop, StoreOptions options,
                                                                  Deadline deadline) {
  std::unique_ptr<Store> store(new Store(std::make_unique<Parts>(loop, options)));
  auto checked = co_await check_schema(store->parts_->pool, deadline);
  auto started = Result<void, StoreError>();
  if (checked) started = co_await store->parts_->notifications.start(deadline);
  if (checked && started) co_return std::move(store);
  co_await store->close(deadline);
  co_return fail(checked ? std::move(started).error() : std::move(checked).error());
}

ChatStore& Store::chats() { return parts_->chats; }
People& Store::people() { return parts_->people; }
Notifications& Store::notifications() { return parts_->notifications; }
Pool& Store::pool() { return parts_->pool; }

net::Task<Result<void, StoreError>> Store::ping(Deadline deadline) {
  auto answer = co_await query(parts_->pool, statements::kPing, Params(), deadline);
  if (!answer) co_return fail(std::move(answer).error());
  co_return Result<void, StoreError>();
}

net::Task<> Store::close(Deadline deadline) {
  co_await parts_->pool.close(deadline);
  co_await parts_->notifications.stop(deadline);
}

}  // namespace assay::store

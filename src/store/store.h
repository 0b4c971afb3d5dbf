#pragma once
// The whole store of one replica: pool, notifications and the stores on top of them, opened and closed together.
#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "base/uuid.h"
#include "net/loop.h"
#include "net/task.h"
#include "store/chat_store.h"
#include "store/error.h"
#include "store/notifications.h"
#include "store/people.h"

namespace assay::store {

struct StoreOptions {
  std::string database_url;          // URL or conninfo string as libpq reads them
  ReplicaId replica;                 // new for every process
  std::size_t connections_max = 16;  // of the pool; the listener's comes on top
  Milliseconds lease{20'000};
};

// Loop thread only. Lifetime: the loop outlives it.
class Store {
 public:
  // Connects and checks that the schema is this binary's (store/migrate.h brings it there).
  static net::Task<Result<std::unique_ptr<Store>, StoreError>> open(net::Loop& loop, StoreOptions options,
                                                                    Deadline deadline);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  [[nodiscard]] ChatStore& chats();
  [[nodiscard]] People& people();
  [[nodiscard]] Notifications& notifications();
  [[nodiscard]] Pool& pool();

  // Whether the database answers; for readiness probes.
  net::Task<Result<void, StoreError>> ping(Deadline deadline);

  // Refuses new work, waits for the calls under way while the deadline allows, then closes every connection.
  // Requires: returned before destruction. Twice is harmless.
  net::Task<> close(Deadline deadline);

 private:
  struct Parts;
  explicit Store(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace assay::store

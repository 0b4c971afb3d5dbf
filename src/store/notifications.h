#pragma once
// Wake-ups after commits. Local subscribers are woken at once; other replicas by NOTIFY, coalesced and sent after the
// commit on a connection of its own (a NOTIFY inside the writing transaction would serialise all commits). Best effort:
// hints get lost, repeated and reordered, so a receiver reads the database to learn anything, and polls as well.
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/uuid.h"
#include "net/event.h"
#include "net/loop.h"
#include "net/task.h"
#include "net/task_group.h"
#include "store/error.h"

namespace assay::store {

struct ChatHint {
  ChatId chat;
  std::int64_t snapshot_version = 0;
  bool needs_owner = false;  // the chat has work and no owner
};

namespace detail {
struct Subscriber;
struct SubscriberTable;
}  // namespace detail

// One waiter for news of one chat; ends with the object. May outlive the Notifications, it is then never woken.
class Subscription {
 public:
  Subscription() = default;
  Subscription(Subscription&&) noexcept;
  Subscription& operator=(Subscription&&) noexcept;
  ~Subscription();

  // Set when the chat may have changed. Loop of the owner: wait, clear, read the database, repeat.
  // Requires: made by Notifications::subscribe.
  [[nodiscard]] net::Event& changed();
  // The newest snapshot heard of; 0: none. Only a hint: what is not beyond the cursor needs no read.
  [[nodiscard]] std::int64_t snapshot_hint() const;

 private:
  friend class Notifications;
  std::shared_ptr<detail::SubscriberTable> table_;
  std::unique_ptr<detail::Subscriber> subscriber_;
};

struct NotificationsOptions {
  std::string database_url;
  ReplicaId replica;
  Milliseconds lease{20'000};           // the replica lock is given up by the server after this much silence
  Milliseconds coalescing_interval{5};  // NOTIFYs of one replica are at least this far apart
};

// The replica's direct connection: LISTEN, NOTIFY and the session advisory lock that says that this replica lives.
// Loop thread only. It reconnects by itself; after a gap every subscriber is woken, since hints may have been lost.
class Notifications {
 public:
  Notifications(net::Loop& loop, NotificationsOptions options);
  ~Notifications();
  Notifications(const Notifications&) = delete;
  Notifications& operator=(const Notifications&) = delete;

  // Connects, takes the replica lock and listens; later failures are repaired in the background.
  net::Task<Result<void, StoreError>> start(Deadline deadline);
  // Sends what is pending while the deadline allows, closes and joins. Twice or early is harmless.
  // Requires: returned before destruction, when start() was called.
  net::Task<> stop(Deadline deadline);

  [[nodiscard]] Subscription subscribe(ChatId chat);
  // Set when some chat may have work and no owner. For one consumer.
  [[nodiscard]] net::Event& ownership();

  // Wakes local subscribers now and tells the other replicas soon.
  void publish(const ChatHint& hint);

  // Whether the replica lock is held as far as this process knows.
  [[nodiscard]] bool holds_replica_lock() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace assay::store

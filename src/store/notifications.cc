#include "store/notifications.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "net/timer.h"
#include "store/connection.h"
#include "store/hints.h"
#include "store/statements.h"

namespace assay::store {

namespace {

constexpr Milliseconds kReconnectPauseMin{50};
constexpr Milliseconds kReconnectPauseMax{2'000};
constexpr Milliseconds kConnectTimeout{5'000};
constexpr Milliseconds kReplicaLockRetry{100};
// Of the listener's own small statements: a session that takes longer is as good as gone.
constexpr Milliseconds kStatementTimeout{5'000};
// Chats that changed while nothing could be sent. Beyond it hints are dropped; everybody polls as well.
constexpr std::size_t kPendingHintsMax = 10'000;

Deadline soon(Milliseconds wait) { return Deadline::after(system_clock(), wait); }

}  // namespace

namespace detail {

struct Subscriber {
  ChatId chat;
  net::Event changed;
  std::int64_t snapshot_hint = 0;
};

struct SubscriberTable {
  std::unordered_map<ChatId, std::vector<Subscriber*>> by_chat;

  void remove(Subscriber* subscriber) {
    const auto found = by_chat.find(subscriber->chat);
    if (found == by_chat.end()) return;
    std::erase(found->second, subscriber);
    if (found->second.empty()) by_chat.erase(found);
  }
  void wake(const ChatHint& hint) {
    const auto found = by_chat.find(hint.chat);
    if (found == by_chat.end()) return;
    for (Subscriber* subscriber : found->second) {
      subscriber->snapshot_hint = std::max(subscriber->snapshot_hint, hint.snapshot_version);
      subscriber->changed.set();
    }
  }
  void wake_all() {
    for (const auto& [chat, subscribers] : by_chat) {
      for (Subscriber* subscriber : subscribers) subscriber->changed.set();
    }
  }
};

}  // namespace detail

Subscription::Subscription(Subscription&&) noexcept = default;

Subscription& Subscription::operator=(Subscription&& other) noexcept {
  if (this == &other) return *this;
  if (subscriber_) table_->remove(subscriber_.get());
  table_ = std::move(other.table_);
  subscriber_ = std::move(other.subscriber_);
  return *this;
}

Subscription::~Subscription() {
  if (subscriber_) table_->remove(subscriber_.get());
}

net::Event& Subscription::changed() { return subscriber_->changed; }
std::int64_t Subscription::snapshot_hint() const { return subscriber_->snapshot_hint; }

struct Notifications::Parts {
  Parts(net::Loop& event_loop, NotificationsOptions chosen)
      : loop(event_loop), options(std::move(chosen)), tasks(event_loop) {}

  net::Task<Result<void, StoreError>> connect(Deadline deadline);
  net::Task<> run(net::StopToken stop);
  net::Task<> reconnect(net::StopToken stop);
  net::Task<> serve(net::StopToken stop);
  net::Task<bool> send_pending(Deadline deadline);
  net::Task<bool> try_replica_lock();
  net::Task<bool> ping();
  void deliver();
  void hold_back(const ChatHint& hint);

  net::Loop& loop;
  const NotificationsOptions options;
  net::TaskGroup tasks;
  std::shared_ptr<detail::SubscriberTable> table = std::make_shared<detail::SubscriberTable>();
  net::Event ownership;
  std::unordered_map<ChatId, ChatHint> pending;
  std::unique_ptr<Connection> connection;
  bool holds_lock = false;
};

Notifications::Notifications(net::Loop& loop, NotificationsOptions options)
    : parts_(std::make_unique<Parts>(loop, std::move(options))) {}

Notifications::~Notifications() = default;

net::Task<Result<void, StoreError>> Notifications::start(Deadline deadline) {
  auto connected = co_await parts_->connect(deadline);
  if (!connected) co_return connected;
  parts_->tasks.spawn("notifications", parts_->run(parts_->tasks.token()));
  co_return connected;
}

net::Task<> Notifications::stop(Deadline deadline) {
  Parts& parts = *parts_;
  parts.tasks.stop(net::StopReason::Shutdown);
  co_await parts.tasks.join();
  if (parts.connection) co_await parts.send_pending(deadline);
  parts.connection.reset();
  parts.holds_lock = false;
}

Subscription Notifications::subscribe(ChatId chat) {
  Subscription subscription;
  subscription.table_ = parts_->table;
  subscription.subscriber_ = std::make_unique<detail::Subscriber>();
  subscription.subscriber_->chat = chat;
  parts_->table->by_chat[chat].push_back(subscription.subscriber_.get());
  return subscription;
}

net::Event& Notifications::ownership() { return parts_->ownership; }

void Notifications::publish(const ChatHint& hint) {
  parts_->table->wake(hint);
  if (hint.needs_owner) parts_->ownership.set();
  const bool was_empty = parts_->pending.empty();
  parts_->hold_back(hint);
  if (was_empty && parts_->connection) parts_->connection->wake();
}

bool Notifications::holds_replica_lock() const { return parts_->holds_lock; }

void Notifications::Parts::hold_back(const ChatHint& hint) {
  if (pending.size() >= kPendingHintsMax && !pending.contains(hint.chat)) return;
  ChatHint& kept = pending.try_emplace(hint.chat, hint).first->second;
  kept.snapshot_version = std::max(kept.snapshot_version, hint.snapshot_version);
  kept.needs_owner = kept.needs_owner || hint.needs_owner;
}

// A session that listens. The lock is tried once here, and again while serving.
net::Task<Result<void, StoreError>> Notifications::Parts::connect(Deadline deadline) {
  auto connected = co_await Connection::connect(loop, options.database_url, deadline);
  if (!connected) co_return fail(std::move(connected).error());
  connection = std::move(*connected);
  Params lease;
  lease.text(fmt::format("{}ms", options.lease.count()));
  Params replica;
  replica.uuid(options.replica);
  connection->queue(statements::kConfigureListener, std::move(lease));
  connection->queue(statements::kListen);
  connection->queue(statements::kTakeReplicaLock, std::move(replica));
  auto answers = co_await connection->exchange(Connection::End::Sync, deadline);
  if (!answers) {
    connection.reset();
    co_return fail(std::move(answers).error().error);
  }
  holds_lock = (*answers)[2].boolean(0, 0);
  co_return Result<void, StoreError>();
}

net::Task<> Notifications::Parts::run(net::StopToken stop) {
  while (!stop.stopped()) {
    if (!connection) co_await reconnect(stop);
    if (connection) co_await serve(stop);
    if (stop.stopped()) break;
    log::warning("the listening connection to the database was lost");
    connection.reset();
    holds_lock = false;
  }
}

net::Task<> Notifications::Parts::reconnect(net::StopToken stop) {
  Milliseconds pause = kReconnectPauseMin;
  while (!connection && !stop.stopped()) {
    const Deadline deadline = soon(kConnectTimeout);
    auto connected = co_await connect(deadline);
    if (connected) break;
    log::warning("the database cannot be listened to", {{"why", connected.error().message}});
    co_await net::sleep_for(pause, stop);
    pause = std::min(pause * 2, kReconnectPauseMax);
  }
  // Hints may have been missed.
  table->wake_all();
  ownership.set();
}

// Returns when the connection is broken or the service stops.
net::Task<> Notifications::Parts::serve(net::StopToken stop) {
  const net::StopCallback on_stop(stop, [this] { connection->wake(); });
  const Milliseconds ping_interval = options.lease / 3;
  Deadline next_send = soon(Milliseconds(0));
  Deadline next_ping = soon(ping_interval);
  Deadline next_lock = soon(kReplicaLockRetry);
  const Clock& clock = system_clock();
  bool alive = true;
  while (alive && !stop.stopped()) {
    deliver();
    Deadline wake_at = next_ping;
    if (!pending.empty()) wake_at = wake_at.earlier_of(next_send);
    if (!holds_lock) wake_at = wake_at.earlier_of(next_lock);
    if (!wake_at.has_passed(clock)) {
      alive = co_await connection->wait_for_news(wake_at);
      continue;
    }
    if (!pending.empty() && next_send.has_passed(clock)) {
      const Deadline deadline = soon(kStatementTimeout);
      alive = co_await send_pending(deadline);
      next_send = soon(options.coalescing_interval);
    } else if (!holds_lock && next_lock.has_passed(clock)) {
      alive = co_await try_replica_lock();
      next_lock = soon(kReplicaLockRetry);
    } else {
      alive = co_await ping();
    }
    next_ping = soon(ping_interval);
  }
}

// Puts back what could not be sent.
net::Task<bool> Notifications::Parts::send_pending(Deadline deadline) {
  std::vector<ChatHint> hints;
  for (const auto& [chat, hint] : std::exchange(pending, {})) hints.push_back(hint);
  for (const std::string& payload : payloads_of(hints)) {
    Params params;
    params.text(payload);
    connection->queue(statements::kNotify, std::move(params));
  }
  if (hints.empty()) co_return true;
  auto sent = co_await connection->exchange(Connection::End::Sync, deadline);
  if (sent) co_return true;
  for (const ChatHint& hint : hints) hold_back(hint);
  co_return false;
}

net::Task<bool> Notifications::Parts::try_replica_lock() {
  Params replica;
  replica.uuid(options.replica);
  connection->queue(statements::kTakeReplicaLock, std::move(replica));
  const Deadline deadline = soon(kStatementTimeout);
  auto answers = co_await connection->exchange(Connection::End::Sync, deadline);
  if (answers) holds_lock = answers->front().boolean(0, 0);
  co_return answers.has_value();
}

// Tells the server that this replica lives, and notices when the server does not.
net::Task<bool> Notifications::Parts::ping() {
  connection->queue(statements::kPing);
  const Deadline deadline = soon(kStatementTimeout);
  auto answers = co_await connection->exchange(Connection::End::Sync, deadline);
  co_return answers.has_value();
}

void Notifications::Parts::deliver() {
  for (const Notification& notification : connection->take_notifications()) {
    if (notification.process == connection->server_process()) continue;  // our own: delivered when published
    for (const ChatHint& hint : hints_in(notification.payload)) {
      table->wake(hint);
      if (hint.needs_owner) ownership.set();
    }
  }
}

}  // namespace assay::store

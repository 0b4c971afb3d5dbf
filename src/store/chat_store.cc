#include "store/chat_store.h"

#include <fmt/format.h>

#include <utility>

#include "chat/state.h"
#include "store/door.h"
#include "store/failpoint.h"
#include "store/notifications.h"
#include "store/pool.h"
#include "store/rows.h"
#include "store/statements.h"

namespace assay::store {

namespace {

constexpr std::string_view kCommitPoint = "commit";

ChatHint hint_of(const chat::Chat& chat) {
  const bool has_work = chat::is_runnable(chat::state_of(chat));
  return ChatHint{chat.id, chat.snapshot_version, has_work && !chat.worker_id};
}

// The second exchange held COMMIT.
StoreError commit_error(ExchangeError error) {
  if (!error.definite) error.error.kind = StoreErrorKind::InDoubt;
  return std::move(error.error);
}

// A pooled connection that had died unnoticed: nothing was written yet, a fresh one may do.
bool is_dead(const Lease& lease, const ExchangeError& error) {
  return lease.is_reused() && lease->is_broken() && error.error.kind == StoreErrorKind::Unavailable;
}

Params insert_params(const chat::Chat& chat) {
  Params params;
  params.uuid(chat.id).uuid(chat.organization_id).uuid(chat.owner_id);
  params.uuid(chat.parent_chat_id).uuid(chat.root_chat_id).text(chat.title).text(chat.mode).text(chat.plan_mode);
  params.text(chat.client_type).json(labels_json(chat.labels)).text(chat.dynamic_tools);
  params.uuid(chat.last_model_config).text(chat.reasoning_effort).text(name_of(chat.status));
  return params;
}

// What a transition sees, or why it is not reached.
struct Opened {
  chat::LockedChat locked;
  std::int64_t last_queued_id = 0;
};

// First round trip: lock, advance, read. Nothing is written when it fails.
net::Task<Result<std::vector<Rows>, ExchangeError>> lock_and_read(Connection& connection, ChatId chat,
                                                                  const chat::ReadPlan& plan, Deadline deadline) {
  connection.queue(statements::kBegin);
  connection.queue(statements::kLockChat, Params().uuid(chat));
  queue_reads(connection, chat, plan);
  co_return co_await connection.exchange(Connection::End::Flush, deadline);
}

Result<Opened, TransitError> read_opened(const std::vector<Rows>& answers, const chat::ReadPlan& plan) {
  const Rows& row = answers[1];
  if (row.size() == 0) return fail(TransitError(chat::Refusal{chat::RefusalKind::NotFound, "no such chat"}));
  Opened opened;
  auto chat = read_chat(row, 0);
  if (!chat) return fail(TransitError(std::move(chat).error()));
  opened.locked.chat = std::move(*chat);
  opened.last_queued_id = row.integer(0, kLastQueuedMessageColumn);
  opened.locked.now = row.instant(0, kNowColumn);
  auto read = read_plan(answers, 2, plan, opened.locked);
  if (!read) return fail(TransitError(std::move(read).error()));
  return opened;
}

// Second round trip.
net::Task<Result<Committed, TransitError>> write_and_commit(Connection& connection, chat::Effects effects,
                                                            const Opened& opened, Deadline deadline) {
  const WritePlan plan = queue_effects(connection, effects, opened.locked.chat, opened.last_queued_id);
  failpoint("before", kCommitPoint);
  auto answers = co_await connection.exchange(Connection::End::Sync, deadline, kCommitPoint);
  if (failpoint("answered", kCommitPoint)) {
    answers = fail(ExchangeError{StoreError{StoreErrorKind::Unavailable, "the answer was lost", ""}, false});
  }
  if (!answers) {
    StoreError error = commit_error(std::move(answers).error());
    if (!connection.is_broken()) co_await connection.rollback(deadline);
    co_return fail(TransitError(std::move(error)));
  }
  auto committed = read_committed(*answers, plan, std::move(effects), opened.locked.chat.id);
  if (!committed) co_return fail(TransitError(std::move(committed).error()));
  co_return std::move(*committed);
}

}  // namespace

ChatStore::ChatStore(Pool& pool, Notifications& notifications) : pool_(pool), notifications_(notifications) {}

net::Task<Result<Committed, TransitError>> ChatStore::transit(ChatId chat, chat::ReadPlan plan, Decide decide,
                                                              Deadline deadline) {
  for (;;) {
    auto lease = co_await pool_.checkout(deadline);
    if (!lease) co_return fail(TransitError(std::move(lease).error()));
    Connection& connection = **lease;
    auto answers = co_await lock_and_read(connection, chat, plan, deadline);
    if (!answers) {
      const ExchangeError error = std::move(answers).error();
      if (is_dead(*lease, error)) continue;
      if (!connection.is_broken()) co_await connection.rollback(deadline);
      co_return fail(TransitError(error.error));
    }
    const auto opened = read_opened(*answers, plan);
    chat::Decision decision = fail(chat::Refusal());
    if (opened) decision = decide(opened->locked);
    if (!opened || !decision) {
      co_await connection.rollback(deadline);
      if (!opened) co_return fail(opened.error());
      co_return fail(TransitError(std::move(decision).error()));
    }
    auto committed = co_await write_and_commit(connection, std::move(*decision), *opened, deadline);
    if (committed) notifications_.publish(hint_of(committed->chat));
    // Where nobody knows whether it was committed, everybody looks.
    else
      notifications_.publish(ChatHint{chat, opened->locked.chat.snapshot_version, false});
    co_return committed;
  }
}

net::Task<Result<Committed, TransitError>> ChatStore::create(chat::NewChat chat, Deadline deadline) {
  const ChatId id = chat.chat.id;
  for (;;) {
    auto lease = co_await pool_.checkout(deadline);
    if (!lease) co_return fail(TransitError(std::move(lease).error()));
    Connection& connection = **lease;
    connection.queue(statements::kBegin);
    connection.queue(statements::kInsertChat, insert_params(chat.chat));
    auto answers = co_await connection.exchange(Connection::End::Flush, deadline);
    if (!answers) {
      const ExchangeError error = std::move(answers).error();
      if (is_dead(*lease, error)) continue;
      if (!connection.is_broken()) co_await connection.rollback(deadline);
      co_return fail(TransitError(error.error));
    }
    if ((*answers)[1].size() == 0) {
      co_await connection.rollback(deadline);
      std::string message = fmt::format("chat {} exists already", id.to_string());
      co_return fail(TransitError(chat::Refusal{chat::RefusalKind::Conflict, std::move(message)}));
    }
    Opened opened;
    opened.locked.chat.id = id;
    chat::Effects effects;
    effects.insert = std::move(chat.messages);
    auto committed = co_await write_and_commit(connection, std::move(effects), opened, deadline);
    if (committed) notifications_.publish(hint_of(committed->chat));
    co_return committed;
  }
}

}  // namespace assay::store

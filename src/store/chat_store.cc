#include "store/chat_store.h"

#include <fmt/format.h>

#include <utility>

#include "chat/state.h"
#include "store/door.h"
#include "store/failpoint.h"
#include "store/notifications.h"
#include "store/pool.h"
#include "store/query.h"
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

Params submission_params(ChatId chat, const Submission& submission) {
  Params params;
  params.uuid(chat).uuid(submission.user).text(submission.route).text(submission.key);
  return params;
}

std::optional<KeptAnswer> read_answer(const Rows& rows) {
  if (rows.size() == 0) return std::nullopt;
  return KeptAnswer{.digest = std::string(rows.text(0, 0)),
                    .status = static_cast<int>(rows.integer(0, 1)),
                    .body = std::string(rows.text(0, 2))};
}

// What became of a transition: committed now, or an answer that was kept, or both.
struct Outcome {
  std::optional<Committed> committed;
  std::optional<KeptAnswer> answer;
};

net::Task<StoreError> undo(Connection& connection, StoreError error, Deadline deadline) {
  if (!connection.is_broken()) co_await connection.rollback(deadline);
  co_return error;
}

// First round trip: lock, advance, read. Nothing is written when it fails.
net::Task<Result<std::vector<Rows>, ExchangeError>> lock_and_read(Connection& connection, ChatId chat,
                                                                  const chat::ReadPlan& plan, const Once* once,
                                                                  Deadline deadline) {
  connection.queue(statements::kBegin);
  connection.queue(statements::kLockChat, Params().uuid(chat));
  queue_reads(connection, chat, plan);
  // Whoever held the row before has committed now: an answer that it kept is seen here.
  if (once != nullptr) connection.queue(statements::kFindSubmission, submission_params(chat, once->submission));
  co_return co_await connection.exchange(Connection::End::Flush, deadline);
}

Result<Opened, TransitError> read_opened(const std::vector<Rows>& answers, const chat::ReadPlan& plan) {
  const Rows& row = answers[1];
  if (row.size() == 0) return fail(TransitError(chat::Refusal{chat::RefusalKind::NotFound, "There is no such chat."}));
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

// The exchange that ends with COMMIT; tests stop a replica at its edges.
net::Task<Result<std::vector<Rows>, ExchangeError>> commit(Connection& connection, Deadline deadline) {
  connection.queue(statements::kCommit);
  failpoint("before", kCommitPoint);
  auto answers = co_await connection.exchange(Connection::End::Sync, deadline, kCommitPoint);
  if (failpoint("answered", kCommitPoint)) {
    answers = fail(ExchangeError{StoreError{StoreErrorKind::Unavailable, "the answer was lost", ""}, false});
  }
  co_return answers;
}

// The last round trip of what is to be kept with its answer: the answer is put from what was written.
net::Task<Result<Outcome, TransitError>> keep_and_commit(Connection& connection, Committed committed, const Once& once,
                                                         Deadline deadline) {
  KeptAnswer answer;
  answer.digest = once.submission.digest;
  answer.status = once.status;
  answer.body = once.render(committed);
  Params params = submission_params(committed.chat.id, once.submission);
  params.text(answer.digest).integer(answer.status).text(answer.body);
  connection.queue(statements::kInsertSubmission, std::move(params));
  auto kept = co_await commit(connection, deadline);
  if (!kept) {
    StoreError error = co_await undo(connection, commit_error(std::move(kept).error()), deadline);
    co_return fail(TransitError(std::move(error)));
  }
  co_return Outcome{std::move(committed), std::move(answer)};
}

// Second round trip.
net::Task<Result<Outcome, TransitError>> write_and_commit(Connection& connection, chat::Effects effects,
                                                          const Opened& opened, const Once* once, Deadline deadline) {
  const WritePlan plan = queue_effects(connection, effects, opened.locked.chat, opened.last_queued_id);
  auto exchange =
      once == nullptr ? commit(connection, deadline) : connection.exchange(Connection::End::Flush, deadline);
  auto answers = co_await std::move(exchange);
  if (!answers) {
    ExchangeError failure = std::move(answers).error();
    StoreError error = std::move(failure.error);
    if (once == nullptr) error = commit_error(ExchangeError{std::move(error), failure.definite});
    error = co_await undo(connection, std::move(error), deadline);
    co_return fail(TransitError(std::move(error)));
  }
  auto committed = read_committed(*answers, plan, std::move(effects), opened.locked.chat.id);
  if (!committed) {
    if (once != nullptr) co_await connection.rollback(deadline);
    co_return fail(TransitError(std::move(committed).error()));
  }
  if (once != nullptr) co_return co_await keep_and_commit(connection, std::move(*committed), *once, deadline);
  Outcome outcome;
  outcome.committed = std::move(*committed);
  co_return outcome;
}

// `once` null: an ordinary transition.
net::Task<Result<Outcome, TransitError>> run_transition(Pool& pool, Notifications& notifications, ChatId chat,
                                                        chat::ReadPlan plan, Decide decide, const Once* once,
                                                        Deadline deadline) {
  for (;;) {
    auto lease = co_await pool.checkout(deadline);
    if (!lease) co_return fail(TransitError(std::move(lease).error()));
    Connection& connection = **lease;
    auto answers = co_await lock_and_read(connection, chat, plan, once, deadline);
    if (!answers) {
      const ExchangeError error = std::move(answers).error();
      if (is_dead(*lease, error)) continue;
      if (!connection.is_broken()) co_await connection.rollback(deadline);
      co_return fail(TransitError(error.error));
    }
    const auto opened = read_opened(*answers, plan);
    Outcome earlier;
    if (opened && once != nullptr) earlier.answer = read_answer(answers->back());
    if (earlier.answer) {
      co_await connection.rollback(deadline);
      co_return earlier;
    }
    chat::Decision decision = fail(chat::Refusal());
    if (opened) decision = decide(opened->locked);
    if (!opened || !decision) {
      co_await connection.rollback(deadline);
      if (!opened) co_return fail(opened.error());
      co_return fail(TransitError(std::move(decision).error()));
    }
    auto outcome = co_await write_and_commit(connection, std::move(*decision), *opened, once, deadline);
    if (outcome) notifications.publish(hint_of(outcome->committed->chat));
    // Where nobody knows whether it was committed, everybody looks.
    else
      notifications.publish(ChatHint{chat, opened->locked.chat.snapshot_version, false});
    co_return outcome;
  }
}

net::Task<Result<Outcome, TransitError>> run_creation(Pool& pool, Notifications& notifications, chat::NewChat chat,
                                                      const Once* once, Deadline deadline) {
  const ChatId id = chat.chat.id;
  for (;;) {
    auto lease = co_await pool.checkout(deadline);
    if (!lease) co_return fail(TransitError(std::move(lease).error()));
    Connection& connection = **lease;
    connection.queue(statements::kBegin);
    connection.queue(statements::kInsertChat, insert_params(chat.chat));
    // Where the id exists, its transaction has ended by now: an answer that it kept is seen here.
    if (once != nullptr) connection.queue(statements::kFindSubmission, submission_params(id, once->submission));
    auto answers = co_await connection.exchange(Connection::End::Flush, deadline);
    if (!answers) {
      const ExchangeError error = std::move(answers).error();
      if (is_dead(*lease, error)) continue;
      if (!connection.is_broken()) co_await connection.rollback(deadline);
      co_return fail(TransitError(error.error));
    }
    if ((*answers)[1].size() == 0) {
      Outcome earlier;
      if (once != nullptr) earlier.answer = read_answer(answers->back());
      co_await connection.rollback(deadline);
      if (earlier.answer) co_return earlier;
      std::string message = fmt::format("chat {} exists already", id.to_string());
      co_return fail(TransitError(chat::Refusal{chat::RefusalKind::Conflict, std::move(message)}));
    }
    Opened opened;
    opened.locked.chat.id = id;
    chat::Effects effects;
    effects.insert = std::move(chat.messages);
    effects.mark_read = true;
    auto outcome = co_await write_and_commit(connection, std::move(effects), opened, once, deadline);
    if (outcome) notifications.publish(hint_of(outcome->committed->chat));
    co_return outcome;
  }
}

Result<Committed, TransitError> committed_in(Result<Outcome, TransitError> outcome) {
  if (!outcome) return fail(std::move(outcome.error()));
  return std::move(*outcome->committed);
}

Result<KeptAnswer, TransitError> answer_in(Result<Outcome, TransitError> outcome) {
  if (!outcome) return fail(std::move(outcome.error()));
  return std::move(*outcome->answer);
}

}  // namespace

ChatStore::ChatStore(Pool& pool, Notifications& notifications) : pool_(pool), notifications_(notifications) {}

net::Task<Result<Committed, TransitError>> ChatStore::transit(ChatId chat, chat::ReadPlan plan, Decide decide,
                                                              Deadline deadline) {
  auto outcome =
      co_await run_transition(pool_, notifications_, chat, std::move(plan), std::move(decide), nullptr, deadline);
  co_return committed_in(std::move(outcome));
}

net::Task<Result<KeptAnswer, TransitError>> ChatStore::transit_once(ChatId chat, chat::ReadPlan plan, Decide decide,
                                                                    Once once, Deadline deadline) {
  auto outcome =
      co_await run_transition(pool_, notifications_, chat, std::move(plan), std::move(decide), &once, deadline);
  co_return answer_in(std::move(outcome));
}

net::Task<Result<Committed, TransitError>> ChatStore::create(chat::NewChat chat, Deadline deadline) {
  auto outcome = co_await run_creation(pool_, notifications_, std::move(chat), nullptr, deadline);
  co_return committed_in(std::move(outcome));
}

net::Task<Result<KeptAnswer, TransitError>> ChatStore::create_once(chat::NewChat chat, Once once, Deadline deadline) {
  auto outcome = co_await run_creation(pool_, notifications_, std::move(chat), &once, deadline);
  co_return answer_in(std::move(outcome));
}

net::Task<Result<std::optional<KeptAnswer>, StoreError>> ChatStore::find_answer(ChatId chat, Submission submission,
                                                                                Deadline deadline) {
  auto rows = co_await query(pool_, statements::kFindSubmission, submission_params(chat, submission), deadline);
  if (!rows) co_return fail(std::move(rows).error());
  co_return read_answer(*rows);
}

net::Task<Result<void, StoreError>> ChatStore::mark_read(ChatId chat, Deadline deadline) {
  Params params;
  params.uuid(chat);
  auto rows = co_await query(pool_, statements::kMarkRead, std::move(params), deadline);
  if (!rows) co_return fail(std::move(rows).error());
  co_return Result<void, StoreError>();
}

}  // namespace assay::store

#pragma once
// The one door to chat state. Everything that changes a chat's row, messages or queue goes through create() or
// transit(); the other writes here concern ownership and the read mark alone.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/uuid.h"
#include "chat/chat.h"
#include "chat/effects.h"
#include "chat/message.h"
#include "chat/transitions.h"
#include "net/task.h"
#include "store/error.h"
#include "store/submission.h"

namespace assay::store {

class Pool;
class Notifications;

// What a transition made of the chat, as committed.
struct Committed {
  chat::Chat chat;
  std::vector<chat::Message> inserted;        // in id order, whatever their visibility
  std::vector<chat::QueuedMessage> enqueued;  // in id order
  std::vector<std::int64_t> deleted;          // soft-deleted rows that clients could see
};

using TransitError = std::variant<chat::Refusal, StoreError>;
using Decide = std::function<chat::Decision(const chat::LockedChat&)>;

struct ChatListQuery {
  UserId owner;
  std::optional<bool> archived;                             // empty: both
  std::vector<std::pair<std::string, std::string>> labels;  // all of them
  std::string title_contains;                               // in any case; empty: every title
  std::optional<bool> has_unread;                           // empty: both
  std::optional<ChatId> after_id;                           // list what follows this chat of the same owner
  std::int64_t offset = 0;
  std::int64_t limit = 50;
};

struct MessagePage {
  // Ascending ids when only after_id was given, else descending.
  std::vector<chat::Message> messages;
  bool has_more = false;
};

// What a stream has sent already. Starts at zero: everything is read.
struct SyncCursor {
  std::int64_t snapshot_version = 0;
  std::int64_t queue_version = -1;    // -1: the queue was never sent
  std::int64_t after_message_id = 0;  // skips rows up to this id; for a first sync that resumes (`after_id`)
};

struct SyncRead {
  chat::Chat chat;                      // its snapshot_version is the next cursor's
  std::vector<chat::Message> messages;  // client-visible, undeleted, revision beyond the cursor; ascending ids
  std::vector<std::int64_t> deleted;    // client-visible rows soft-deleted beyond the cursor; ascending
  std::optional<std::vector<chat::QueuedMessage>> queue;  // when queue_version is not the cursor's
  std::vector<chat::ToolCallPart> pending_calls;          // those that the client is to answer, while it is asked
};

struct TurnRead {
  chat::Chat chat;
  WallTime now{};                      // the database's clock
  std::vector<chat::Message> history;  // every undeleted row, model-only and compressed ones included; ascending ids
};

struct Ownership {
  ChatId chat;
  RunnerId runner;
  friend bool operator==(const Ownership&, const Ownership&) = default;
};

// Loop thread only. Lifetime: the pool and the notifications outlive the store. Every call is one short transaction:
// no lock outlives it. Each fails with Timeout once its deadline has passed.
class ChatStore {
 public:
  ChatStore(Pool& pool, Notifications& notifications);
  ChatStore(const ChatStore&) = delete;
  ChatStore& operator=(const ChatStore&) = delete;

  // Inserts the chat with its identity, settings and status, in snapshot 1, and its first messages, in one transaction.
  // Refused with Conflict where the id exists, so that a create whose commit was in doubt can be told apart from one
  // that never happened.
  net::Task<Result<Committed, TransitError>> create(chat::NewChat chat, Deadline deadline);

  // Locks the chat's row, advances snapshot_version by one, reads what `plan` asks for, decides, applies and commits;
  // only then subscribers are woken. Two round trips. A refusal rolls everything back and publishes nothing.
  // `decide` runs on the loop thread while the row is locked: it must be quick and pure; it may be called a second time
  // when the first connection turned out to be dead before anything was written.
  net::Task<Result<Committed, TransitError>> transit(ChatId chat, chat::ReadPlan plan, Decide decide,
                                                     Deadline deadline);

  // The same for what a client may send again under one key: carried out once, its answer kept in the same transaction
  // and given again to whoever comes later, by way of another replica and at the same instant too. One round trip more.
  // The caller compares KeptAnswer::digest with its own. A refusal is not kept: nothing happened. After InDoubt the
  // same call tells whether it was carried out.
  net::Task<Result<KeptAnswer, TransitError>> create_once(chat::NewChat chat, Once once, Deadline deadline);
  net::Task<Result<KeptAnswer, TransitError>> transit_once(ChatId chat, chat::ReadPlan plan, Decide decide, Once once,
                                                           Deadline deadline);
  // nullopt: not carried out, as far as is committed.
  net::Task<Result<std::optional<KeptAnswer>, StoreError>> find_answer(ChatId chat, Submission submission,
                                                                       Deadline deadline);

  // The owner has seen everything so far.
  net::Task<Result<void, StoreError>> mark_read(ChatId chat, Deadline deadline);

  // Reads.
  net::Task<Result<std::optional<chat::Chat>, StoreError>> find_chat(ChatId chat, Deadline deadline);
  // Root chats, the most recently updated first. A row that does not decode is left out and logged.
  net::Task<Result<std::vector<chat::Chat>, StoreError>> list_chats(ChatListQuery query, Deadline deadline);
  // Undeleted rows that clients may see. before_id and after_id are exclusive bounds. Requires: limit > 0.
  net::Task<Result<MessagePage, StoreError>> list_messages(ChatId chat, std::optional<std::int64_t> before_id,
                                                           std::optional<std::int64_t> after_id, std::int64_t limit,
                                                           Deadline deadline);
  // In order of position.
  net::Task<Result<std::vector<chat::QueuedMessage>, StoreError>> list_queue(ChatId chat, Deadline deadline);
  // One consistent snapshot of what a client's stream needs. nullopt: no such chat.
  net::Task<Result<std::optional<SyncRead>, StoreError>> read_sync(ChatId chat, SyncCursor cursor, Deadline deadline);
  // One consistent snapshot of what a turn is decided from. nullopt: no such chat.
  net::Task<Result<std::optional<TurnRead>, StoreError>> read_turn(ChatId chat, Deadline deadline);

  // Ownership. Takes up to `limit` chats that have work (running, interrupting, requires_action) and no live owner, the
  // longest waiting first. An owner is gone when its heartbeat is older than `lease` by the database's clock, or when
  // the replica lock that its last heartbeat vouched for is free. Rows that are locked right now are left to the next
  // call. The cost grows with the chats that have work, not with idle ones.
  net::Task<Result<std::vector<Ownership>, StoreError>> acquire(ReplicaId replica, std::int64_t limit,
                                                                Milliseconds lease, Deadline deadline);
  // Renews the leases and returns those that are still this replica's; the others were lost.
  net::Task<Result<std::vector<Ownership>, StoreError>> heartbeat(ReplicaId replica, std::vector<Ownership> owned,
                                                                  Deadline deadline);
  // Gives the chat up so that any replica may take it at once. False: it was no longer the runner's.
  net::Task<Result<bool, StoreError>> release(Ownership owned, Deadline deadline);

 private:
  Pool& pool_;
  Notifications& notifications_;
};

}  // namespace assay::store

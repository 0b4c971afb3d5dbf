#pragma once
// What a transition asks the store to change. Transitions are pure functions from a locked view of the chat to Effects
// or a Refusal; store/ carries the effects out in the transaction that holds the lock, then publishes.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "chat/chat.h"
#include "chat/message.h"

namespace assay::chat {

// What stands under the chat row's lock when a transition decides. Only what its ReadPlan asked for is filled.
struct LockedChat {
  Chat chat;
  WallTime now{};                          // the database's clock
  std::vector<QueuedMessage> queue;        // in order of position
  std::vector<Message> history;            // undeleted rows, ascending ids: all of them, or as the plan asks
  std::vector<RequestId> closed_requests;  // of those asked for: the ones that have an outcome, deleted rows included
};

struct ReadPlan {
  bool queue = false;
  bool history = false;
  // A history of the last row with role Assistant and visibility Both, and all rows after it (all rows where there is
  // none): enough to see which calls still lack an answer, whatever the length of the chat.
  bool open_step = false;
  // Instead: the open step as it was before this message, and all rows after it.
  std::optional<std::int64_t> suffix_of;
  std::vector<RequestId> outcomes_of;
  bool all_outcomes = false;  // instead of `outcomes_of`: of every request of the chat
};

enum class RefusalKind {
  NotFound,      // no such chat or row
  Conflict,      // the state machine's table does not allow this from here
  Stale,         // a fence moved: the runner's work is obsolete and leaves silently
  NothingToDo,   // allowed, but it would change nothing that the caller asked for
  InvalidInput,  // an argument is wrong for this chat
  QueueFull,
  Archived,
};

struct Refusal {
  RefusalKind kind = RefusalKind::Conflict;
  std::string message;     // a sentence for people; where the table refuses it names the state and the transition
  std::string field = {};  // of the request, where one is at fault; `message` then is the predicate of its sentence
};

struct EnqueueMessage {
  Content content;
  std::optional<ModelConfigId> model_config;
  std::optional<std::string> reasoning_effort;
  UserId created_by;
};

// Where a field is empty nothing changes. Applied in the order of the members.
struct Effects {
  std::vector<std::int64_t> delete_messages;  // soft-deleted
  std::vector<std::int64_t> dequeue;          // queue rows removed
  std::vector<NewMessage> insert;             // appended to history in this order
  std::vector<EnqueueMessage> enqueue;        // appended to the queue
  std::vector<std::int64_t> queue_order;      // all queue ids in their new order; empty: unchanged

  std::optional<Status> status;
  std::optional<bool> archived;
  std::optional<std::optional<ChatError>> last_error;
  std::optional<std::optional<RetryState>> retry_state;
  std::optional<std::int64_t> generation_attempt;
  std::optional<bool> compaction_due;
  std::optional<std::int64_t> requires_action_after_ms;  // deadline = database clock + this
  bool clear_requires_action_deadline = false;
  bool release_ownership = false;  // worker_id and runner_id become empty

  bool mark_read = false;  // the owner has seen everything up to what is inserted here

  std::optional<std::string> title;
  std::optional<std::map<std::string, std::string>> labels;
  std::optional<std::string> plan_mode;
  std::optional<ModelConfigId> last_model_config;
  std::optional<std::optional<std::string>> reasoning_effort;
};

using Decision = Result<Effects, Refusal>;

}  // namespace assay::chat

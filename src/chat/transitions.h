#pragma once
// The transitions of a chat: each input has `reads_of(input)`, what must stand under the lock, and `decide(locked,
// input)`, the effects or a refusal. Pure: ids and times are arguments.
//
// Rules that hold for all: a user message enters history only after every outstanding call has an answer; what leaves E
// clears `last_error`; a request has one receipt, the receipt comes after the step's rows and before a promoted
// message.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "chat/chat.h"
#include "chat/effects.h"
#include "chat/message.h"
#include "chat/rows.h"
#include "chat/state.h"

namespace assay::chat {

inline constexpr std::size_t kQueueMax = 20;  // messages that wait in one chat
inline constexpr std::size_t kTitleCodePointsMax = 200;

// --- From clients -----------------------------------------------------------------------------------------------

struct CreateChat {
  ChatId id;
  OrganizationId organization_id;
  UserId owner_id;
  std::string title;
  std::string client_type = "api";
  std::string plan_mode;
  std::map<std::string, std::string> labels;
  std::string dynamic_tools = "[]";
  ModelConfigId model_config;
  std::optional<std::string> reasoning_effort;
  std::string system_prompt;  // empty: none
  Content content;            // of the first user message, its RequestPart included
};

// All that the insert needs: a chat in R0 and its first rows. Times and versions are the store's.
struct NewChat {
  Chat chat;
  std::vector<NewMessage> messages;
};
Result<NewChat, Refusal> create(const CreateChat& input);

enum class BusyBehavior { Queue, Interrupt };

struct SendMessage {
  Content content;  // its RequestPart included
  UserId created_by;
  std::optional<ModelConfigId> model_config;
  std::optional<std::string> reasoning_effort;
  std::optional<std::string> plan_mode;  // a switch refused while structured work is owed
  BusyBehavior busy_behavior = BusyBehavior::Queue;
};
ReadPlan reads_of(const SendMessage& input);
Decision decide(const LockedChat& locked, const SendMessage& input);

// A structured one gets its `queue_deleted` receipt at once; a running turn is not disturbed.
struct DeleteQueuedMessage {
  std::int64_t queue_id = 0;
};
ReadPlan reads_of(const DeleteQueuedMessage& input);
Decision decide(const LockedChat& locked, const DeleteQueuedMessage& input);

struct Interrupt {};
ReadPlan reads_of(const Interrupt& input);
Decision decide(const LockedChat& locked, const Interrupt& input);

struct SetArchived {
  bool archived = false;
};
ReadPlan reads_of(const SetArchived& input);
Decision decide(const LockedChat& locked, const SetArchived& input);

struct SetTitle {
  std::string title;  // trimmed here; 1 to kTitleCodePointsMax code points
};
ReadPlan reads_of(const SetTitle& input);
Decision decide(const LockedChat& locked, const SetTitle& input);

struct SetLabels {
  std::map<std::string, std::string> labels;  // replaces all
};
ReadPlan reads_of(const SetLabels& input);
Decision decide(const LockedChat& locked, const SetLabels& input);

// Conflict where a structured request is active or queued: none could be fulfilled in plan mode.
struct SetPlanMode {
  std::string plan_mode;  // "" or "plan"
};
ReadPlan reads_of(const SetPlanMode& input);
Decision decide(const LockedChat& locked, const SetPlanMode& input);

struct ReconcileInvalidState {};
ReadPlan reads_of(const ReconcileInvalidState& input);
Decision decide(const LockedChat& locked, const ReconcileInvalidState& input);

// --- From the worker ---------------------------------------------------------------------------------------------

// What a runner saw when it began. Where any of it moved, its work is obsolete: Stale.
struct Fence {
  RunnerId runner_id;
  std::int64_t history_version = 0;
  Status status = Status::Running;
  std::int64_t generation_attempt = 0;
  friend bool operator==(const Fence&, const Fence&) = default;
};
[[nodiscard]] Fence fence_of(const Chat& chat, RunnerId runner_id);

// Raises generation_attempt by one: the caller's next fence has the new number.
struct RecordGenerationAttempt {
  Fence fence;
};
ReadPlan reads_of(const RecordGenerationAttempt& input);
Decision decide(const LockedChat& locked, const RecordGenerationAttempt& input);

struct RecordRetryState {
  Fence fence;
  RetryState retry_state;
};
ReadPlan reads_of(const RecordRetryState& input);
Decision decide(const LockedChat& locked, const RecordRetryState& input);

struct CommitStep {
  Fence fence;
  std::vector<NewMessage> rows;
};
ReadPlan reads_of(const CommitStep& input);
Decision decide(const LockedChat& locked, const CommitStep& input);

struct FinishTurn {
  Fence fence;
  std::vector<NewMessage> rows;  // of the last step; may be empty
  std::optional<structured::OutcomePart> receipt;
};
ReadPlan reads_of(const FinishTurn& input);
Decision decide(const LockedChat& locked, const FinishTurn& input);

struct FinishError {
  Fence fence;
  std::vector<NewMessage> rows;  // may be empty
  ChatError error;
  std::optional<structured::OutcomePart> receipt;
};
ReadPlan reads_of(const FinishError& input);
Decision decide(const LockedChat& locked, const FinishError& input);

// After partial rows come the answers to outstanding calls, the receipt, then the promoted head.
struct FinishInterruption {
  Fence fence;
  std::vector<NewMessage> rows;  // what had arrived
  std::optional<structured::OutcomePart> receipt;
};
ReadPlan reads_of(const FinishInterruption& input);
Decision decide(const LockedChat& locked, const FinishInterruption& input);

}  // namespace assay::chat

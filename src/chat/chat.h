#pragma once
// A chat's row and its execution state (docs/architecture.md, "Chat state machine").
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/uuid.h"

namespace assay::chat {

enum class Status { Waiting, Running, Interrupting, RequiresAction, Error };

// The chat API's error object (`last_error`, the `error` event). Texts are sanitised: no provider body, no credential.
struct ChatError {
  std::string message;
  std::string detail;    // at most kErrorDetailCodePointsMax; empty: none
  std::string kind;      // generic, overloaded, rate_limit, timeout, auth, config, content_filter, ...
  std::string provider;  // configured name; empty: none
  bool retryable = false;
  std::optional<int> status_code;
  friend bool operator==(const ChatError&, const ChatError&) = default;
};
inline constexpr std::size_t kErrorDetailCodePointsMax = 500;

// Why a generation waits before its next attempt; the `retry` event.
struct RetryState {
  std::int64_t attempt = 0;  // 1-based
  std::int64_t delay_ms = 0;
  ChatError error;
  WallTime retrying_at{};
  friend bool operator==(const RetryState&, const RetryState&) = default;
};

struct Chat {
  ChatId id;
  OrganizationId organization_id;
  UserId owner_id;
  std::optional<ChatId> parent_chat_id;
  std::optional<ChatId> root_chat_id;
  std::string title;
  std::string mode;       // "": regular; specialised child modes: explore, computer_use
  std::string plan_mode;  // "" or "plan"
  std::string client_type = "api";
  std::map<std::string, std::string> labels;
  std::string dynamic_tools = "[]";  // JSON text, fixed at creation
  ModelConfigId last_model_config;
  std::optional<std::string> reasoning_effort;

  Status status = Status::Waiting;
  bool archived = false;
  std::int64_t queue_length = 0;
  std::optional<ChatError> last_error;
  std::optional<RetryState> retry_state;
  std::optional<WallTime> requires_action_deadline;
  bool compaction_due = false;  // the running turn is to sum the conversation up, nothing else

  std::optional<ReplicaId> worker_id;
  std::optional<RunnerId> runner_id;

  std::int64_t snapshot_version = 0;  // advanced by each transaction that applies a transition
  std::int64_t history_version = 0;   // snapshot in which history last changed (receipts exempt)
  std::int64_t queue_version = 0;
  std::int64_t retry_state_version = 0;
  std::int64_t generation_attempt = 0;  // reset by a change of history

  std::int64_t last_read_message_id = 0;
  std::int64_t last_message_id = 0;
  WallTime created_at{};
  WallTime updated_at{};
};

}  // namespace assay::chat

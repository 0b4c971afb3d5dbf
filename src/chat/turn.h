#pragma once
// The next step of a turn, from what is committed alone: the same function serves the runner that has just committed
// and the one that took the chat over. And what a finished model call becomes: rows, and how the turn goes on.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "chat/chat.h"
#include "chat/message.h"
#include "chat/model.h"
#include "chat/prompt.h"
#include "chat/rows.h"
#include "schema/schema.h"
#include "structured/request_state.h"

namespace assay::chat {

inline constexpr std::int64_t kStepsMax = 1200;  // model calls for one user message

// Lifetime: all of it outlives the call, nothing is kept.
struct TurnView {
  const Chat& chat;
  std::span<const Message> history;       // all undeleted rows, ascending
  std::span<const ToolDefinition> tools;  // ordinary ones offered in this turn, the finalizer not among them
  const structured::Corruption* tools_corruption = nullptr;  // why the chat's own tools are not among them
  const ModelDescription& model;
  bool strict_forced = false;  // the provider's configuration forces strict mode on every tool
  std::int64_t steps_max = kStepsMax;
  const schema::Schema* compiled = nullptr;  // of an earlier step of this turn: saves compiling the same text again
};

struct Governing {
  structured::ActiveRequest request;
  schema::Schema schema;
};

// Call the model with build_prompt, then assemble_step.
struct Generate {
  std::optional<Governing> governing;
};
// FinishTurn.
struct EndTurn {
  std::optional<structured::OutcomePart> receipt;
};
// FinishError.
struct FailTurn {
  ChatError error;
  std::optional<structured::OutcomePart> receipt;
};
// Committed calls that nobody answers any more: CommitStep with these rows; where others wait for the client,
// EnterRequiresAction.
struct AnswerCalls {
  std::vector<NewMessage> rows;
  bool awaits_client = false;
};
// Call the model with compaction_prompt, then assemble_summary (compaction.h).
struct Compact {};
using TurnDecision = std::variant<Generate, EndTurn, FailTurn, AnswerCalls, Compact>;

// Requires: the chat's status is Running.
[[nodiscard]] TurnDecision decide_turn(const TurnView& turn);

// An error of this turn's own making, with the provider's name.
[[nodiscard]] ChatError turn_error(const TurnView& turn, std::string_view kind, std::string message);
// The end of a request without a value: the error and its receipt.
[[nodiscard]] FailTurn fail_request(const TurnView& turn, RequestId request_id, const structured::OutcomeError& error);

// For structured/, lifetime as the messages'.
[[nodiscard]] std::vector<structured::RowView> row_views(std::span<const Message> history);

}  // namespace assay::chat

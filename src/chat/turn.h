#pragma once
// The next step of a turn, from what is committed alone: the same function serves the runner that has just committed
// and the one that took the chat over. And what a finished model call becomes: rows, and how the turn goes on.
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "chat/chat.h"
#include "chat/generated_step.h"
#include "chat/message.h"
#include "chat/model.h"
#include "chat/prompt.h"
#include "schema/schema.h"
#include "structured/request_state.h"

namespace assay::chat {

inline constexpr std::int64_t kStepsMax = 1200;  // model calls for one user message

// Lifetime: all of it outlives the call, nothing is kept.
struct TurnView {
  const Chat& chat;
  std::span<const Message> history;       // all undeleted rows, ascending
  std::span<const ToolDefinition> tools;  // ordinary ones offered in this turn, the finalizer not among them
  const ModelDescription& model;
  bool strict_forced = false;  // the provider's configuration forces strict mode on every tool
  std::int64_t steps_max = kStepsMax;
  const schema::Schema* compiled = nullptr;  // of an earlier step of this turn: saves compiling the same text again
};

struct Governing {
  structured::ActiveRequest request;
  schema::Schema schema;
};

// Call the model with build_prompt.
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
// CommitStep with these rows: committed calls that nobody answers any more.
struct AnswerCalls {
  std::vector<NewMessage> rows;
};
using TurnDecision = std::variant<Generate, EndTurn, FailTurn, AnswerCalls>;

// Requires: the chat's status is Running.
[[nodiscard]] TurnDecision decide_turn(const TurnView& turn);

// What a model sees of a history: no receipts, no rows for clients alone, no internal parts, compressed rows by their
// summary; corrective rows and, for arguments that were not kept, a notice in their place. System rows are not among
// it. `model_config`: whose provider state may be replayed.
[[nodiscard]] std::vector<PromptRow> prompt_rows(std::span<const Message> history, const ModelConfigId& model_config);
[[nodiscard]] Prompt build_prompt(const TurnView& turn, const Generate& generate);

// The rows of the step go into one transaction with what follows: CommitStep where `then` is empty, else FinishTurn or
// FinishError.
struct StepPlan {
  std::vector<NewMessage> rows;
  std::variant<std::monostate, EndTurn, FailTurn> then;
};
// `generate` is the decision, on the same view, that the step answers.
[[nodiscard]] StepPlan assemble_step(const TurnView& turn, const Generate& generate, const GeneratedStep& step);

// A model call that failed for good: the error, and a governing request's `generation_failed` receipt.
[[nodiscard]] FailTurn fail_generation(const Generate& generate, ChatError error);

// Local calls of the last step that no later row answers, in order.
[[nodiscard]] std::vector<ToolCallPart> outstanding_calls(std::span<const Message> history);

// For structured/, lifetime as the messages'.
[[nodiscard]] std::vector<structured::RowView> row_views(std::span<const Message> history);

}  // namespace assay::chat

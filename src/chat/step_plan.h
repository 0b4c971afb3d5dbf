#pragma once
// What a finished model call becomes: rows, and how the turn goes on.
#include <variant>
#include <vector>

#include "chat/generated_step.h"
#include "chat/turn.h"

namespace assay::chat {

// After so many pauses in a row a provider's hosted tools are taken to run in circles.
inline constexpr std::size_t kPausesMax = 10;

// Every call of the step that is still open is the client's to answer: EnterRequiresAction.
struct AwaitClient {};

// The rows of the step go into one transaction with what follows: CommitStep where `then` is empty, else FinishTurn,
// FinishError or EnterRequiresAction.
struct StepPlan {
  std::vector<NewMessage> rows;
  std::variant<std::monostate, EndTurn, FailTurn, AwaitClient> then;
};
// `generate` is the decision, on the same view, that the step answers.
[[nodiscard]] StepPlan assemble_step(const TurnView& turn, const Generate& generate, const GeneratedStep& step);

// A model call that failed for good: the error, and a governing request's `generation_failed` receipt.
[[nodiscard]] FailTurn fail_generation(const Generate& generate, ChatError error);

}  // namespace assay::chat

#pragma once
// The turn that sums a conversation up: one model call whose text becomes the boundary from which later prompts begin.
#include "chat/generated_step.h"
#include "chat/prompt.h"
#include "chat/step_plan.h"
#include "chat/turn.h"

namespace assay::chat {

// The conversation so far, no tools, and the instruction as the last message.
[[nodiscard]] Prompt compaction_prompt(const TurnView& turn);

// The boundary with the summary and the notice for clients, which end the turn; an error where there is no whole
// summary.
[[nodiscard]] StepPlan assemble_summary(const TurnView& turn, const GeneratedStep& step);

}  // namespace assay::chat

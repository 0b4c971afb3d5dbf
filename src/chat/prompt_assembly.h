#pragma once
// From a history to what a model call sends.
#include <span>
#include <vector>

#include "chat/prompt.h"
#include "chat/turn.h"

namespace assay::chat {

// What a model sees of a history: no receipts, no rows for clients alone, no internal parts, nothing before the
// latest boundary (context.h); corrective rows and, for arguments that were not kept, a notice in their place. System
// rows are not among it. `model_config`: whose provider state may be replayed.
[[nodiscard]] std::vector<PromptRow> prompt_rows(std::span<const Message> history, const ModelConfigId& model_config);
[[nodiscard]] Prompt build_prompt(const TurnView& turn, const Generate& generate);

}  // namespace assay::chat

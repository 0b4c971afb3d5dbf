#pragma once
// When an answer counts as complete: one positive list for every wire. What a wire says that does not stand there is
// Unknown, and only ToolUse can carry a structured value (docs/structured-output.md).
//
// The rest of the rule belongs to whoever reads the bytes: an answer reaches this judgement only if its body ended
// cleanly with the wire's own terminal signal and no error inside.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "chat/generated_step.h"
#include "providers/config.h"

namespace assay::providers {

// The wire's own word: Chat Completions' `finish_reason`, Anthropic's `stop_reason`; Responses' `status` and, behind a
// slash, the reason of an incomplete one.
[[nodiscard]] structured::Finish finish_of_reason(Wire wire, std::string_view reason);

// Of two finishes the one that lets one believe less.
[[nodiscard]] structured::Finish more_conservative(structured::Finish left, structured::Finish right);

struct AnswerEnd {
  structured::Finish said = structured::Finish::Unknown;  // finish_of_reason
  bool is_refused = false;                                // a refusal was seen anywhere in the answer
  bool is_qualified = false;    // the wire gave details of an end that was not plain, whatever its reason says
  std::size_t calls = 0;        // local ones
  bool calls_are_whole = true;  // each was closed by the wire; where the wire closes none, holds one whole JSON value
  std::optional<std::int64_t> output_tokens;
  std::optional<std::int64_t> output_tokens_max;  // the cap that was sent
};
[[nodiscard]] structured::Finish judge(Wire wire, const AnswerEnd& end);

}  // namespace assay::providers

#pragma once
// What one model call brought back: the wire-neutral answer that providers/ fills and chat/ judges.
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "chat/message.h"
#include "structured/parts.h"

namespace assay::chat {

// Raw argument bytes of one call that a client of a wire keeps while deltas arrive. What goes over it is dropped and
// the call marked `over_cap`. For the finalizer the cap is json::kArgumentsCaps.bytes_max.
inline constexpr std::size_t kToolArgumentsBytesMax = 1024 * 1024;

struct GeneratedToolCall {
  std::string id;  // as the provider sent it; may be empty or repeated, assemble_step makes it unique
  std::string name;
  std::string arguments;  // raw bytes, unchecked; of no use where `over_cap`
  bool over_cap = false;
  bool provider_executed = false;
  std::string provider_state;  // opaque JSON text for replay; empty: none
  friend bool operator==(const GeneratedToolCall&, const GeneratedToolCall&) = default;
};

// ToolResultPart here is the result of a call that the provider executed itself.
using GeneratedPart =
    std::variant<TextPart, ReasoningPart, GeneratedToolCall, ToolResultPart, SourcePart, ProviderItemPart>;

// `finish` follows the positive list of providers/acceptance.h: ToolUse only when the wire's terminal signal said so
// and every call is known to be complete; a guard that fails makes it Unknown. A refusal's text travels as TextPart.
struct GeneratedStep {
  structured::Finish finish = structured::Finish::Unknown;
  std::vector<GeneratedPart> parts;  // in the order of the answer
  Usage usage;
  friend bool operator==(const GeneratedStep&, const GeneratedStep&) = default;
};

}  // namespace assay::chat

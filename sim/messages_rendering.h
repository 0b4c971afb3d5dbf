#pragma once
// Anthropic Messages: a scripted reply as the vendor's events, or as one message object.
#include <string>
#include <string_view>
#include <vector>

#include "sim/reply_pieces.h"

namespace assay::sim {

// Of Chat Completions' finish reasons `stop`, `tool_calls`, `length` and `content_filter` become `end_turn`,
// `tool_use`, `max_tokens` and `refusal`; any other word goes out as it is.
[[nodiscard]] std::vector<RenderedEvent> messages_events(const Reply& reply, const Delivery& delivery,
                                                         const ChatRequest& request, const RenderingContext& context);
[[nodiscard]] std::string messages_object(const Reply& reply, const ChatRequest& request,
                                          const RenderingContext& context);

// What this simulator signs thinking with: altered text no longer fits.
[[nodiscard]] std::string thinking_signature(std::string_view thinking);

}  // namespace assay::sim

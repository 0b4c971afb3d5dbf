#pragma once
// OpenAI Responses: a scripted reply as the vendor's events, or as one response object.
#include <string>
#include <vector>

#include "sim/reply_pieces.h"

namespace assay::sim {

// Of Chat Completions' finish reasons `stop` and `tool_calls` become a completed response, `length` and
// `content_filter` an incomplete one; any other word becomes the response's status. An empty one: no terminal event.
[[nodiscard]] std::vector<RenderedEvent> responses_events(const Reply& reply, const Delivery& delivery,
                                                          const ChatRequest& request, const RenderingContext& context);
[[nodiscard]] std::string responses_object(const Reply& reply, const ChatRequest& request,
                                           const RenderingContext& context);

}  // namespace assay::sim

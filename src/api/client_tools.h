#pragma once
// The tools that a client executes itself: their declarations in a new chat, and the results that it sends. Pure.
#include <optional>
#include <string>
#include <vector>

#include "api/error.h"
#include "base/result.h"
#include "chat/chat.h"
#include "chat/prompt.h"
#include "chat/requires_action.h"
#include "json/document.h"
#include "store/people.h"

namespace assay::api {

// `unsafe_dynamic_tools`, absent or null as well. `has_format`: the chat begins with a structured request, beside which
// no other tool can have the finalizer's name.
Result<std::vector<chat::ToolDefinition>, ApiError> decode_dynamic_tools(const std::optional<json::Value>& list,
                                                                         bool has_format);

// Whether a structured request in this chat would find its finalizer's name taken by a tool of the client.
[[nodiscard]] bool takes_finalizer_name(const chat::Chat& chat);

// The body of POST tool-results. Which calls are pending is not looked at here.
Result<chat::CompleteRequiresAction, ApiError> decode_tool_results(std::string body, const store::User& user);

}  // namespace assay::api

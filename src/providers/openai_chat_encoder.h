#pragma once
// Chat Completions, as OpenAI and the many compatible servers take it: the request.
//
// What servers disagree on is a setting of the provider (config.h). Adjacent user rows become one message, since strict
// chat templates demand that roles alternate; results stand directly behind the message of their calls, in its order.
#include <string>
#include <vector>

#include "chat/prompt.h"
#include "providers/config.h"
#include "providers/wire.h"

namespace assay::providers {

inline constexpr std::string_view kChatCompletionsPath = "chat/completions";

[[nodiscard]] WireRequest encode_openai_chat(const ProviderConfig& provider, const ModelSettings& model,
                                             const chat::Prompt& prompt);

// Organisation and project.
[[nodiscard]] std::vector<Header> openai_headers(const ProviderConfig& provider);

}  // namespace assay::providers

#pragma once
// OpenAI Responses: the request. Stateless: nothing is stored at the provider (`store: false`), so the items that a
// model wrote go back to it as they came, its encrypted reasoning included.
//
// A prompt's row becomes items in its order; results of local calls stand directly behind the items of their row.
#include <string_view>

#include "chat/prompt.h"
#include "providers/config.h"
#include "providers/wire.h"

namespace assay::providers {

inline constexpr std::string_view kResponsesPath = "responses";

[[nodiscard]] WireRequest encode_openai_responses(const ProviderConfig& provider, const ModelSettings& model,
                                                  const chat::Prompt& prompt);

}  // namespace assay::providers

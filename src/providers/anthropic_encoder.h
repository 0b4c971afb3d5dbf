#pragma once
// Anthropic Messages: the request.
//
// Adjacent rows of one role become one message; results stand first in the user message behind their calls. What the
// model itself wrote goes back as it came, in its order: thinking with its signature, redacted thinking, hosted calls
// with their results, citations. Reasoning of another origin is left out. Ids that the vendor would refuse (of another
// provider, or used twice) are replaced, in call and result alike.
#include <cstdint>
#include <string_view>

#include "chat/prompt.h"
#include "providers/config.h"
#include "providers/wire.h"

namespace assay::providers {

inline constexpr std::string_view kMessagesPath = "messages";
inline constexpr std::string_view kAnthropicVersion = "2026-10-21";
// The wire demands a cap. Where none is configured, this much beside a thinking budget.
inline constexpr std::int64_t kAnthropicTokensDefault = 16'384;

// The cap that is sent.
[[nodiscard]] std::int64_t anthropic_tokens_max(const ModelSettings& model);

[[nodiscard]] WireRequest encode_anthropic(const ProviderConfig& provider, const ModelSettings& model,
                                           const chat::Prompt& prompt);

// Version and beta features.
[[nodiscard]] std::vector<Header> anthropic_headers(const ProviderConfig& provider);

}  // namespace assay::providers

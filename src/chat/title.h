#pragma once
// The title that a chat bears until a better one is known.
#include <cstddef>
#include <string>

#include "chat/message.h"

namespace assay::chat {

inline constexpr std::size_t kFallbackTitleWordsMax = 6;
inline constexpr std::size_t kFallbackTitleCodePointsMax = 80;

// The first words of the content's text, with an ellipsis where something was left out; `New Chat` without text.
[[nodiscard]] std::string fallback_title(const Content& content);

}  // namespace assay::chat

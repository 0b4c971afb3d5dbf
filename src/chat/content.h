#pragma once
// The stored form of a message's content: a JSON array of parts, kept as jsonb. Part types are named as on the public
// API (`text`, `tool-call`, ...); arguments and results are JSON strings of their exact text, since jsonb would respell
// numbers and drop duplicate keys.
#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/message.h"

namespace assay::chat {

// Fit for PostgreSQL's text and jsonb: U+0000 and what is no UTF-8 become U+FFFD.
[[nodiscard]] std::string storable_text(std::string_view text);

// What one message may take when encoded. Half of what is read back at most (json::kEnvelopeCaps), since jsonb prints
// white space between tokens.
inline constexpr std::size_t kStoredContentBytesMax = 8 * 1024 * 1024;

// Every text passes storable_text here, whatever it came from.
[[nodiscard]] std::string encode_content(const Content& content);

// Strict and closed: an unknown part type, an unknown member or a value of the wrong kind is a Corruption.
// Compiles and validates nothing.
Result<Content, structured::Corruption> decode_content(std::string_view json_text);

}  // namespace assay::chat

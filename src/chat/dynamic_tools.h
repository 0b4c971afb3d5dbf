#pragma once
// Tools that the client executes: declared when the chat is created, kept with it, offered to the model in every turn.
// The stored form is the declaration's own: a JSON array of `{name, description?, input_schema}`.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/prompt.h"
#include "json/document.h"
#include "json/limits.h"
#include "structured/parts.h"

namespace assay::chat {

inline constexpr std::size_t kDynamicToolsMax = 250;  // of the public API
// Some providers take 1 KiB, others any length; longer ones crowd the conversation out.
inline constexpr std::size_t kToolDescriptionBytesMax = 16 * 1024;
inline constexpr json::Caps kToolSchemaCaps{.bytes_max = 64 * 1024, .depth_max = 32};

struct ToolFault {
  std::string place;   // within the list: `[2].name`; empty: the list itself
  std::string detail;  // what a person can do about it
  friend bool operator==(const ToolFault&, const ToolFault&) = default;
};

// Names are what every provider takes (structured::is_format_name) and stand once. An input schema passes the raw
// boundary and describes an object; absent or null it takes no arguments. It reaches the model as written, completed by
// `type` and `properties` where these are missing: some providers refuse a request without them.
Result<std::vector<ToolDefinition>, ToolFault> declared_tools(json::Value list);

[[nodiscard]] std::string encode_dynamic_tools(std::span<const ToolDefinition> tools);
// Strict: what encode_dynamic_tools cannot have written is a Corruption.
Result<std::vector<ToolDefinition>, structured::Corruption> decode_dynamic_tools(std::string_view json_text);

[[nodiscard]] const ToolDefinition* find_tool(std::span<const ToolDefinition> tools, std::string_view name);

}  // namespace assay::chat

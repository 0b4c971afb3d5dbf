#pragma once
// What a model call sends, before any wire has spelled it.
#include <string>
#include <variant>
#include <vector>

#include "chat/message.h"

namespace assay::chat {

struct ToolDefinition {
  std::string name;
  std::string description;
  std::string parameters;        // JSON Schema as JSON text; reaches the provider byte for byte
  bool strict_off = false;       // switch the wire's per-tool strict mode off, where it has one
  bool client_executed = false;  // the client answers its calls (dynamic_tools.h), not the server
  // For wires that want valid Draft 2020-12: the same schema with exactly the same meaning. Empty: `parameters` serve.
  std::string parameters_2020_12 = {};
  friend bool operator==(const ToolDefinition&, const ToolDefinition&) = default;
};

// A file of a user's message, its bytes at hand. What a wire cannot take is named in words in its place.
struct FilePart {
  std::string media_type;  // such as image/png, text/markdown, application/pdf
  std::string name;        // empty: none
  std::string bytes;
  friend bool operator==(const FilePart&, const FilePart&) = default;
};

using PromptPart = std::variant<TextPart, ReasoningPart, ToolCallPart, ToolResultPart, FilePart, ProviderItemPart>;
using PromptContent = std::vector<PromptPart>;

// Role is User, Assistant or Tool. Every local call has its result in a later row, calls and results of the provider's
// own stand in one assistant row, and `provider_state` is empty unless this very model wrote it.
struct PromptRow {
  Role role = Role::User;
  PromptContent content;
  friend bool operator==(const PromptRow&, const PromptRow&) = default;
};

struct Prompt {
  std::vector<std::string> system;  // in order
  std::vector<PromptRow> rows;
  std::vector<ToolDefinition> tools;  // tool choice is always automatic
  std::string cache_key;              // the same for all calls of one chat; empty: none
  friend bool operator==(const Prompt&, const Prompt&) = default;
};

}  // namespace assay::chat

#pragma once
// What a model call sends, before any wire has spelled it.
#include <string>
#include <vector>

#include "chat/message.h"

namespace assay::chat {

struct ToolDefinition {
  std::string name;
  std::string description;
  std::string parameters;        // JSON Schema as JSON text; reaches the provider byte for byte
  bool strict_off = false;       // switch the wire's per-tool strict mode off, where it has one
  bool client_executed = false;  // the client answers its calls (dynamic_tools.h), not the server
  friend bool operator==(const ToolDefinition&, const ToolDefinition&) = default;
};

// Role is User, Assistant or Tool. Content holds text, reasoning, calls and results: neither structured-output parts
// nor texts for clients alone, and files as text. Every call has its result in a later row, and `provider_state` is
// empty unless this very model wrote it.
struct PromptRow {
  Role role = Role::User;
  Content content;
  friend bool operator==(const PromptRow&, const PromptRow&) = default;
};

struct Prompt {
  std::vector<std::string> system;  // in order
  std::vector<PromptRow> rows;
  std::vector<ToolDefinition> tools;  // tool choice is always automatic
  friend bool operator==(const Prompt&, const Prompt&) = default;
};

}  // namespace assay::chat

#pragma once
// Messages as the server keeps them: rows of parts. Stored as jsonb by chat/content.h; the API projects them to the
// public shapes, providers/ encodes them for a wire.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "base/uuid.h"
#include "structured/parts.h"

namespace assay::chat {

enum class Role { System, User, Assistant, Tool };
enum class Visibility { User, Model, Both };  // User: clients only. Model: prompts only.

// `provider_state` of any part is JSON text for faithful replay (signatures, encrypted items, citations). The wire that
// wrote it tags it (providers/replay_state.h) and alone reads it; clients never see it. Empty: none.

struct TextPart {
  std::string text;
  std::string provider_state = {};
  friend bool operator==(const TextPart&, const TextPart&) = default;
};

struct ReasoningPart {
  std::string text;
  std::string provider_state;
  friend bool operator==(const ReasoningPart&, const ReasoningPart&) = default;
};

struct ToolCallPart {
  std::string id;
  std::string name;
  std::string arguments;  // exact JSON text as the model sent it; a placeholder `{}` when rejected
  bool rejected_arguments =
      false;  // the raw bytes were unsafe and were not stored; replay shows the placeholder as such
  bool provider_executed = false;
  std::string provider_state;
  friend bool operator==(const ToolCallPart&, const ToolCallPart&) = default;
};

struct ToolResultPart {
  std::string call_id;
  std::string name;
  std::string result;  // JSON text
  bool is_error = false;
  bool provider_executed = false;
  std::string provider_state;
  friend bool operator==(const ToolResultPart&, const ToolResultPart&) = default;
};

struct SourcePart {
  std::string id;
  std::string url;
  std::string title;
  friend bool operator==(const SourcePart&, const SourcePart&) = default;
};

// An item of the provider's own that means nothing to anybody else and is only stored and sent back, in its place:
// redacted reasoning, results of hosted tools that this server does not know.
struct ProviderItemPart {
  std::string provider_state;
  friend bool operator==(const ProviderItemPart&, const ProviderItemPart&) = default;
};

// The provider paused a long turn of its hosted tools here: the row ends no turn, the next call goes on from it.
struct PausePart {
  friend bool operator==(const PausePart&, const PausePart&) = default;
};

struct FileReferencePart {
  std::string file_name;
  std::int64_t start_line = 0;
  std::int64_t end_line = 0;
  std::string content;
  friend bool operator==(const FileReferencePart&, const FileReferencePart&) = default;
};

using Part =
    std::variant<TextPart, ReasoningPart, ToolCallPart, ToolResultPart, SourcePart, FileReferencePart, ProviderItemPart,
                 PausePart, structured::RequestPart, structured::ControlPart, structured::OutcomePart>;
using Content = std::vector<Part>;

struct Usage {
  std::optional<std::int64_t> input_tokens;  // uncached prompt tokens
  std::optional<std::int64_t> output_tokens;
  std::optional<std::int64_t> total_tokens;
  std::optional<std::int64_t> reasoning_tokens;
  std::optional<std::int64_t> cache_creation_tokens;
  std::optional<std::int64_t> cache_read_tokens;
  std::optional<std::int64_t> context_limit;
  [[nodiscard]] bool empty() const { return *this == Usage{}; }
  friend bool operator==(const Usage&, const Usage&) = default;
};

// A row to be inserted; the store gives it its id, revision and time.
struct NewMessage {
  Role role = Role::User;
  Visibility visibility = Visibility::Both;
  Content content;
  std::optional<UserId> created_by;
  std::optional<ModelConfigId> model_config;
  std::optional<std::string> reasoning_effort;
  Usage usage;
  bool compressed = false;
};

struct Message {
  std::int64_t id = 0;  // ascends within a chat
  ChatId chat_id;
  Role role = Role::User;
  Visibility visibility = Visibility::Both;
  Content content;
  std::optional<UserId> created_by;
  std::optional<ModelConfigId> model_config;
  std::optional<std::string> reasoning_effort;
  Usage usage;
  bool compressed = false;  // model-only: a boundary, stands for all before it in prompts (context.h)
  bool deleted = false;
  std::int64_t revision = 0;  // the snapshot in which it was last inserted or changed
  WallTime created_at{};
  // What decode_content refused; `content` is then empty. Readers go on, the turn that needs the row fails closed.
  std::optional<structured::Corruption> corruption;
};

struct QueuedMessage {
  std::int64_t id = 0;  // ascends within a chat
  ChatId chat_id;
  std::int64_t position = 0;
  Content content;
  std::optional<ModelConfigId> model_config;
  std::optional<std::string> reasoning_effort;
  UserId created_by;
  WallTime created_at{};
  std::optional<structured::Corruption> corruption;  // as in Message
};

}  // namespace assay::chat

#pragma once
// What the simulator looks at in a request, of whichever wire.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::sim {

struct OfferedTool {
  std::string name;
  std::string parameters;  // JSON text
};

enum class SimWire { ChatCompletions, Responses, Messages };

struct ChatRequest {
  SimWire wire = SimWire::ChatCompletions;
  std::string model;
  std::string system_text;
  std::string user_text;         // of the last user message
  std::string tool_result_text;  // of the messages behind the last user message
  bool has_tool_result = false;  // behind the last user message
  std::vector<OfferedTool> tools;
  bool is_streamed = false;
  bool wants_usage = false;
  bool wants_encrypted_reasoning = false;
  std::optional<std::int64_t> output_tokens_max;

  [[nodiscard]] const OfferedTool* tool(std::string_view name) const;
};

// The error is a sentence for the client.
[[nodiscard]] Result<ChatRequest, std::string> parse_chat_request(std::string body);
[[nodiscard]] Result<ChatRequest, std::string> parse_responses_request(std::string body);
[[nodiscard]] Result<ChatRequest, std::string> parse_messages_request(std::string body);

}  // namespace assay::sim

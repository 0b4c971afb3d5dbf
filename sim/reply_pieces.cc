#include "sim/reply_pieces.h"

#include <algorithm>

namespace assay::sim {
namespace {

constexpr std::size_t kBytesPerToken = 4;

}  // namespace

std::string_view take_piece(std::string_view& text, std::size_t characters) {
  std::size_t end = 0;
  for (std::size_t taken = 0; end < text.size() && (characters == 0 || taken < characters); ++taken) {
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  }
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(end);
  return piece;
}

std::string call_id(const ScriptedCall& call, const RenderingContext& context, std::size_t position) {
  return call.id.value_or("call_sim_" + std::to_string(context.number) + "_" + std::to_string(position));
}

std::string finish_reason_of(const Reply& reply) {
  return reply.finish_reason.value_or(reply.tool_calls.empty() ? "stop" : "tool_calls");
}

TokenCounts counted_tokens(const Reply& reply, const ChatRequest& request) {
  std::size_t output_bytes = reply.text.size() + reply.reasoning.size() + reply.refusal.size();
  for (const ScriptedCall& call : reply.tool_calls) output_bytes += call.name.size() + call.arguments.size();
  const std::size_t input_bytes =
      request.system_text.size() + request.user_text.size() + request.tool_result_text.size();
  TokenCounts counts;
  counts.input = static_cast<std::int64_t>(input_bytes / kBytesPerToken + 1);
  counts.output = static_cast<std::int64_t>(output_bytes / kBytesPerToken + 1);
  if (request.output_tokens_max) {
    counts.output =
        std::clamp<std::int64_t>(counts.output, 0, std::max<std::int64_t>(0, *request.output_tokens_max - 1));
  }
  return counts;
}

}  // namespace assay::sim

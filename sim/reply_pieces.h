#pragma once
// What the renderings of all wires share.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/chat_request.h"
#include "sim/script.h"

namespace assay::sim {

struct RenderingContext {
  std::string model;  // as answers name it
  std::int64_t created_s = 0;
  std::int64_t number = 0;  // of the request; makes ids unique
};

// One server-sent event; an empty name is not sent.
struct RenderedEvent {
  std::string name;
  std::string data;
};

// At most `characters` code points from the front, taken off `text`; all where it is 0.
std::string_view take_piece(std::string_view& text, std::size_t characters);

[[nodiscard]] std::string call_id(const ScriptedCall& call, const RenderingContext& context, std::size_t position);

// Chat Completions' word, which scripts use on every wire.
[[nodiscard]] std::string finish_reason_of(const Reply& reply);

struct TokenCounts {
  std::int64_t input = 0;
  std::int64_t output = 0;
};
// A guess by the length of the texts; below the request's cap, since an answer at its cap would be one that it has cut.
[[nodiscard]] TokenCounts counted_tokens(const Reply& reply, const ChatRequest& request);

}  // namespace assay::sim

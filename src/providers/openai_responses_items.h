#pragma once
// Output items of OpenAI Responses as they are kept between two calls: what the decoder writes down of an item that is
// not said by its part alone, and the item that the encoder sends back.
#include <optional>
#include <string>
#include <string_view>

#include "chat/message.h"
#include "json/document.h"
#include "json/writer.h"

namespace assay::providers {

// Empty where the part alone gives the same item back. Requires: `item` is an object.
[[nodiscard]] std::string state_of_message(json::Value item);
[[nodiscard]] std::string state_of_function_call(json::Value item);
// Reasoning, hosted calls and whatever this server does not know go back byte for byte.
[[nodiscard]] std::string state_of_opaque_item(json::Value item);

// What a hosted tool did, as people and other wires see it. Nothing: an item of another kind.
struct HostedParts {
  chat::ToolCallPart call;
  chat::ToolResultPart result;
};
[[nodiscard]] std::optional<HostedParts> hosted_parts(json::Value item);

// A message or a call is written with or without a state; of one that cannot be read only the part counts.
void write_message_item(const chat::TextPart& text, json::Writer& writer);
void write_function_call_item(const chat::ToolCallPart& call, json::Writer& writer);

// The item to send back; nothing where the provider would refuse it: reasoning that it did not encrypt refers to what
// it never stored, unless the text itself is there (open models).
[[nodiscard]] std::optional<std::string> replayable_item(std::string_view state);

}  // namespace assay::providers

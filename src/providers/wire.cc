#include "providers/wire.h"

#include <algorithm>

#include "base/check.h"
#include "providers/anthropic_decoder.h"
#include "providers/anthropic_encoder.h"
#include "providers/openai_chat_decoder.h"
#include "providers/openai_chat_encoder.h"
#include "providers/openai_responses_decoder.h"
#include "providers/openai_responses_encoder.h"

namespace assay::providers {
namespace {

constexpr std::string_view kUserAgent = "assay/0.1";

constexpr WireEntry kWires[] = {
    {.wire = Wire::OpenAiChat,
     .name = "openai_chat",
     .path = kChatCompletionsPath,
     .key_header = KeyHeader::Bearer,
     .encode = encode_openai_chat,
     .make_decoder = make_openai_chat_decoder,
     .headers = openai_headers},
    {.wire = Wire::OpenAiResponses,
     .name = "openai_responses",
     .path = kResponsesPath,
     .key_header = KeyHeader::Bearer,
     .encode = encode_openai_responses,
     .make_decoder = make_openai_responses_decoder,
     .headers = openai_headers},
    {.wire = Wire::Anthropic,
     .name = "anthropic",
     .path = kMessagesPath,
     .key_header = KeyHeader::XApiKey,
     .encode = encode_anthropic,
     .make_decoder = make_anthropic_decoder,
     .headers = anthropic_headers},
};

const WireEntry& entry_of(Wire wire) {
  const auto* entry =
      std::find_if(std::begin(kWires), std::end(kWires), [&](const WireEntry& known) { return known.wire == wire; });
  ASSAY_CHECK(entry != std::end(kWires), "every wire has its row");
  return *entry;
}

bool equals_ignoring_case(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace

std::span<const WireEntry> wires() { return kWires; }

std::optional<Wire> parse_wire(std::string_view name) {
  for (const WireEntry& entry : kWires) {
    if (entry.name == name) return entry.wire;
  }
  return std::nullopt;
}

std::string_view wire_name(Wire wire) { return entry_of(wire).name; }

std::string wire_names() {
  std::string names;
  for (const WireEntry& entry : kWires) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

std::vector<Header> request_headers(const ProviderConfig& provider, std::vector<Header> own) {
  const WireEntry& entry = entry_of(provider.wire);
  own.push_back({"User-Agent", std::string(kUserAgent)});
  if (!provider.key.empty()) {
    const KeyHeader form = provider.key_header == KeyHeader::ByWire ? entry.key_header : provider.key_header;
    own.push_back(form == KeyHeader::XApiKey ? Header{"x-api-key", provider.key.reveal()}
                                             : Header{"Authorization", "Bearer " + provider.key.reveal()});
  }
  for (Header& header : entry.headers(provider)) own.push_back(std::move(header));
  for (const Header& header : provider.headers) {
    std::erase_if(own, [&](const Header& ours) { return equals_ignoring_case(ours.name, header.name); });
    own.push_back(header);
  }
  return own;
}

WireRequest encode(const ProviderConfig& provider, const ModelSettings& model, const chat::Prompt& prompt) {
  return entry_of(provider.wire).encode(provider, model, prompt);
}

std::unique_ptr<Decoder> make_decoder(const ProviderConfig& provider, const ModelSettings& model,
                                      const chat::Prompt& prompt) {
  return entry_of(provider.wire).make_decoder(provider, model, prompt);
}

}  // namespace assay::providers

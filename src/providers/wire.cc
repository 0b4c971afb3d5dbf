#include "providers/wire.h"

#include <algorithm>

#include "json/limits.h"
#include "providers/openai_chat_decoder.h"
#include "providers/openai_chat_encoder.h"

namespace assay::providers {

WireRequest encode(const ProviderConfig& provider, const ModelSettings& model, const chat::Prompt& prompt) {
  switch (provider.wire) {
    case Wire::OpenAiChat:
      break;
  }
  return encode_openai_chat(provider, model, prompt);
}

std::unique_ptr<Decoder> make_decoder(const ProviderConfig& provider, const ModelSettings& model,
                                      const chat::Prompt& prompt) {
  std::vector<ToolCallAssembler::CappedTool> capped_tools;
  for (const chat::ToolDefinition& tool : prompt.tools) {
    if (tool.strict_off) capped_tools.push_back({tool.name, json::kArgumentsCaps.bytes_max});
  }
  switch (provider.wire) {
    case Wire::OpenAiChat:
      break;
  }
  return std::make_unique<OpenAiChatDecoder>(OpenAiChatDecoder::Options{.provider = provider.name,
                                                                        .output_tokens_max = model.output_tokens_max,
                                                                        .capped_tools = std::move(capped_tools)});
}

}  // namespace assay::providers

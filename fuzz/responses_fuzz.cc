// A provider's answer of the Responses wire, whole and cut into pieces: the same events and the same outcome.
//
// Bytes below kPhrases.size() stand for what the wire says again and again: no fuzzer finds names of that length.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "providers/openai_responses_decoder.h"

namespace chat = assay::chat;
namespace providers = assay::providers;

namespace {

using namespace std::string_view_literals;
constexpr std::array kPhrases = {
    "\n\ndata: {\"output_index\":0,\"type\":\"response."sv,
    "output_item.added\",\"item\":{\"id\":\"i\",\"type\":\""sv,
    "output_item.done\",\"item\":{\"id\":\"i\",\"type\":\""sv,
    "function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{}\"}}"sv,
    "message\",\"content\":[{\"type\":\"output_text\",\"text\":\""sv,
    "reasoning\",\"encrypted_content\":\"e\",\"summary\":[{\"text\":\""sv,
    "web_search_call\",\"status\":\"completed\"}}"sv,
    "output_text.delta\",\"delta\":\""sv,
    "refusal.delta\",\"delta\":\""sv,
    "\n"sv,
    "reasoning_summary_text.delta\",\"summary_index\":1,\"delta\":\""sv,
    "function_call_arguments.delta\",\"item_id\":\"i\",\"delta\":\"{}\"}"sv,
    "completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"id\":\"i\",\"type\":\""sv,
    "\r"sv,
    "incomplete\",\"response\":{\"status\":\"incomplete\",\"output\":[{\"type\":\""sv,
    "failed\",\"response\":{\"error\":{\"code\":\"server_error\"}}}"sv,
};

std::string spelled_out(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto phrase = static_cast<unsigned char>(byte);
    if (phrase < kPhrases.size()) {
      text += kPhrases[phrase];
    } else {
      text += byte;
    }
  }
  return text;
}

struct Seen {
  std::vector<providers::Event> events;
  std::optional<chat::GeneratedStep> step;
  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen read(std::string_view bytes, std::size_t piece) {
  providers::OpenAiResponsesDecoder::Options options;
  options.provider = "fuzz";
  providers::OpenAiResponsesDecoder decoder(std::move(options));
  Seen seen;
  const auto keep = [&](const providers::Event& event) { seen.events.push_back(event); };
  bool goes_on = true;
  for (std::size_t at = 0; goes_on && at < bytes.size(); at += piece)
    goes_on = decoder.feed(bytes.substr(at, piece), keep);
  auto step = decoder.finish(providers::BodyEnd::Clean, keep);
  if (step) seen.step = std::move(*step);
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string bytes = spelled_out({reinterpret_cast<const char*>(data) + 1, size - 1});
  const std::size_t piece = std::max<std::size_t>(data[0], 1);
  ASSAY_CHECK(read(bytes, bytes.size()) == read(bytes, piece), "where the bytes are cut changes nothing");
  return 0;
}

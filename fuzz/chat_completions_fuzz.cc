// A provider's answer, whole and cut into pieces: the same events and the same outcome.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "providers/openai_chat_decoder.h"

namespace chat = assay::chat;
namespace providers = assay::providers;

namespace {

struct Seen {
  std::vector<providers::Event> events;
  std::optional<chat::GeneratedStep> step;
  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen read(std::string_view bytes, std::size_t piece) {
  providers::OpenAiChatDecoder::Options options;
  options.provider = "fuzz";
  providers::OpenAiChatDecoder decoder(std::move(options));
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
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = std::max<std::size_t>(data[0], 1);
  ASSAY_CHECK(read(bytes, bytes.size()) == read(bytes, piece), "where the bytes are cut changes nothing");
  return 0;
}

#include "store/hints.h"

#include <fmt/format.h>

#include <charconv>

namespace assay::store {

std::vector<std::string> payloads_of(std::span<const ChatHint> hints) {
  std::vector<std::string> payloads;
  for (const ChatHint& hint : hints) {
    const std::string item =
        fmt::format("{}:{}{}", hint.chat.to_string(), hint.snapshot_version, hint.needs_owner ? "!" : "");
    if (payloads.empty() || payloads.back().size() + 1 + item.size() > kPayloadBytesMax) {
      payloads.push_back(item);
    } else {
      payloads.back() += ' ';
      payloads.back() += item;
    }
  }
  return payloads;
}

std::vector<ChatHint> hints_in(std::string_view payload) {
  std::vector<ChatHint> hints;
  while (!payload.empty()) {
    const std::string_view item = payload.substr(0, payload.find(' '));
    payload.remove_prefix(std::min(payload.size(), item.size() + 1));
    const auto chat = ChatId::parse(item.substr(0, item.find(':')));
    if (!chat || item.find(':') == std::string_view::npos) continue;
    std::string_view version = item.substr(item.find(':') + 1);
    ChatHint hint{*chat, 0, version.ends_with('!')};
    if (hint.needs_owner) version.remove_suffix(1);
    const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), hint.snapshot_version);
    if (error == std::errc() && end == version.data() + version.size()) hints.push_back(hint);
  }
  return hints;
}

}  // namespace assay::store

#include "providers/replay_state.h"

#include "json/writer.h"
#include "providers/wire.h"
#include "providers/wire_json.h"

namespace assay::providers {

std::string replay_state(Wire wire, std::string_view item) {
  json::Writer writer;
  writer.begin_object().member("wire", wire_name(wire)).raw_member("item", item).end_object();
  return writer.take();
}

std::optional<json::Document> replayed_item(Wire wire, std::string_view state) {
  if (state.empty()) return std::nullopt;
  const auto document = json::Document::parse(std::string(state), kWireCaps, json::Dialect::Lenient);
  if (!document || text_of(document->root(), "wire") != wire_name(wire)) return std::nullopt;
  const auto item = present(document->root(), "item");
  if (!item) return std::nullopt;
  auto copy = json::Document::parse(std::string(item->raw()), kWireCaps, json::Dialect::Lenient);
  if (!copy) return std::nullopt;
  return std::move(*copy);
}

}  // namespace assay::providers

// Declarations of a client's tools as they may be sent, and as they may come back from the store.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "chat/dynamic_tools.h"
#include "json/document.h"
#include "structured/response_format.h"

namespace chat = assay::chat;
namespace json = assay::json;

namespace {

void check_tool(const chat::ToolDefinition& tool) {
  ASSAY_CHECK(assay::structured::is_format_name(tool.name) && tool.client_executed, "a name that providers take");
  const auto schema = json::Document::parse(tool.parameters, json::kEnvelopeCaps);
  ASSAY_CHECK(schema.has_value(), "a schema is strict JSON");
  const auto type = schema->root().find("type");
  ASSAY_CHECK(type && type->is(json::Kind::String) && type->string() == "object", "of an object");
  ASSAY_CHECK(schema->root().find("properties").has_value(), "with its properties");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto stored = chat::decode_dynamic_tools(text)) {
    ASSAY_CHECK(chat::encode_dynamic_tools(*stored) == text, "only what the server wrote is read back");
  }
  const auto document = json::Document::parse(std::string(text), json::kBodyCaps, json::Dialect::Lenient);
  if (!document) return 0;
  const auto tools = chat::declared_tools(document->root());
  if (!tools) {
    ASSAY_CHECK(!tools.error().detail.empty(), "a fault says what");
    ASSAY_CHECK(tools.error().place.empty() || tools.error().place.starts_with('['), "and where");
    return 0;
  }
  for (const chat::ToolDefinition& tool : *tools) check_tool(tool);
  ASSAY_CHECK(chat::decode_dynamic_tools(chat::encode_dynamic_tools(*tools)) == *tools, "tools survive being stored");
  return 0;
}

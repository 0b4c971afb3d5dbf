#include "sim/chat_request.h"

#include <utility>

#include "json/document.h"
#include "json/limits.h"
#include "sim/request_json.h"

namespace assay::sim {
namespace {

using json::Kind;
using json::Value;

void read_message(Value message, ChatRequest& request) {
  const std::string role = text_member(message, "role");
  if (role == "system" || role == "developer") {
    request.system_text += content_text(message, "content") + "\n";
  } else if (role == "user") {
    request.user_text = content_text(message, "content");
    request.has_tool_result = false;
    request.tool_result_text.clear();
  } else if (role == "tool") {
    request.has_tool_result = true;
    request.tool_result_text += content_text(message, "content") + "\n";
  }
}

}  // namespace

const OfferedTool* ChatRequest::tool(std::string_view name) const {
  for (const OfferedTool& offered : tools) {
    if (offered.name == name) return &offered;
  }
  return nullptr;
}

Result<ChatRequest, std::string> parse_chat_request(std::string body) {
  const auto document = json::Document::parse(std::move(body), kRequestCaps, json::Dialect::Lenient);
  if (!document || !document->root().is(Kind::Object)) return fail(std::string("The body is no JSON object."));
  const Value root = document->root();
  ChatRequest request;
  request.model = text_member(root, "model");
  if (request.model.empty()) return fail(std::string("'model' is missing."));
  const auto messages = member(root, "messages", Kind::Array);
  if (!messages || messages->size() == 0) return fail(std::string("'messages' is missing or empty."));
  for (const Value message : messages->elements()) read_message(message, request);
  if (const auto tools = member(root, "tools", Kind::Array)) {
    for (const Value tool : tools->elements()) {
      const auto function = member(tool, "function", Kind::Object);
      if (!function) return fail(std::string("A tool has no 'function'."));
      const auto parameters = member(*function, "parameters", Kind::Object);
      request.tools.push_back({text_member(*function, "name"), parameters ? std::string(parameters->raw()) : "{}"});
    }
  }
  request.is_streamed = is_true(root, "stream");
  if (const auto options = member(root, "stream_options", Kind::Object)) {
    request.wants_usage = is_true(*options, "include_usage");
  }
  for (const std::string_view key : {"max_completion_tokens", "max_tokens"}) {
    const auto cap = member(root, key, Kind::Number);
    if (cap && !request.output_tokens_max) request.output_tokens_max = json::to_int64(*cap);
  }
  return request;
}

}  // namespace assay::sim

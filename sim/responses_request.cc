#include <set>
#include <utility>

#include "json/document.h"
#include "json/limits.h"
#include "sim/chat_request.h"
#include "sim/request_json.h"

namespace assay::sim {
namespace {

using json::Kind;
using json::Value;

// What the vendor refuses as well, since a client that sends it would lose the chat.
class ItemCheck {
 public:
  std::optional<std::string> take(Value item, const std::string& type) {
    if (is_reasoning_open_ && (type == "message" || type == "function_call_output") && is_input(item, type)) {
      return "Item of type 'reasoning' was provided without its required following item.";
    }
    is_reasoning_open_ = type == "reasoning";
    if (type == "reasoning" && text_member(item, "encrypted_content").empty()) {
      return "Item '" + text_member(item, "id") + "' not found. Items are not persisted when `store` is set to false.";
    }
    if (type == "function_call") open_calls_.insert(text_member(item, "call_id"));
    if (type != "function_call_output") return std::nullopt;
    const std::string call_id = text_member(item, "call_id");
    if (open_calls_.erase(call_id) > 0) return std::nullopt;
    return "No tool call found for function call output with call_id " + call_id + ".";
  }
  [[nodiscard]] std::optional<std::string> at_end() const {
    if (is_reasoning_open_) return "Item of type 'reasoning' was provided without its required following item.";
    if (open_calls_.empty()) return std::nullopt;
    return "No tool output found for function call " + *open_calls_.begin() + ".";
  }

 private:
  static bool is_input(Value item, const std::string& type) {
    return type == "function_call_output" || text_member(item, "role") != "assistant";
  }

  std::multiset<std::string> open_calls_;
  bool is_reasoning_open_ = false;
};

std::optional<std::string> read_item(Value item, ItemCheck& check, ChatRequest& request) {
  const std::string role = text_member(item, "role");
  std::string type = text_member(item, "type");
  if (type.empty() && !role.empty()) type = "message";
  if (auto fault = check.take(item, type)) return fault;
  if (type == "message" && (role == "system" || role == "developer")) {
    request.system_text += content_text(item, "content") + "\n";
  } else if (type == "message" && role == "user") {
    request.user_text = content_text(item, "content");
    request.has_tool_result = false;
    request.tool_result_text.clear();
  } else if (type == "function_call_output") {
    request.has_tool_result = true;
    request.tool_result_text += content_text(item, "output") + "\n";
  } else if (type.empty()) {
    return "An item of 'input' has neither 'type' nor 'role'.";
  }
  return std::nullopt;
}

std::optional<std::string> read_input(Value root, ChatRequest& request) {
  if (const auto text = member(root, "input", Kind::String)) {
    request.user_text = text->string();
    return std::nullopt;
  }
  const auto input = member(root, "input", Kind::Array);
  if (!input || input->size() == 0) return "'input' is missing or empty.";
  ItemCheck check;
  for (const Value item : input->elements()) {
    if (auto fault = read_item(item, check, request)) return fault;
  }
  return check.at_end();
}

}  // namespace

Result<ChatRequest, std::string> parse_responses_request(std::string body) {
  const auto document = json::Document::parse(std::move(body), kRequestCaps, json::Dialect::Lenient);
  if (!document || !document->root().is(Kind::Object)) return fail(std::string("The body is no JSON object."));
  const Value root = document->root();
  ChatRequest request;
  request.wire = SimWire::Responses;
  request.model = text_member(root, "model");
  if (request.model.empty()) return fail(std::string("'model' is missing."));
  request.system_text = text_member(root, "instructions");
  if (auto fault = read_input(root, request)) return fail(std::move(*fault));
  if (const auto tools = member(root, "tools", Kind::Array)) {
    for (const Value tool : tools->elements()) {
      if (text_member(tool, "type") != "function") continue;
      const std::string name = text_member(tool, "name");
      if (name.empty()) return fail(std::string("A function tool has no 'name'."));
      const auto parameters = member(tool, "parameters", Kind::Object);
      request.tools.push_back({name, parameters ? std::string(parameters->raw()) : "{}"});
    }
  }
  request.is_streamed = is_true(root, "stream");
  request.wants_usage = true;
  if (const auto include = member(root, "include", Kind::Array)) {
    for (const Value wanted : include->elements()) {
      const bool is_it = wanted.is(Kind::String) && wanted.string() == "reasoning.encrypted_content";
      request.wants_encrypted_reasoning = request.wants_encrypted_reasoning || is_it;
    }
  }
  if (const auto cap = member(root, "max_output_tokens", Kind::Number))
    request.output_tokens_max = json::to_int64(*cap);
  return request;
}

}  // namespace assay::sim

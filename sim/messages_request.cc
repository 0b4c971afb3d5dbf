// Anthropic Messages: the request, refused where the vendor refuses it, so that a client's mistakes show: calls without
// results, thinking that was changed, blank texts.
#include <set>
#include <utility>

#include "json/decimal.h"
#include "json/document.h"
#include "sim/chat_request.h"
#include "sim/messages_rendering.h"
#include "sim/request_json.h"

namespace assay::sim {
namespace {

using json::Kind;
using json::Value;

class RequestReader {
 public:
  explicit RequestReader(ChatRequest& request) : request_(request) {}

  void read_message(Value message, bool is_last) {
    const std::string role = text_member(message, "role");
    if (role != "user" && role != "assistant") return complain("A message has no role.");
    if (is_first_ && role != "user") return complain("The first message must have the role user.");
    is_first_ = false;
    blocks_.clear();
    if (const auto content = member(message, "content", Kind::Array)) {
      for (const Value block : content->elements()) blocks_.push_back(block);
      if (blocks_.empty()) complain("A message has no content.");
    } else if (!member(message, "content", Kind::String)) {
      return complain("A message has no content.");
    }
    if (role == "user") {
      read_user(text_member(message, "content"));
    } else {
      read_assistant(is_last);
    }
  }

  // Every call of the last message is answered by what follows it.
  void finish() {
    if (!open_calls_.empty()) complain("A tool_use has no tool_result in the next message.");
  }

  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  void complain(std::string_view what) {
    if (fault_.empty()) fault_ = what;
  }

  void read_user(std::string text) {
    std::string results;
    bool has_results = false;
    bool has_others = false;
    for (const Value block : blocks_) {
      const std::string type = text_member(block, "type");
      if (type == "tool_result") {
        if (has_others) complain("tool_result blocks must come first.");
        if (open_calls_.erase(text_member(block, "tool_use_id")) == 0) complain("A tool_result answers no tool_use.");
        has_results = true;
        results += text_member(block, "content") + "\n";
        continue;
      }
      has_others = true;
      if (type == "text") add_text(text, text_member(block, "text"));
    }
    finish();
    if (!text.empty() || has_others) {
      request_.user_text = text;
      request_.has_tool_result = false;
      request_.tool_result_text.clear();
    } else if (has_results) {
      request_.has_tool_result = true;
      request_.tool_result_text += results;
    }
  }

  void add_text(std::string& text, const std::string& more) {
    if (more.find_first_not_of(" \t\r\n") == std::string::npos) complain("Text blocks must not be blank.");
    text += (text.empty() ? "" : "\n\n") + more;
  }

  void read_assistant(bool is_last) {
    finish();
    std::set<std::string> open_searches;
    for (const Value block : blocks_) {
      const std::string type = text_member(block, "type");
      if (type == "thinking" && text_member(block, "signature") != thinking_signature(text_member(block, "thinking"))) {
        complain("Invalid signature in a thinking block.");
      }
      if (type == "tool_use" && !ids_.insert(text_member(block, "id")).second) complain("tool_use ids must be unique.");
      if (type == "tool_use" && !member(block, "input", Kind::Object)) complain("A tool_use has no input.");
      if (type == "tool_use") open_calls_.insert(text_member(block, "id"));
      if (type == "server_tool_use") open_searches.insert(text_member(block, "id"));
      if (type == "web_search_tool_result") open_searches.erase(text_member(block, "tool_use_id"));
    }
    if (!open_searches.empty() && !is_last) complain("A server_tool_use has no result.");
  }

  ChatRequest& request_;
  std::vector<Value> blocks_;
  std::set<std::string> ids_;
  std::set<std::string> open_calls_;
  std::string fault_;
  bool is_first_ = true;
};

}  // namespace

Result<ChatRequest, std::string> parse_messages_request(std::string body) {
  const auto document = json::Document::parse(std::move(body), kRequestCaps, json::Dialect::Lenient);
  if (!document || !document->root().is(Kind::Object)) return fail(std::string("The body is no JSON object."));
  const Value root = document->root();
  ChatRequest request;
  request.wire = SimWire::Messages;
  request.wants_usage = true;
  request.model = text_member(root, "model");
  if (request.model.empty()) return fail(std::string("'model' is missing."));
  const auto cap = member(root, "max_tokens", Kind::Number);
  if (!cap) return fail(std::string("'max_tokens' is missing."));
  request.output_tokens_max = json::to_int64(*cap);
  request.system_text = text_member(root, "system");
  if (const auto blocks = member(root, "system", Kind::Array)) {
    for (const Value block : blocks->elements()) request.system_text += text_member(block, "text") + "\n";
  }
  const auto messages = member(root, "messages", Kind::Array);
  if (!messages || messages->size() == 0) return fail(std::string("'messages' is missing or empty."));
  RequestReader reader(request);
  std::size_t rest = messages->size();
  for (const Value message : messages->elements()) reader.read_message(message, --rest == 0);
  reader.finish();
  if (!reader.fault().empty()) return fail(reader.fault());
  if (const auto tools = member(root, "tools", Kind::Array)) {
    for (const Value tool : tools->elements()) {
      const auto schema = member(tool, "input_schema", Kind::Object);
      const bool is_hosted = !schema && !text_member(tool, "type").empty();
      if (!is_hosted && (!schema || text_member(*schema, "type") != "object")) {
        return fail(std::string("A tool's input_schema has not the type object."));
      }
      request.tools.push_back({text_member(tool, "name"), schema ? std::string(schema->raw()) : "{}"});
    }
  }
  request.is_streamed = is_true(root, "stream");
  return request;
}

}  // namespace assay::sim

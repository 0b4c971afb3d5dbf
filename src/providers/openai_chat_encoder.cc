#include "providers/openai_chat_encoder.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include "json/document.h"
#include "json/limits.h"
#include "json/writer.h"

namespace assay::providers {
namespace {

constexpr std::string_view kUserAgent = "assay/0.1";
constexpr std::string_view kParagraph = "\n\n";
// Some servers refuse an empty text; the model should know that nothing came back.
constexpr std::string_view kEmptyResult = "(empty result)";
// Keeps the wire legal where history lacks a result.
constexpr std::string_view kMissingResult = "Error: the tool call has no result.";

void append_paragraph(std::string& text, std::string_view paragraph) {
  if (paragraph.empty()) return;
  if (!text.empty()) text += kParagraph;
  text += paragraph;
}

std::string user_text(const chat::Content& content) {
  std::string text;
  for (const chat::Part& part : content) {
    if (const auto* plain = std::get_if<chat::TextPart>(&part)) append_paragraph(text, plain->text);
  }
  return text;
}

// The wire has text results only and no error flag: a JSON string is sent as its text, an error says so in words.
std::string result_text(const chat::ToolResultPart& result) {
  std::string text = result.result;
  const auto document = json::Document::parse(text, json::kEnvelopeCaps, json::Dialect::Lenient);
  if (document && document->root().is(json::Kind::String)) text = document->root().string();
  if (text.empty()) text = kEmptyResult;
  return result.is_error ? "Error: " + text : text;
}

struct Result {
  const chat::ToolResultPart* part = nullptr;
  bool is_sent = false;
};

class MessageWriter {
 public:
  MessageWriter(const ProviderConfig& provider, const chat::Prompt& prompt, json::Writer& writer)
      : provider_(provider), prompt_(prompt), writer_(writer) {
    for (const chat::PromptRow& row : prompt.rows) {
      for (const chat::Part& part : row.content) {
        const auto* result = std::get_if<chat::ToolResultPart>(&part);
        if (result != nullptr && !result->provider_executed) results_.push_back(Result{.part = result});
      }
    }
  }

  void write() {
    writer_.begin_array();
    write_system();
    for (const chat::PromptRow& row : prompt_.rows) {
      if (row.role == chat::Role::User) append_paragraph(user_text_, user_text(row.content));
      if (row.role == chat::Role::Assistant) write_assistant(row.content);
    }
    write_user();
    writer_.end_array();
  }

 private:
  void write_system() {
    std::string text;
    for (const std::string& paragraph : prompt_.system) append_paragraph(text, paragraph);
    if (text.empty()) return;
    writer_.begin_object();
    writer_.member("role", provider_.system_role == SystemRole::Developer ? "developer" : "system");
    writer_.member("content", text).end_object();
  }

  void write_user() {
    const std::string text = std::exchange(user_text_, {});
    if (text.empty()) return;
    writer_.begin_object().member("role", "user").member("content", text).end_object();
  }

  void write_assistant(const chat::Content& content) {
    std::string text;
    std::string reasoning;
    std::vector<const chat::ToolCallPart*> calls;
    for (const chat::Part& part : content) {
      if (const auto* plain = std::get_if<chat::TextPart>(&part)) append_paragraph(text, plain->text);
      if (const auto* thought = std::get_if<chat::ReasoningPart>(&part)) append_paragraph(reasoning, thought->text);
      const auto* call = std::get_if<chat::ToolCallPart>(&part);
      if (call != nullptr && !call->provider_executed) calls.push_back(call);
    }
    if (text.empty() && calls.empty()) return;
    write_user();
    writer_.begin_object().member("role", "assistant");
    if (text.empty()) {
      writer_.key("content").null();
    } else {
      writer_.member("content", text);
    }
    write_reasoning(reasoning, !calls.empty());
    write_calls(calls);
    writer_.end_object();
    for (const chat::ToolCallPart* call : calls) write_result(*call);
  }

  // Servers that want it on steps with calls want it there even when it is empty.
  void write_reasoning(const std::string& reasoning, bool has_calls) {
    if (provider_.reasoning_replay == ReasoningReplay::None || (reasoning.empty() && !has_calls)) return;
    const bool is_content = provider_.reasoning_replay == ReasoningReplay::ReasoningContent;
    writer_.member(is_content ? "reasoning_content" : "reasoning", reasoning);
  }

  void write_calls(std::span<const chat::ToolCallPart* const> calls) {
    if (calls.empty()) return;
    writer_.key("tool_calls").begin_array();
    for (const chat::ToolCallPart* call : calls) {
      writer_.begin_object().member("id", call->id).member("type", "function");
      writer_.key("function").begin_object().member("name", call->name);
      writer_.member("arguments", call->arguments.empty() ? std::string_view("{}") : std::string_view(call->arguments));
      writer_.end_object().end_object();
    }
    writer_.end_array();
  }

  // Ids may repeat in a long history: the first result that no earlier call took.
  void write_result(const chat::ToolCallPart& call) {
    const auto found = std::find_if(results_.begin(), results_.end(), [&](const Result& result) {
      return !result.is_sent && result.part->call_id == call.id;
    });
    writer_.begin_object().member("role", "tool").member("tool_call_id", call.id);
    if (found == results_.end()) {
      writer_.member("content", kMissingResult);
    } else {
      found->is_sent = true;
      writer_.member("content", result_text(*found->part));
    }
    writer_.end_object();
  }

  const ProviderConfig& provider_;
  const chat::Prompt& prompt_;
  json::Writer& writer_;
  std::vector<Result> results_;
  std::string user_text_;
};

void write_tools(const ProviderConfig& provider, const ModelSettings& model, const chat::Prompt& prompt,
                 json::Writer& writer) {
  if (prompt.tools.empty()) return;
  writer.key("tools").begin_array();
  for (const chat::ToolDefinition& tool : prompt.tools) {
    writer.begin_object().member("type", "function").key("function").begin_object();
    writer.member("name", tool.name);
    if (!tool.description.empty()) writer.member("description", tool.description);
    writer.raw_member("parameters", tool.parameters);
    if (tool.strict_off && provider.accepts_strict) writer.member("strict", false);
    writer.end_object().end_object();
  }
  writer.end_array();
  writer.member("tool_choice", "auto");
  if (model.parallel_tool_calls) writer.member("parallel_tool_calls", *model.parallel_tool_calls);
}

bool equals_ignoring_case(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace

std::vector<Header> openai_headers(const ProviderConfig& provider, std::vector<Header> own) {
  own.push_back({"User-Agent", std::string(kUserAgent)});
  if (!provider.key.empty()) own.push_back({"Authorization", "Bearer " + provider.key.reveal()});
  if (!provider.organization.empty()) own.push_back({"OpenAI-Organization", provider.organization});
  if (!provider.project.empty()) own.push_back({"OpenAI-Project", provider.project});
  for (const Header& header : provider.headers) {
    std::erase_if(own, [&](const Header& ours) { return equals_ignoring_case(ours.name, header.name); });
    own.push_back(header);
  }
  return own;
}

WireRequest encode_openai_chat(const ProviderConfig& provider, const ModelSettings& model, const chat::Prompt& prompt) {
  json::Writer writer;
  writer.begin_object().member("model", model.model);
  writer.key("messages");
  MessageWriter(provider, prompt, writer).write();
  write_tools(provider, model, prompt, writer);
  if (model.output_tokens_max) {
    const bool is_new = provider.token_cap_field == TokenCapField::MaxCompletionTokens;
    writer.member(is_new ? "max_completion_tokens" : "max_tokens", *model.output_tokens_max);
  }
  if (model.reasoning_effort) writer.member("reasoning_effort", *model.reasoning_effort);
  writer.member("stream", true);
  if (provider.accepts_stream_usage) {
    writer.key("stream_options").begin_object().member("include_usage", true).end_object();
  }
  writer.end_object();

  WireRequest request;
  request.path = kChatCompletionsPath;
  request.headers = openai_headers(provider, {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}});
  request.body = writer.take();
  return request;
}

}  // namespace assay::providers

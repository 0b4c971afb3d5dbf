#include "providers/openai_chat_encoder.h"

#include <span>
#include <utility>
#include <variant>

#include "json/writer.h"
#include "providers/prompt_reading.h"

namespace assay::providers {
namespace {

class MessageWriter {
 public:
  MessageWriter(const ProviderConfig& provider, const chat::Prompt& prompt, json::Writer& writer)
      : provider_(provider), prompt_(prompt), writer_(writer), results_(prompt) {}

  void write() {
    writer_.begin_array();
    write_system();
    for (const chat::PromptRow& row : prompt_.rows) {
      if (row.role == chat::Role::User) take_user(row.content);
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

  // Files that a model can look at stand behind the text.
  void take_user(const chat::PromptContent& content) {
    for (const chat::PromptPart& part : content) {
      if (const auto* text = std::get_if<chat::TextPart>(&part)) append_paragraph(user_text_, text->text);
      const auto* file = std::get_if<chat::FilePart>(&part);
      if (file == nullptr) continue;
      const FileKind kind = kind_of(*file);
      if (kind == FileKind::Image || kind == FileKind::Pdf) {
        user_files_.push_back(file);
      } else {
        append_paragraph(user_text_, file_text(*file));
      }
    }
  }

  void write_user() {
    const std::string text = std::exchange(user_text_, {});
    const std::vector<const chat::FilePart*> files = std::exchange(user_files_, {});
    if (text.empty() && files.empty()) return;
    writer_.begin_object().member("role", "user").key("content");
    if (files.empty()) {
      writer_.string(text);
    } else {
      writer_.begin_array();
      if (!text.empty()) writer_.begin_object().member("type", "text").member("text", text).end_object();
      for (const chat::FilePart* file : files) write_file(*file);
      writer_.end_array();
    }
    writer_.end_object();
  }

  void write_file(const chat::FilePart& file) {
    writer_.begin_object();
    if (kind_of(file) == FileKind::Image) {
      writer_.member("type", "image_url").key("image_url").begin_object().member("url", data_url(file)).end_object();
    } else {
      writer_.member("type", "file").key("file").begin_object();
      writer_.member("filename", file.name.empty() ? std::string_view("file.pdf") : std::string_view(file.name));
      writer_.member("file_data", data_url(file)).end_object();
    }
    writer_.end_object();
  }

  void write_assistant(const chat::PromptContent& content) {
    std::string text;
    std::string reasoning;
    std::vector<const chat::ToolCallPart*> calls;
    for (const chat::PromptPart& part : content) {
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

  // The wire has text results only and no error flag: an error says so in words.
  void write_result(const chat::ToolCallPart& call) {
    const chat::ToolResultPart* result = results_.take(call);
    std::string text(kMissingResult);
    if (result != nullptr) text = (result->is_error ? "Error: " : "") + result_text(*result);
    writer_.begin_object().member("role", "tool").member("tool_call_id", call.id).member("content", text).end_object();
  }

  const ProviderConfig& provider_;
  const chat::Prompt& prompt_;
  json::Writer& writer_;
  ResultFinder results_;
  std::string user_text_;
  std::vector<const chat::FilePart*> user_files_;
};

void write_tools(const ProviderConfig& provider, const ModelSettings& model, const chat::Prompt& prompt,
                 json::Writer& writer) {
  if (prompt.tools.empty() && model.hosted_tools.empty()) return;
  writer.key("tools").begin_array();
  for (const chat::ToolDefinition& tool : prompt.tools) {
    writer.begin_object().member("type", "function").key("function").begin_object();
    writer.member("name", tool.name);
    if (!tool.description.empty()) writer.member("description", tool.description);
    writer.raw_member("parameters", tool.parameters);
    if (tool.strict_off && provider.accepts_strict) writer.member("strict", false);
    writer.end_object().end_object();
  }
  for (const HostedTool& tool : model.hosted_tools) writer.raw(tool.definition);
  writer.end_array();
  writer.member("tool_choice", "auto");
  if (model.parallel_tool_calls) writer.member("parallel_tool_calls", *model.parallel_tool_calls);
}

}  // namespace

std::vector<Header> openai_headers(const ProviderConfig& provider) {
  std::vector<Header> headers;
  if (!provider.organization.empty()) headers.push_back({"OpenAI-Organization", provider.organization});
  if (!provider.project.empty()) headers.push_back({"OpenAI-Project", provider.project});
  return headers;
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
  if (provider.accepts_cache_key && !prompt.cache_key.empty()) writer.member("prompt_cache_key", prompt.cache_key);
  writer.member("stream", true);
  if (provider.accepts_stream_usage) {
    writer.key("stream_options").begin_object().member("include_usage", true).end_object();
  }
  writer.end_object();

  WireRequest request;
  request.path = kChatCompletionsPath;
  request.headers = request_headers(provider, {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}});
  request.body = writer.take();
  return request;
}

}  // namespace assay::providers

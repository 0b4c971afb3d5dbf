#include "providers/openai_responses_encoder.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "json/writer.h"
#include "providers/openai_chat_encoder.h"
#include "providers/openai_responses_items.h"
#include "providers/prompt_reading.h"

namespace assay::providers {
namespace {

class InputWriter {
 public:
  InputWriter(const chat::Prompt& prompt, json::Writer& writer) : prompt_(prompt), writer_(writer), results_(prompt) {}

  void write() {
    writer_.begin_array();
    for (const chat::PromptRow& row : prompt_.rows) {
      if (row.role == chat::Role::User) write_user(row.content);
      if (row.role == chat::Role::Assistant) write_assistant(row.content);
    }
    writer_.end_array();
  }

 private:
  // Files that a model can look at stand behind the text.
  void write_user(const chat::PromptContent& content) {
    std::string text;
    std::vector<const chat::FilePart*> files;
    for (const chat::PromptPart& part : content) {
      if (const auto* plain = std::get_if<chat::TextPart>(&part)) append_paragraph(text, plain->text);
      const auto* file = std::get_if<chat::FilePart>(&part);
      if (file == nullptr) continue;
      const FileKind kind = kind_of(*file);
      if (kind == FileKind::Image || kind == FileKind::Pdf) {
        files.push_back(file);
      } else {
        append_paragraph(text, file_text(*file));
      }
    }
    if (text.empty() && files.empty()) return;
    writer_.begin_object().member("role", "user").key("content");
    if (files.empty()) {
      writer_.string(text);
    } else {
      writer_.begin_array();
      if (!text.empty()) writer_.begin_object().member("type", "input_text").member("text", text).end_object();
      for (const chat::FilePart* file : files) write_file(*file);
      writer_.end_array();
    }
    writer_.end_object();
  }

  void write_file(const chat::FilePart& file) {
    writer_.begin_object();
    if (kind_of(file) == FileKind::Image) {
      writer_.member("type", "input_image").member("detail", "auto").member("image_url", data_url(file));
    } else {
      writer_.member("type", "input_file");
      writer_.member("filename", file.name.empty() ? std::string_view("file.pdf") : std::string_view(file.name));
      writer_.member("file_data", data_url(file));
    }
    writer_.end_object();
  }

  void write_assistant(const chat::PromptContent& content) {
    std::vector<const chat::ToolCallPart*> calls;
    std::vector<std::string> reasoning;  // waits for the item that it led to: the provider refuses it without one
    const auto write_reasoning = [&] {
      for (const std::string& item : reasoning) writer_.raw(item);
      reasoning.clear();
    };
    for (const chat::PromptPart& part : content) {
      if (const auto* thought = std::get_if<chat::ReasoningPart>(&part)) {
        if (auto item = replayable_item(thought->provider_state)) reasoning.push_back(std::move(*item));
      } else if (const auto* text = std::get_if<chat::TextPart>(&part); text != nullptr && !text->text.empty()) {
        write_reasoning();
        write_message_item(*text, writer_);
      } else if (const auto* call = std::get_if<chat::ToolCallPart>(&part)) {
        if (call->provider_executed) {
          if (const auto item = replayable_item(call->provider_state)) {
            write_reasoning();
            writer_.raw(*item);
          }
          continue;
        }
        write_reasoning();
        write_function_call_item(*call, writer_);
        calls.push_back(call);
      } else if (const auto* opaque = std::get_if<chat::ProviderItemPart>(&part)) {
        if (const auto item = replayable_item(opaque->provider_state)) {
          write_reasoning();
          writer_.raw(*item);
        }
      }
    }
    for (const chat::ToolCallPart* call : calls) write_result(*call);
  }

  // The wire has no error flag: an error says so in words.
  void write_result(const chat::ToolCallPart& call) {
    const chat::ToolResultPart* result = results_.take(call);
    std::string text(kMissingResult);
    if (result != nullptr) text = (result->is_error ? "Error: " : "") + result_text(*result);
    writer_.begin_object().member("type", "function_call_output").member("call_id", call.id).member("output", text);
    writer_.end_object();
  }

  const chat::Prompt& prompt_;
  json::Writer& writer_;
  ResultFinder results_;
};

// Strict is off for every tool, in so many words: where the switch is absent the provider turns schemas into strict
// ones where it can, and makes every property required. The other wires leave ordinary tools alone by default.
void write_tools(const ProviderConfig& provider, const ModelSettings& model, const chat::Prompt& prompt,
                 json::Writer& writer) {
  if (prompt.tools.empty() && model.hosted_tools.empty()) return;
  writer.key("tools").begin_array();
  for (const chat::ToolDefinition& tool : prompt.tools) {
    writer.begin_object().member("type", "function").member("name", tool.name);
    if (!tool.description.empty()) writer.member("description", tool.description);
    writer.raw_member("parameters", tool.parameters);
    if (provider.accepts_strict) writer.member("strict", false);
    writer.end_object();
  }
  for (const HostedTool& tool : model.hosted_tools) writer.raw(tool.definition);
  writer.end_array();
  writer.member("tool_choice", "auto");
  if (model.parallel_tool_calls) writer.member("parallel_tool_calls", *model.parallel_tool_calls);
}

void write_reasoning_settings(const ModelSettings& model, json::Writer& writer) {
  if (!model.reasoning_effort && !model.reasoning_summary) return;
  writer.key("reasoning").begin_object();
  if (model.reasoning_effort) writer.member("effort", *model.reasoning_effort);
  if (model.reasoning_summary) writer.member("summary", *model.reasoning_summary);
  writer.end_object();
}

}  // namespace

WireRequest encode_openai_responses(const ProviderConfig& provider, const ModelSettings& model,
                                    const chat::Prompt& prompt) {
  json::Writer writer;
  writer.begin_object().member("model", model.model);
  std::string instructions;
  for (const std::string& paragraph : prompt.system) append_paragraph(instructions, paragraph);
  if (!instructions.empty()) writer.member("instructions", instructions);
  writer.key("input");
  InputWriter(prompt, writer).write();
  write_tools(provider, model, prompt, writer);
  if (model.output_tokens_max) writer.member("max_output_tokens", *model.output_tokens_max);
  write_reasoning_settings(model, writer);
  if (model.encrypted_reasoning) writer.key("include").begin_array().string("reasoning.encrypted_content").end_array();
  if (provider.accepts_cache_key && !prompt.cache_key.empty()) writer.member("prompt_cache_key", prompt.cache_key);
  writer.member("store", false).member("stream", true).end_object();

  WireRequest request;
  request.path = kResponsesPath;
  request.headers = request_headers(provider, {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}});
  request.body = writer.take();
  return request;
}

}  // namespace assay::providers

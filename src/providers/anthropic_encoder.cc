#include "providers/anthropic_encoder.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "json/document.h"
#include "json/writer.h"
#include "providers/prompt_reading.h"
#include "providers/replay_state.h"
#include "providers/wire_json.h"

namespace assay::providers {
namespace {

using chat::PromptPart;

// A conversation may begin with what a summary left of an answer; the wire wants a user first.
constexpr std::string_view kOpening = "(The conversation goes on.)";

// The text of one JSON object without its closing brace, so that a mark can still be added.
using OpenBlock = std::string;

OpenBlock open_block(std::string object) {
  object.resize(object.rfind('}'));
  return object;
}

struct Message {
  bool is_user = false;
  std::vector<OpenBlock> blocks;
};

bool is_blank(std::string_view text) { return trim(text).empty(); }

OpenBlock text_block(std::string_view text) {
  json::Writer writer;
  writer.begin_object().member("type", "text").member("text", text).end_object();
  return open_block(writer.take());
}

// Titles take few characters.
std::string title_of(std::string_view name) {
  std::string title;
  for (const char c : name) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ' ' ||
                          c == '-' || c == '(' || c == ')' || c == '[' || c == ']';
    if (is_plain || (!title.empty() && title.back() != ' ')) title += is_plain ? c : ' ';
  }
  return std::string(trim(title));
}

OpenBlock file_block(const chat::FilePart& file) {
  const FileKind kind = kind_of(file);
  if (kind == FileKind::Other) return text_block(file_text(file));
  json::Writer writer;
  writer.begin_object().member("type", kind == FileKind::Image ? "image" : "document").key("source").begin_object();
  if (kind == FileKind::Text) {
    writer.member("type", "text").member("media_type", "text/plain").member("data", file.bytes);
  } else {
    writer.member("type", "base64").member("media_type", file.media_type).member("data", base64(file.bytes));
  }
  writer.end_object();
  const std::string title = title_of(file.name);
  if (kind != FileKind::Image && !title.empty()) writer.member("title", title);
  writer.end_object();
  return open_block(writer.take());
}

bool is_legal_id(std::string_view id) {
  return !id.empty() && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  });
}

class MessageBuilder {
 public:
  explicit MessageBuilder(const chat::Prompt& prompt) : prompt_(prompt), results_(prompt) {
    for (std::size_t row = 0; row < prompt.rows.size(); ++row) {
      if (prompt.rows[row].role == chat::Role::Assistant) last_answer_ = row;
      for (const PromptPart& part : prompt.rows[row].content) {
        const auto* result = std::get_if<chat::ToolResultPart>(&part);
        if (result != nullptr && result->provider_executed) hosted_results_.insert(result->call_id);
      }
    }
  }

  std::vector<Message> build() {
    for (std::size_t row = 0; row < prompt_.rows.size(); ++row) {
      const chat::PromptRow& shown = prompt_.rows[row];
      if (shown.role == chat::Role::User) add_user(shown.content);
      if (shown.role == chat::Role::Assistant) add_assistant(shown.content, is_tail(row));
    }
    if (!messages_.empty() && !messages_.front().is_user) {
      messages_.insert(messages_.begin(), Message{.is_user = true, .blocks = {text_block(kOpening)}});
    }
    return std::move(messages_);
  }

 private:
  // Whether nothing follows that the provider did not write itself: a paused answer.
  [[nodiscard]] bool is_tail(std::size_t row) const { return row == last_answer_ && row + 1 == prompt_.rows.size(); }

  void add(bool is_user, OpenBlock block) {
    if (messages_.empty() || messages_.back().is_user != is_user) {
      messages_.push_back(Message{.is_user = is_user, .blocks = {}});
    }
    messages_.back().blocks.push_back(std::move(block));
  }

  void add_user(const chat::PromptContent& content) {
    for (const PromptPart& part : content) {
      if (const auto* text = std::get_if<chat::TextPart>(&part); text != nullptr && !is_blank(text->text)) {
        add(true, text_block(text->text));
      }
      if (const auto* file = std::get_if<chat::FilePart>(&part)) add(true, file_block(*file));
    }
  }

  void add_assistant(const chat::PromptContent& content, bool is_last) {
    std::vector<std::pair<const chat::ToolCallPart*, std::string>> calls;
    for (const PromptPart& part : content) {
      if (const auto* text = std::get_if<chat::TextPart>(&part)) add_text(*text);
      if (const auto* thought = std::get_if<chat::ReasoningPart>(&part)) add_thinking(*thought);
      if (const auto* item = std::get_if<chat::ProviderItemPart>(&part)) add_item(item->provider_state);
      if (const auto* result = std::get_if<chat::ToolResultPart>(&part)) {
        if (hosted_calls_.contains(result->call_id)) add_item(result->provider_state);
      }
      const auto* call = std::get_if<chat::ToolCallPart>(&part);
      if (call == nullptr) continue;
      if (call->provider_executed) {
        // Without its result it may stand only where the provider goes on from it.
        const bool is_answered = hosted_results_.contains(call->id);
        if ((is_answered || is_last) && add_item(call->provider_state)) hosted_calls_.insert(call->id);
      } else {
        calls.emplace_back(call, add_call(*call));
      }
    }
    for (const auto& [call, id] : calls) add_result(*call, id);
  }

  void add_text(const chat::TextPart& part) {
    if (is_blank(part.text)) return;
    json::Writer writer;
    writer.begin_object().member("type", "text").member("text", part.text);
    const auto citations = replayed_item(Wire::Anthropic, part.provider_state);
    if (citations && citations->root().is(json::Kind::Array)) writer.raw_member("citations", citations->root().raw());
    writer.end_object();
    add(false, open_block(writer.take()));
  }

  void add_thinking(const chat::ReasoningPart& part) {
    const auto state = replayed_item(Wire::Anthropic, part.provider_state);
    const auto signature = state ? present(state->root(), "signature", json::Kind::String) : std::nullopt;
    if (!signature) return;
    json::Writer writer;
    writer.begin_object().member("type", "thinking").member("thinking", part.text);
    writer.raw_member("signature", signature->raw()).end_object();
    add(false, open_block(writer.take()));
  }

  bool add_item(const std::string& provider_state) {
    const auto item = replayed_item(Wire::Anthropic, provider_state);
    if (!item || !item->root().is(json::Kind::Object) || item->root().size() == 0) return false;
    add(false, open_block(std::string(item->root().raw())));
    return true;
  }

  // The id under which the call went out.
  std::string add_call(const chat::ToolCallPart& call) {
    ++calls_;
    std::string id = is_legal_id(call.id) ? call.id : "call-" + std::to_string(calls_);
    while (!ids_.insert(id).second) id += "-" + std::to_string(calls_);
    json::Writer writer;
    writer.begin_object().member("type", "tool_use").member("id", id).member("name", call.name);
    const auto input = json::Document::parse(call.arguments, kWireCaps, json::Dialect::Lenient);
    const bool is_object = input && input->root().is(json::Kind::Object);
    writer.raw_member("input", is_object ? std::string_view(call.arguments) : std::string_view("{}")).end_object();
    add(false, open_block(writer.take()));
    return id;
  }

  void add_result(const chat::ToolCallPart& call, std::string_view id) {
    const chat::ToolResultPart* result = results_.take(call);
    json::Writer writer;
    writer.begin_object().member("type", "tool_result").member("tool_use_id", id);
    writer.member("content", result == nullptr ? std::string(kMissingResult) : result_text(*result));
    if (result == nullptr || result->is_error) writer.member("is_error", true);
    writer.end_object();
    add(true, open_block(writer.take()));
  }

  const chat::Prompt& prompt_;
  ResultFinder results_;
  std::vector<Message> messages_;
  std::set<std::string> ids_;
  std::set<std::string> hosted_results_;
  std::set<std::string> hosted_calls_;  // those that were sent
  std::size_t last_answer_ = 0;
  std::size_t calls_ = 0;
};

class RequestWriter {
 public:
  RequestWriter(const ProviderConfig& provider, const ModelSettings& model, const chat::Prompt& prompt)
      : provider_(provider), model_(model), prompt_(prompt) {}

  std::string write() {
    writer_.begin_object().member("model", model_.model).member("max_tokens", anthropic_tokens_max(model_));
    write_system();
    write_messages();
    write_tools();
    write_thinking();
    writer_.member("stream", true).end_object();
    return writer_.take();
  }

 private:
  // The marks end the prefixes that the next call of the chat will repeat: tools with the system texts, and all of it.
  void write_block(OpenBlock block, bool is_marked) {
    if (is_marked && provider_.prompt_cache != PromptCache::Off) {
      block += R"(,"cache_control":{"type":"ephemeral")";
      if (provider_.prompt_cache == PromptCache::OneHour) block += R"(,"ttl":"1h")";
      block += "}";
    }
    writer_.raw(block + "}");
  }

  void write_system() {
    std::vector<OpenBlock> blocks;
    for (const std::string& text : prompt_.system) {
      if (!is_blank(text)) blocks.push_back(text_block(text));
    }
    if (blocks.empty()) return;
    has_system_ = true;
    writer_.key("system").begin_array();
    for (std::size_t i = 0; i < blocks.size(); ++i) write_block(std::move(blocks[i]), i + 1 == blocks.size());
    writer_.end_array();
  }

  void write_messages() {
    std::vector<Message> messages = MessageBuilder(prompt_).build();
    const auto last_user = std::find_if(messages.rbegin(), messages.rend(), [](const Message& m) { return m.is_user; });
    writer_.key("messages").begin_array();
    for (Message& message : messages) {
      const bool is_marked = last_user != messages.rend() && &message == &*last_user;
      writer_.begin_object().member("role", message.is_user ? "user" : "assistant").key("content").begin_array();
      for (std::size_t i = 0; i < message.blocks.size(); ++i) {
        write_block(std::move(message.blocks[i]), is_marked && i + 1 == message.blocks.size());
      }
      writer_.end_array().end_object();
    }
    writer_.end_array();
  }

  // Strict mode is something that a tool of this wire asks for: none does.
  OpenBlock tool_block(const chat::ToolDefinition& tool) const {
    json::Writer writer;
    writer.begin_object().member("name", tool.name);
    if (!tool.description.empty()) writer.member("description", tool.description);
    writer.key("input_schema");
    const std::string& schema = tool.parameters_2020_12.empty() ? tool.parameters : tool.parameters_2020_12;
    const auto parsed = json::Document::parse(schema, kWireCaps, json::Dialect::Lenient);
    if (parsed && parsed->root().is(json::Kind::Object) && !parsed->root().find("type")) {
      // The wire wants the type said.
      writer.begin_object().member("type", "object");
      for (const json::Member& member : parsed->root().members()) writer.raw_member(member.key, member.value.raw());
      writer.end_object();
    } else {
      writer.raw(schema);
    }
    writer.end_object();
    return open_block(writer.take());
  }

  void write_tools() {
    if (prompt_.tools.empty() && model_.hosted_tools.empty()) return;
    std::vector<OpenBlock> tools;
    for (const HostedTool& tool : model_.hosted_tools) tools.push_back(open_block(tool.definition));
    for (const chat::ToolDefinition& tool : prompt_.tools) tools.push_back(tool_block(tool));
    writer_.key("tools").begin_array();
    for (std::size_t i = 0; i < tools.size(); ++i) {
      write_block(std::move(tools[i]), !has_system_ && i + 1 == tools.size());
    }
    writer_.end_array();
    writer_.key("tool_choice").begin_object().member("type", "auto");
    if (model_.parallel_tool_calls) writer_.member("disable_parallel_tool_use", !*model_.parallel_tool_calls);
    writer_.end_object();
  }

  void write_thinking() {
    const Thinking& thinking = model_.thinking;
    if (thinking.mode != ThinkingMode::Unset) {
      writer_.key("thinking").begin_object().member("type", type_of(thinking.mode));
      if (thinking.mode == ThinkingMode::Enabled) writer_.member("budget_tokens", thinking.budget_tokens.value_or(0));
      if (!thinking.display.empty()) writer_.member("display", thinking.display);
      writer_.end_object();
    }
    if (!model_.reasoning_effort) return;
    // The weakest that the wire knows.
    const bool is_weaker = *model_.reasoning_effort == "none" || *model_.reasoning_effort == "minimal";
    const std::string_view effort = is_weaker ? std::string_view("low") : std::string_view(*model_.reasoning_effort);
    writer_.key("output_config").begin_object().member("effort", effort).end_object();
  }

  static std::string_view type_of(ThinkingMode mode) {
    switch (mode) {
      case ThinkingMode::Enabled:
        return "enabled";
      case ThinkingMode::Disabled:
        return "disabled";
      case ThinkingMode::BetweenTools:
        return "between_tools";
      case ThinkingMode::Adaptive:
      case ThinkingMode::Unset:
        break;
    }
    return "adaptive";
  }

  const ProviderConfig& provider_;
  const ModelSettings& model_;
  const chat::Prompt& prompt_;
  json::Writer writer_;
  bool has_system_ = false;
};

}  // namespace

std::int64_t anthropic_tokens_max(const ModelSettings& model) {
  return model.output_tokens_max.value_or(kAnthropicTokensDefault + model.thinking.budget_tokens.value_or(0));
}

WireRequest encode_anthropic(const ProviderConfig& provider, const ModelSettings& model, const chat::Prompt& prompt) {
  WireRequest request;
  request.path = kMessagesPath;
  request.headers = request_headers(provider, {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}});
  request.body = RequestWriter(provider, model, prompt).write();
  return request;
}

std::vector<Header> anthropic_headers(const ProviderConfig& provider) {
  std::vector<Header> headers;
  const bool is_default = provider.api_version.empty();
  headers.push_back({"anthropic-version", is_default ? std::string(kAnthropicVersion) : provider.api_version});
  std::string features;
  for (const std::string& feature : provider.beta) features += (features.empty() ? "" : ",") + feature;
  if (!features.empty()) headers.push_back({"anthropic-beta", std::move(features)});
  return headers;
}

}  // namespace assay::providers

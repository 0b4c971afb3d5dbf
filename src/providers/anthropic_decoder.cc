#include "providers/anthropic_decoder.h"

#include <algorithm>
#include <utility>

#include "json/compact.h"
#include "json/writer.h"
#include "providers/acceptance.h"
#include "providers/anthropic_encoder.h"
#include "providers/replay_state.h"
#include "providers/wire_json.h"

namespace assay::providers {
namespace {

using structured::Finish;

constexpr std::string_view kResultSuffix = "_tool_result";
constexpr std::string_view kErrorSuffix = "_error";

// Calls that the provider executes itself are shown once they are whole.
const EventCallback kShowNothing = [](const Event&) {};

// `object` with another `input`.
std::string with_input(json::Value object, std::string_view input) {
  json::Writer writer;
  writer.begin_object();
  for (const json::Member& member : object.members()) {
    if (member.key != "input") writer.raw_member(member.key, member.value.raw());
  }
  writer.raw_member("input", input).end_object();
  return writer.take();
}

}  // namespace

std::unique_ptr<Decoder> make_anthropic_decoder(const ProviderConfig& provider, const ModelSettings& model,
                                                const chat::Prompt& prompt) {
  return std::make_unique<AnthropicDecoder>(AnthropicDecoder::Options{.provider = provider.name,
                                                                      .output_tokens_max = anthropic_tokens_max(model),
                                                                      .capped_tools = capped_tools_of(prompt)});
}

void AnthropicDecoder::end_parts(const EventCallback& on_event) {
  for (Block& block : blocks_) {
    if (!failure_) add_text(block, block.joiner.finish(), on_event);
  }
  if (failure_) return;
  if (const auto fault = calls_.finish(kShowNothing)) fail_with(*fault);
}

chat::GeneratedStep AnthropicDecoder::take_step() {
  chat::GeneratedStep step;
  step.finish = judge_finish();
  step.usage = usage_;
  if (step.finish == Finish::Refusal) {
    if (!explanation_.empty()) step.parts.emplace_back(chat::TextPart{.text = std::move(explanation_)});
  } else {
    step.parts = take_parts();
  }
  return step;
}

void AnthropicDecoder::read_event(const SseEvent& event, json::Value root, const EventCallback& on_event) {
  if (!root.is(json::Kind::Object)) return fail_with_unreadable(event);
  const std::string_view type = text_of(root, "type");
  read_typed(type.empty() ? std::string_view(event.type) : type, root, on_event);
}

// Gateways that speak several wires send it; the answer ends with `message_stop` alone.
void AnthropicDecoder::read_done(const EventCallback& on_event) { on_event(KeepAlive{}); }

void AnthropicDecoder::read_typed(std::string_view type, json::Value event, const EventCallback& on_event) {
  const auto error = present(event, "error");
  if (type == "error" || error) {
    fail_with(failure_from_error_value(options_.provider, error.value_or(event)));
  } else if (type == "message_start") {
    const auto message = present(event, "message");
    const auto usage = message ? present(*message, "usage") : std::nullopt;
    if (usage) read_usage(*usage, on_event);
  } else if (type == "content_block_start") {
    const auto index = count_of(event, "index");
    const auto content = present(event, "content_block", json::Kind::Object);
    if (!index || !content) return fail_with(ProtocolFault::Malformed);
    start_block(*index, *content, on_event);
  } else if (type == "content_block_delta") {
    read_delta(event, on_event);
  } else if (type == "content_block_stop") {
    if (Block* block = block_of(event)) close_block(*block, on_event);
  } else if (type == "message_delta") {
    read_message_delta(event, on_event);
  } else if (type == "message_stop") {
    is_done_ = true;
  } else {
    on_event(KeepAlive{});  // ping, and whatever is new
  }
}

void AnthropicDecoder::read_whole(json::Value root, const EventCallback& on_event) {
  if (!root.is(json::Kind::Object)) return fail_with(ProtocolFault::Malformed);
  if (const auto error = present(root, "error"); error || text_of(root, "type") == "error") {
    return fail_with(failure_from_error_value(options_.provider, error.value_or(root)));
  }
  const auto content = present(root, "content", json::Kind::Array);
  if (!content) return fail_with(ProtocolFault::Malformed);
  std::int64_t index = 0;
  for (const json::Value block : content->elements()) {
    if (!block.is(json::Kind::Object)) return fail_with(ProtocolFault::Malformed);
    start_block(index++, block, on_event);
    if (failure_) return;
    close_block(blocks_.back(), on_event);
  }
  read_stop(root);
  if (const auto usage = present(root, "usage")) read_usage(*usage, on_event);
  is_done_ = true;
}

void AnthropicDecoder::start_block(std::int64_t index, json::Value content, const EventCallback& on_event) {
  if (blocks_.size() == kContentBlocksMax) return fail_with(ProtocolFault::TooLarge);
  if (!positions_.emplace(index, blocks_.size()).second) return fail_with(ProtocolFault::Malformed);
  const std::string_view type = text_of(content, "type");
  const auto begin = [&](Block::Kind kind) -> Block& { return blocks_.emplace_back(kind); };
  const auto begin_text = [&](Block::Kind kind, std::string_view key) {
    Block& block = begin(kind);
    if (const auto text = present(content, key, json::Kind::String)) {
      add_text(block, block.joiner.append(text->raw()), on_event);
    }
    block.signature = text_of(content, "signature");
    if (const auto citations = present(content, "citations", json::Kind::Array)) {
      for (const json::Value citation : citations->elements()) add_citation(block, citation, on_event);
    }
  };
  if (type == "text") {
    begin_text(Block::Kind::Text, "text");
  } else if (type == "thinking") {
    begin_text(Block::Kind::Thinking, "thinking");
  } else if (type == "tool_use") {
    start_call(begin(Block::Kind::Call), index, content, on_event);
  } else if (type == "server_tool_use" || type == "mcp_tool_use") {
    Block& block = begin(Block::Kind::HostedCall);
    block.raw = content.raw();
    start_call(block, index, content, kShowNothing);
    hosted_names_[block.hosted_id] = block.hosted_name;
  } else if (type.ends_with(kResultSuffix)) {
    start_hosted_result(begin(Block::Kind::HostedResult), content);
  } else {
    Block& block = begin(Block::Kind::Item);
    block.raw = content.raw();
    if (!is_within_text_budget(block.raw.size())) return;
  }
}

void AnthropicDecoder::start_call(Block& block, std::int64_t index, json::Value content,
                                  const EventCallback& on_event) {
  block.hosted_id = text_of(content, "id");
  block.hosted_name = trim(text_of(content, "name"));
  if (block.hosted_name.empty()) return fail_with(ProtocolFault::UnroutableCall);
  block.call = calls_.size();
  // `input` is a placeholder as a rule; some servers send it whole here.
  const auto input = present(content, "input", json::Kind::Object);
  if (input && input->size() > 0) block.initial_arguments = input->raw();
  const ToolCallFragment head{.index = index, .id = block.hosted_id, .name = block.hosted_name, .arguments = {}};
  if (const auto fault = calls_.add(head, on_event)) return fail_with(*fault);
  if (calls_.size() == block.call) fail_with(ProtocolFault::Malformed);
}

void AnthropicDecoder::start_hosted_result(Block& block, json::Value content) {
  block.raw = content.raw();
  if (!is_within_text_budget(block.raw.size())) return;
  block.hosted_id = text_of(content, "tool_use_id");
  const auto name = hosted_names_.find(block.hosted_id);
  const std::string_view type = text_of(content, "type");
  block.hosted_name = name == hosted_names_.end() ? type.substr(0, type.size() - kResultSuffix.size()) : name->second;
  const auto results = present(content, "content", json::Kind::Array);
  if (!results) return;
  for (const json::Value result : results->elements()) {
    if (text_of(result, "type") == "web_search_result") add_source(block, result);
  }
}

AnthropicDecoder::Block* AnthropicDecoder::block_of(json::Value event) {
  const auto index = count_of(event, "index");
  const auto position = index ? positions_.find(*index) : positions_.end();
  if (position == positions_.end() || blocks_[position->second].is_closed) {
    fail_with(ProtocolFault::Malformed);
    return nullptr;
  }
  return &blocks_[position->second];
}

void AnthropicDecoder::read_delta(json::Value event, const EventCallback& on_event) {
  Block* block = block_of(event);
  if (block == nullptr) return;
  const auto delta = present(event, "delta", json::Kind::Object);
  if (!delta) return fail_with(ProtocolFault::Malformed);
  const std::string_view type = text_of(*delta, "type");
  const auto literal = [&](std::string_view key) -> std::string_view {
    const auto text = present(*delta, key, json::Kind::String);
    return text ? text->raw() : std::string_view();
  };
  const bool is_text = block->kind == Block::Kind::Text;
  const bool is_thinking = block->kind == Block::Kind::Thinking;
  const bool is_call = block->kind == Block::Kind::Call || block->kind == Block::Kind::HostedCall;
  if (is_text && type == "text_delta") {
    if (const auto text = literal("text"); !text.empty()) add_text(*block, block->joiner.append(text), on_event);
  } else if (is_thinking && type == "thinking_delta") {
    if (const auto text = literal("thinking"); !text.empty()) add_text(*block, block->joiner.append(text), on_event);
  } else if (is_thinking && type == "signature_delta") {
    const std::string_view signature = text_of(*delta, "signature");
    if (is_within_text_budget(signature.size())) block->signature += signature;
    on_event(KeepAlive{});
  } else if (is_text && type == "citations_delta") {
    if (const auto citation = present(*delta, "citation")) add_citation(*block, *citation, on_event);
  } else if (is_call && type == "input_json_delta") {
    add_arguments(*block, *count_of(event, "index"), literal("partial_json"),
                  block->kind == Block::Kind::Call ? on_event : kShowNothing);
  } else {
    block->is_understood = false;
    on_event(KeepAlive{});
  }
}

void AnthropicDecoder::add_arguments(Block& block, std::int64_t index, std::string_view literal,
                                     const EventCallback& on_event) {
  if (literal.size() <= 2) return;  // an empty string
  block.has_arguments = true;
  const ToolCallFragment fragment{.index = index, .id = {}, .name = {}, .arguments = literal};
  if (const auto fault = calls_.add(fragment, on_event)) fail_with(*fault);
}

void AnthropicDecoder::close_block(Block& block, const EventCallback& on_event) {
  add_text(block, block.joiner.finish(), on_event);
  block.is_closed = true;
  if (block.kind == Block::Kind::Call || block.kind == Block::Kind::HostedCall) {
    const EventCallback& show = block.kind == Block::Kind::Call ? on_event : kShowNothing;
    if (!block.has_arguments) {
      const std::int64_t index = std::find_if(positions_.begin(), positions_.end(), [&](const auto& known) {
                                   return &blocks_[known.second] == &block;
                                 })->first;
      ToolCallFragment whole{.index = index, .id = {}, .name = {}, .arguments = block.initial_arguments};
      if (whole.arguments.empty()) whole.arguments = "{}";
      if (const auto fault = calls_.add(whole, show)) return fail_with(*fault);
    }
  }
  if (block.kind == Block::Kind::HostedCall) {
    chat::ToolCallPart shown;
    shown.id = block.hosted_id;
    shown.name = block.hosted_name;
    shown.arguments = calls_.arguments(block.call).value_or("{}");
    shown.provider_executed = true;
    on_event(HostedCall{std::move(shown)});
  }
  if (block.kind == Block::Kind::HostedResult) {
    chat::ToolResultPart shown = hosted_result(block);
    shown.provider_state.clear();
    on_event(HostedResult{std::move(shown)});
    for (const chat::SourcePart& source : block.sources) on_event(SourceSeen{source});
  }
}

void AnthropicDecoder::read_message_delta(json::Value event, const EventCallback& on_event) {
  if (const auto delta = present(event, "delta")) read_stop(*delta);
  if (const auto usage = present(event, "usage")) read_usage(*usage, on_event);
}

void AnthropicDecoder::read_stop(json::Value holder) {
  if (const auto details = present(holder, "stop_details")) {
    is_qualified_ = true;
    explanation_ = text_of(*details, "explanation").substr(0, kErrorTextBytesMax);
  }
  const auto reason = present(holder, "stop_reason", json::Kind::String);
  if (!reason) return;
  const Finish finish = finish_of_reason(Wire::Anthropic, reason->string());
  finish_ = finish_ ? more_conservative(*finish_, finish) : finish;
}

// The counts are totals, and those that are not repeated still hold. What was read from or written into the cache is no
// part of `input_tokens` here; thinking is a part of the output.
void AnthropicDecoder::read_usage(json::Value usage, const EventCallback& on_event) {
  const auto overwrite = [](std::optional<std::int64_t>& count, std::optional<std::int64_t> seen) {
    if (seen) count = seen;
  };
  const chat::Usage before = usage_;
  overwrite(usage_.input_tokens, count_of(usage, "input_tokens"));
  overwrite(usage_.output_tokens, count_of(usage, "output_tokens"));
  overwrite(usage_.cache_creation_tokens, count_of(usage, "cache_creation_input_tokens"));
  overwrite(usage_.cache_read_tokens, count_of(usage, "cache_read_input_tokens"));
  if (const auto details = present(usage, "output_tokens_details")) {
    overwrite(usage_.reasoning_tokens, count_of(*details, "thinking_tokens"));
  }
  if (usage_.input_tokens || usage_.output_tokens) {
    usage_.total_tokens = usage_.input_tokens.value_or(0) + usage_.cache_creation_tokens.value_or(0) +
                          usage_.cache_read_tokens.value_or(0) + usage_.output_tokens.value_or(0);
  }
  if (usage_ != before) on_event(UsageSeen{.usage = usage_});
}

void AnthropicDecoder::add_text(Block& block, std::string text, const EventCallback& on_event) {
  if (text.empty() || !is_within_text_budget(text.size())) return;
  block.text += text;
  if (block.kind == Block::Kind::Thinking) {
    on_event(ReasoningDelta{.text = std::move(text)});
  } else {
    on_event(TextDelta{.text = std::move(text)});
  }
}

void AnthropicDecoder::add_citation(Block& block, json::Value citation, const EventCallback& on_event) {
  if (!is_within_text_budget(citation.raw().size())) return;
  if (!block.citations.empty()) block.citations += ',';
  block.citations += citation.raw();
  const std::size_t before = block.sources.size();
  add_source(block, citation);
  for (std::size_t i = before; i < block.sources.size(); ++i) on_event(SourceSeen{block.sources[i]});
}

// Each address once.
void AnthropicDecoder::add_source(Block& block, json::Value source) {
  chat::SourcePart part;
  part.url = text_of(source, "url");
  part.title = text_of(source, "title");
  if (part.url.empty() || !is_within_text_budget(part.url.size() + part.title.size())) return;
  if (!source_urls_.insert(part.url).second) return;
  part.id = "source-" + std::to_string(source_urls_.size());
  block.sources.push_back(std::move(part));
}

bool AnthropicDecoder::is_within_text_budget(std::size_t bytes) {
  text_bytes_ += bytes;
  if (text_bytes_ <= kTextBytesMax) return true;
  fail_with(ProtocolFault::TooLarge);
  return false;
}

std::optional<Failure> AnthropicDecoder::failure_at_end(BodyEnd end) const {
  if (is_done_ && finish_) return std::nullopt;
  return failure_without_terminal(end, !blocks_.empty() || finish_);
}

Finish AnthropicDecoder::judge_finish() const {
  AnswerEnd end;
  end.said = finish_.value_or(Finish::Unknown);
  end.is_qualified = is_qualified_;
  for (const Block& block : blocks_) {
    if (block.kind == Block::Kind::Call) ++end.calls;
    if (block.kind == Block::Kind::Call || block.kind == Block::Kind::HostedCall) {
      end.calls_are_whole = end.calls_are_whole && block.is_closed;
    }
  }
  end.output_tokens = usage_.output_tokens;
  end.output_tokens_max = options_.output_tokens_max;
  return judge(Wire::Anthropic, end);
}

chat::GeneratedToolCall AnthropicDecoder::take_call(Block& block) {
  const bool is_whole = block.is_closed && block.is_understood && calls_.is_complete(block.call);
  chat::GeneratedToolCall call = calls_.take(block.call).value_or(chat::GeneratedToolCall{});
  if (block.kind == Block::Kind::Call) return call;
  call.provider_executed = true;
  const auto head = json::Document::parse(block.raw, kWireCaps, json::Dialect::Lenient);
  if (head && is_whole && !call.over_cap)
    call.provider_state = replay_state(Wire::Anthropic, with_input(head->root(), call.arguments));
  return call;
}

chat::ToolResultPart AnthropicDecoder::hosted_result(const Block& block) const {
  chat::ToolResultPart part;
  part.call_id = block.hosted_id;
  part.name = block.hosted_name;
  part.result = "null";
  part.provider_executed = true;
  if (block.is_closed && block.is_understood) part.provider_state = replay_state(Wire::Anthropic, block.raw);
  const auto document = json::Document::parse(block.raw, kWireCaps, json::Dialect::Lenient);
  const auto content = document ? present(document->root(), "content") : std::nullopt;
  if (!content) return part;
  part.result = json::compact(*content);
  const auto is_error = present(document->root(), "is_error", json::Kind::Boolean);
  part.is_error = text_of(*content, "type").ends_with(kErrorSuffix) || (is_error && is_error->boolean());
  return part;
}

std::vector<chat::GeneratedPart> AnthropicDecoder::take_parts() {
  std::vector<chat::GeneratedPart> parts;
  for (Block& block : blocks_) {
    const bool is_replayable = block.is_closed && block.is_understood;
    std::string state;
    switch (block.kind) {
      case Block::Kind::Text:
        if (is_replayable && !block.citations.empty()) {
          state = replay_state(Wire::Anthropic, "[" + block.citations + "]");
        }
        parts.emplace_back(chat::TextPart{.text = std::move(block.text), .provider_state = std::move(state)});
        break;
      case Block::Kind::Thinking:
        if (is_replayable && !block.signature.empty()) {
          json::Writer item;
          item.begin_object().member("signature", block.signature).end_object();
          state = replay_state(Wire::Anthropic, item.take());
        }
        parts.emplace_back(chat::ReasoningPart{.text = std::move(block.text), .provider_state = std::move(state)});
        break;
      case Block::Kind::Call:
      case Block::Kind::HostedCall:
        parts.emplace_back(take_call(block));
        break;
      case Block::Kind::HostedResult:
        parts.emplace_back(hosted_result(block));
        break;
      case Block::Kind::Item:
        if (is_replayable) {
          parts.emplace_back(chat::ProviderItemPart{.provider_state = replay_state(Wire::Anthropic, block.raw)});
        }
        break;
    }
    for (chat::SourcePart& source : block.sources) parts.emplace_back(std::move(source));
  }
  return parts;
}

}  // namespace assay::providers

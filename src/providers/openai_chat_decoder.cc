#include "providers/openai_chat_decoder.h"

#include <algorithm>
#include <utility>

#include "providers/acceptance.h"
#include "providers/wire_json.h"

namespace assay::providers {
namespace {

using structured::Finish;

bool is_given_up(std::string_view reason) { return reason == "error" || reason == "abort" || reason == "cancel"; }

bool is_error_object(json::Value error) {
  if (error.is(json::Kind::String)) return !error.string().empty();
  return error.is(json::Kind::Object) || error.is(json::Kind::Array);
}

}  // namespace

std::unique_ptr<Decoder> make_openai_chat_decoder(const ProviderConfig& provider, const ModelSettings& model,
                                                  const chat::Prompt& prompt) {
  return std::make_unique<OpenAiChatDecoder>(OpenAiChatDecoder::Options{.provider = provider.name,
                                                                        .output_tokens_max = model.output_tokens_max,
                                                                        .capped_tools = capped_tools_of(prompt)});
}

void OpenAiChatDecoder::end_parts(const EventCallback& on_event) {
  flush_texts(on_event);
  if (failure_) return;
  if (const auto fault = calls_.finish(on_event)) fail_with(*fault);
}

chat::GeneratedStep OpenAiChatDecoder::take_step() {
  chat::GeneratedStep step;
  step.finish = judge_finish();
  step.parts = take_parts();
  step.usage = usage_;
  return step;
}

void OpenAiChatDecoder::read_event(const SseEvent& event, json::Value root, const EventCallback& on_event) {
  if (event.type == "error") {
    fail_with(failure_from_error_value(options_.provider, root));
  } else {
    read_chunk(root, on_event);
  }
}

void OpenAiChatDecoder::read_whole(json::Value root, const EventCallback& on_event) {
  if (root.is(json::Kind::Array) && root.size() > 0) root = *root.elements().begin();
  read_chunk(root, on_event);
  is_done_ = true;
}

void OpenAiChatDecoder::read_chunk(json::Value chunk, const EventCallback& on_event) {
  if (!chunk.is(json::Kind::Object)) {
    fail_with(ProtocolFault::Malformed);
    return;
  }
  const auto choices = present(chunk, "choices");
  const auto error = present(chunk, "error");
  if (error && is_error_object(*error)) {
    fail_with(failure_from_error_value(options_.provider, *error));
    return;
  }
  if (text_of(chunk, "object") == "error" || (!choices && present(chunk, "detail"))) {
    fail_with(failure_from_error_value(options_.provider, chunk));
    return;
  }
  if (const auto usage = present(chunk, "usage")) read_usage(*usage, on_event);
  if (!choices) return;
  if (!choices->is(json::Kind::Array)) {
    fail_with(ProtocolFault::Malformed);
    return;
  }
  for (const json::Value choice : choices->elements()) {
    if (failure_) return;
    read_choice(choice, on_event);
  }
}

void OpenAiChatDecoder::read_choice(json::Value choice, const EventCallback& on_event) {
  if (!choice.is(json::Kind::Object)) {
    fail_with(ProtocolFault::Malformed);
    return;
  }
  if (count_of(choice, "index").value_or(0) != 0) return;  // of several answers only the first was asked for
  if (const auto error = present(choice, "error"); error && is_error_object(*error)) {
    fail_with(failure_from_error_value(options_.provider, *error));
    return;
  }
  auto message = present(choice, "delta");
  if (!message) message = present(choice, "message");
  if (message) read_message(*message, on_event);
  if (failure_) return;
  if (const std::string_view reason = text_of(choice, "finish_reason"); !reason.empty()) read_finish_reason(reason);
}

void OpenAiChatDecoder::read_message(json::Value message, const EventCallback& on_event) {
  if (!message.is(json::Kind::Object)) {
    fail_with(ProtocolFault::Malformed);
    return;
  }
  for (const std::string_view key : {"reasoning_content", "reasoning"}) {
    const auto reasoning = present(message, key);
    if (!reasoning || !reasoning->is(json::Kind::String) || reasoning->string().empty()) continue;
    add_split(think_splitter_.finish(), on_event);
    add_reasoning(reasoning_joiner_.append(reasoning->raw()), on_event);
    break;
  }
  if (const auto content = present(message, "content")) read_content(*content, on_event);
  if (const auto refusal = present(message, "refusal"); refusal && refusal->is(json::Kind::String)) {
    is_refused_ = is_refused_ || !refusal->string().empty();
    add_text(refusal_joiner_.append(refusal->raw()), on_event);
  }
  if (const auto calls = present(message, "tool_calls"); calls && calls->is(json::Kind::Array)) {
    for (const json::Value call : calls->elements()) {
      if (!failure_) read_tool_call(call, on_event);
    }
  }
  // The form before `tool_calls`: the call itself, one per answer.
  if (const auto call = present(message, "function_call"); call && !failure_) read_tool_call(*call, on_event);
}

// A string, or an array of parts with texts.
void OpenAiChatDecoder::read_content(json::Value content, const EventCallback& on_event) {
  const auto read_text = [&](json::Value text) {
    add_split(think_splitter_.feed(text_joiner_.append(text.raw())), on_event);
  };
  if (content.is(json::Kind::String)) read_text(content);
  if (!content.is(json::Kind::Array)) return;
  for (const json::Value part : content.elements()) {
    if (failure_) return;
    if (part.is(json::Kind::String)) read_text(part);
    const auto text = present(part, "text");
    if (text && text->is(json::Kind::String)) read_text(*text);
  }
}

void OpenAiChatDecoder::read_tool_call(json::Value call, const EventCallback& on_event) {
  if (!call.is(json::Kind::Object)) {
    fail_with(ProtocolFault::Malformed);
    return;
  }
  const json::Value function = present(call, "function").value_or(call);
  ToolCallFragment fragment;
  fragment.index = count_of(call, "index");
  fragment.id = trim(text_of(call, "id"));
  fragment.name = trim(text_of(function, "name"));
  if (const auto arguments = present(function, "arguments")) fragment.arguments = arguments->raw();
  const std::size_t before = calls_.size();
  const auto fault = calls_.add(fragment, on_event);
  if (fault) {
    fail_with(*fault);
  } else if (calls_.size() > before) {
    slots_.push_back(Slot{.kind = Slot::Kind::Call, .call = before, .text = {}});
  }
}

void OpenAiChatDecoder::read_finish_reason(std::string_view reason) {
  is_aborted_ = is_aborted_ || is_given_up(reason);
  const Finish finish = finish_of_reason(Wire::OpenAiChat, reason);
  finish_ = finish_ ? more_conservative(*finish_, finish) : finish;
}

// Cached and reasoning tokens are parts of the prompt's and the completion's here.
void OpenAiChatDecoder::read_usage(json::Value usage, const EventCallback& on_event) {
  if (!usage.is(json::Kind::Object)) return;
  const auto prompt_tokens = count_of(usage, "prompt_tokens");
  const auto completion_tokens = count_of(usage, "completion_tokens");
  chat::Usage seen;
  seen.output_tokens = completion_tokens;
  seen.total_tokens = count_of(usage, "total_tokens");
  if (const auto details = present(usage, "prompt_tokens_details")) {
    seen.cache_read_tokens = count_of(*details, "cached_tokens");
    seen.cache_creation_tokens = count_of(*details, "cache_write_tokens");
  }
  if (const auto details = present(usage, "completion_tokens_details")) {
    seen.reasoning_tokens = count_of(*details, "reasoning_tokens");
    if (seen.reasoning_tokens && completion_tokens) {
      seen.reasoning_tokens = std::min(*seen.reasoning_tokens, *completion_tokens);
    }
  }
  if (prompt_tokens) {
    const std::int64_t cached = seen.cache_read_tokens.value_or(0) + seen.cache_creation_tokens.value_or(0);
    seen.input_tokens = std::max<std::int64_t>(0, *prompt_tokens - cached);
  }
  if (seen.empty()) return;
  if (completion_tokens) completion_tokens_ = completion_tokens;
  usage_ = seen;
  on_event(UsageSeen{.usage = seen});
}

void OpenAiChatDecoder::add_text(std::string text, const EventCallback& on_event) {
  if (text.empty() || !is_within_text_budget(text.size())) return;
  open_slot(Slot::Kind::Text).text += text;
  on_event(TextDelta{.text = std::move(text)});
}

void OpenAiChatDecoder::add_reasoning(std::string text, const EventCallback& on_event) {
  if (text.empty() || !is_within_text_budget(text.size())) return;
  open_slot(Slot::Kind::Reasoning).text += text;
  on_event(ReasoningDelta{.text = std::move(text)});
}

void OpenAiChatDecoder::add_split(ThinkSplitter::Split split, const EventCallback& on_event) {
  add_reasoning(std::move(split.reasoning), on_event);
  add_text(std::move(split.text), on_event);
}

void OpenAiChatDecoder::flush_texts(const EventCallback& on_event) {
  add_reasoning(reasoning_joiner_.finish(), on_event);
  add_split(think_splitter_.feed(text_joiner_.finish()), on_event);
  add_split(think_splitter_.finish(), on_event);
  add_text(refusal_joiner_.finish(), on_event);
}

bool OpenAiChatDecoder::is_within_text_budget(std::size_t bytes) {
  text_bytes_ += bytes;
  if (text_bytes_ <= kTextBytesMax) return true;
  fail_with(ProtocolFault::TooLarge);
  return false;
}

// Text and reasoning may alternate delta by delta: each goes on in its own slot until a call begins.
OpenAiChatDecoder::Slot& OpenAiChatDecoder::open_slot(Slot::Kind kind) {
  for (auto slot = slots_.rbegin(); slot != slots_.rend() && slot->kind != Slot::Kind::Call; ++slot) {
    if (slot->kind == kind) return *slot;
  }
  return slots_.emplace_back(Slot{.kind = kind, .call = 0, .text = {}});
}

std::optional<Failure> OpenAiChatDecoder::failure_at_end(BodyEnd end) const {
  if (is_aborted_) return failure_from_protocol(options_.provider, ProtocolFault::Aborted);
  if (finish_ && (end == BodyEnd::Clean || is_done_)) return std::nullopt;
  return failure_without_terminal(end, !slots_.empty());
}

Finish OpenAiChatDecoder::judge_finish() const {
  AnswerEnd end;
  end.said = finish_.value_or(Finish::Unknown);
  end.is_refused = is_refused_;
  for (const Slot& slot : slots_) {
    if (slot.kind == Slot::Kind::Call) ++end.calls;
  }
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    end.calls_are_whole = end.calls_are_whole && calls_.is_complete(call);
  }
  end.output_tokens = completion_tokens_;
  end.output_tokens_max = options_.output_tokens_max;
  return judge(Wire::OpenAiChat, end);
}

std::vector<chat::GeneratedPart> OpenAiChatDecoder::take_parts() {
  std::vector<chat::GeneratedPart> parts;
  for (Slot& slot : slots_) {
    if (slot.kind == Slot::Kind::Text) parts.emplace_back(chat::TextPart{std::move(slot.text)});
    if (slot.kind == Slot::Kind::Reasoning) {
      parts.emplace_back(chat::ReasoningPart{.text = std::move(slot.text), .provider_state = {}});
    }
    if (slot.kind != Slot::Kind::Call) continue;
    if (auto call = calls_.take(slot.call)) parts.emplace_back(std::move(*call));
  }
  return parts;
}

}  // namespace assay::providers

#include "providers/openai_responses_decoder.h"

#include <algorithm>
#include <utility>

#include "providers/acceptance.h"
#include "providers/wire_json.h"

namespace assay::providers {
namespace {

using structured::Finish;

constexpr std::string_view kParagraph = "\n\n";  // between parts of reasoning

// The status, and why it is not a plain one: the words of acceptance.cc.
std::string end_word(json::Value response) {
  std::string word(text_of(response, "status"));
  if (const auto details = present(response, "incomplete_details")) {
    word += '/';
    word += text_of(*details, "reason");
  }
  return word;
}

bool is_terminal_type(std::string_view type) {
  return type == "response.completed" || type == "response.incomplete" || type == "response.failed" ||
         type == "response.cancelled";
}

bool is_response(json::Value value) {
  return text_of(value, "object") == "response" || present(value, "output", json::Kind::Array).has_value();
}

std::string text_of_literal(std::string_view literal, Unencodable policy) {
  StringJoiner joiner(policy);
  std::string text = joiner.append(literal);
  return text + joiner.finish();
}

// The texts of an array of parts, one after another.
std::string joined(std::optional<json::Value> parts, std::string_view separator) {
  std::string text;
  if (!parts) return text;
  for (const json::Value part : parts->elements()) {
    for (const std::string_view key : {"text", "refusal"}) {
      const auto piece = present(part, key, json::Kind::String);
      if (!piece || piece->string().empty()) continue;
      if (!text.empty()) text += separator;
      text += text_of_literal(piece->raw(), Unencodable::Replace);
    }
  }
  return text;
}

}  // namespace

std::unique_ptr<Decoder> make_openai_responses_decoder(const ProviderConfig& provider, const ModelSettings& model,
                                                       const chat::Prompt& prompt) {
  return std::make_unique<OpenAiResponsesDecoder>(
      OpenAiResponsesDecoder::Options{.provider = provider.name,
                                      .output_tokens_max = model.output_tokens_max,
                                      .capped_tools = capped_tools_of(prompt)});
}

void OpenAiResponsesDecoder::end_parts(const EventCallback& on_event) {
  for (Item& item : items_) {
    if (item.kind != Kind::Call && !item.is_done) grow_text(item, item.joiner.finish(), on_event);
  }
  if (const auto fault = calls_.finish(on_event)) fail_with(*fault);
}

chat::GeneratedStep OpenAiResponsesDecoder::take_step() {
  chat::GeneratedStep step;
  step.finish = judge_finish();
  step.parts = take_parts();
  step.usage = usage_;
  return step;
}

void OpenAiResponsesDecoder::read_event(const SseEvent& event, json::Value root, const EventCallback& on_event) {
  if (!root.is(json::Kind::Object)) return fail_with(ProtocolFault::Malformed);
  const std::string_view type = text_of(root, "type");
  read_typed(type.empty() ? std::string_view(event.type) : type, root, on_event);
}

void OpenAiResponsesDecoder::read_whole(json::Value root, const EventCallback& on_event) {
  if (root.is(json::Kind::Object) && is_response(root)) {
    read_response("", root, on_event);
  } else if (root.is(json::Kind::Array) || present(root, "error") || present(root, "detail") ||
             text_of(root, "object") == "error" || text_of(root, "type") == "error") {
    fail_with(failure_from_error_value(options_.provider, root));
  } else {
    fail_with(ProtocolFault::Malformed);
  }
}

void OpenAiResponsesDecoder::read_typed(std::string_view type, json::Value event, const EventCallback& on_event) {
  const auto output_index = count_of(event, "output_index");
  if (type == "response.output_text.delta" || type == "response.refusal.delta") {
    const auto delta = present(event, "delta", json::Kind::String);
    is_refused_ = is_refused_ || (type == "response.refusal.delta" && delta && !delta->string().empty());
    read_text_delta(Kind::Message, event, "content_index", on_event);
  } else if (type == "response.reasoning_summary_text.delta") {
    read_text_delta(Kind::Reasoning, event, "summary_index", on_event);
  } else if (type == "response.reasoning_text.delta") {
    read_text_delta(Kind::Reasoning, event, "content_index", on_event);
  } else if (type == "response.function_call_arguments.delta") {
    read_arguments(event, false, on_event);
  } else if (type == "response.function_call_arguments.done") {
    read_arguments(event, true, on_event);
  } else if (type == "response.output_item.added") {
    if (const auto item = present(event, "item", json::Kind::Object)) begin_item(*item, output_index, on_event);
  } else if (type == "response.output_item.done") {
    if (const auto item = present(event, "item", json::Kind::Object)) end_item(*item, output_index, false, on_event);
  } else if (is_terminal_type(type)) {
    const auto response = present(event, "response", json::Kind::Object);
    if (response) return read_response(type, *response, on_event);
    fail_with(ProtocolFault::Malformed);
  } else if (type == "error" || present(event, "error")) {
    fail_with(failure_from_error_value(options_.provider, event));
  } else {
    on_event(KeepAlive{});
  }
}

void OpenAiResponsesDecoder::read_text_delta(Kind kind, json::Value event, std::string_view part_key,
                                             const EventCallback& on_event) {
  const auto delta = present(event, "delta", json::Kind::String);
  if (!delta) return;
  Item* item = find_for_delta(kind, event);
  if (item == nullptr) item = open_item(kind, text_of(event, "item_id"), count_of(event, "output_index"));
  if (item == nullptr || item->is_done) return;
  const std::int64_t part = count_of(event, part_key).value_or(item->part);
  if (part != std::exchange(item->part, part)) {
    grow_text(*item, item->joiner.finish(), on_event);
    item->joiner = StringJoiner(Unencodable::Replace);
    if (kind == Kind::Reasoning && !item->text.empty()) grow_text(*item, std::string(kParagraph), on_event);
  }
  grow_text(*item, item->joiner.append(delta->raw()), on_event);
}

void OpenAiResponsesDecoder::read_arguments(json::Value event, bool is_done, const EventCallback& on_event) {
  const auto arguments = present(event, is_done ? "arguments" : "delta");
  if (!arguments) return;
  Item* item = find_for_delta(Kind::Call, event);
  if (item == nullptr || !item->call) {
    fail_with(ProtocolFault::UnroutableCall);
  } else if (is_done) {
    settle_arguments(*item, *arguments, on_event);
  } else if (item->is_settled) {
    fail_with(ProtocolFault::Malformed);
  } else {
    ToolCallFragment fragment;
    fragment.index = static_cast<std::int64_t>(item - items_.data());
    fragment.arguments = arguments->raw();
    if (const auto fault = calls_.add(fragment, on_event)) fail_with(*fault);
  }
}

void OpenAiResponsesDecoder::begin_item(json::Value value, std::optional<std::int64_t> output_index,
                                        const EventCallback& on_event) {
  const Kind kind = kind_of(value);
  const std::string_view id = text_of(value, "id");
  const bool is_known = !id.empty() && std::any_of(items_.begin(), items_.end(), [&](const Item& item) {
    return item.kind == kind && item.id == id;
  });
  if (is_known) return;
  Item* item = open_item(kind, id, output_index);
  if (item == nullptr || kind != Kind::Call) return;
  item->call_id = trim(text_of(value, "call_id"));
  item->name = trim(text_of(value, "name"));
  ToolCallFragment fragment;
  fragment.index = static_cast<std::int64_t>(item - items_.data());
  fragment.id = item->call_id.empty() ? std::string_view(item->id) : std::string_view(item->call_id);
  fragment.name = item->name;
  const std::size_t before = calls_.size();
  if (const auto fault = calls_.add(fragment, on_event)) return fail_with(*fault);
  if (calls_.size() > before) item->call = before;
}

void OpenAiResponsesDecoder::end_item(json::Value value, std::optional<std::int64_t> output_index, bool is_terminal,
                                      const EventCallback& on_event) {
  Item* item = find_for_end(value, output_index, is_terminal);
  if (item == nullptr) {
    const std::size_t before = items_.size();
    begin_item(value, output_index, on_event);
    if (failure_ || items_.size() == before) return;
    item = &items_.back();
  }
  const std::string_view status = text_of(value, "status");
  switch (item->kind) {
    case Kind::Message:
      end_message(*item, value, on_event);
      break;
    case Kind::Reasoning:
      end_reasoning(*item, value, on_event);
      break;
    case Kind::Call:
      end_call(*item, value, on_event);
      break;
    case Kind::Other:
      end_other(*item, value, on_event);
      break;
  }
  item->is_done = true;
  item->is_listed = item->is_listed || is_terminal;
  item->is_whole = item->is_whole && (status.empty() || status == "completed");
}

void OpenAiResponsesDecoder::end_message(Item& item, json::Value value, const EventCallback& on_event) {
  const auto content = present(value, "content", json::Kind::Array);
  if (!content) return;
  for (const json::Value part : content->elements()) {
    is_refused_ = is_refused_ || text_of(part, "type") == "refusal" || !text_of(part, "refusal").empty();
    take_sources(part, on_event);
  }
  if (content->size() > 0) settle_text(item, joined(content, ""), on_event);
  keep_state(item, state_of_message(value));
}

void OpenAiResponsesDecoder::end_reasoning(Item& item, json::Value value, const EventCallback& on_event) {
  std::string text = joined(present(value, "summary", json::Kind::Array), kParagraph);
  if (text.empty()) text = joined(present(value, "content", json::Kind::Array), kParagraph);
  if (!text.empty()) settle_text(item, std::move(text), on_event);
  keep_state(item, state_of_opaque_item(value));
}

// A call that its two descriptions make different calls of is neither.
void OpenAiResponsesDecoder::end_call(Item& item, json::Value value, const EventCallback& on_event) {
  const std::string_view call_id = trim(text_of(value, "call_id"));
  const std::string_view name = trim(text_of(value, "name"));
  const bool is_other = (!item.call_id.empty() && !call_id.empty() && item.call_id != call_id) ||
                        (!item.name.empty() && !name.empty() && item.name != name);
  if (is_other) return fail_with(ProtocolFault::Malformed);
  if (item.name.empty() && !name.empty()) {
    item.name = name;
    ToolCallFragment fragment;
    fragment.index = static_cast<std::int64_t>(&item - items_.data());
    fragment.id = item.call ? std::string_view() : call_id;
    fragment.name = item.name;
    const std::size_t before = calls_.size();
    if (const auto fault = calls_.add(fragment, on_event)) return fail_with(*fault);
    if (calls_.size() > before) item.call = before;
  }
  if (!item.call) return fail_with(ProtocolFault::UnroutableCall);
  if (const auto arguments = present(value, "arguments")) settle_arguments(item, *arguments, on_event);
  keep_state(item, state_of_function_call(value));
}

void OpenAiResponsesDecoder::end_other(Item& item, json::Value value, const EventCallback& on_event) {
  keep_state(item, state_of_opaque_item(value));
  if (failure_) return;
  const bool is_first = !item.hosted;
  item.hosted = hosted_parts(value);
  if (!item.hosted || !is_first) return;
  on_event(HostedCall{.part = item.hosted->call});
  on_event(HostedResult{.part = item.hosted->result});
}

void OpenAiResponsesDecoder::take_sources(json::Value part, const EventCallback& on_event) {
  const auto annotations = present(part, "annotations", json::Kind::Array);
  if (!annotations) return;
  for (const json::Value annotation : annotations->elements()) {
    const std::string_view url = text_of(annotation, "url");
    if (text_of(annotation, "type") != "url_citation" || url.empty() || sources_.size() == kSourcesMax) continue;
    const bool is_known = std::any_of(sources_.begin(), sources_.end(),
                                      [&](const chat::SourcePart& source) { return source.url == url; });
    if (is_known) continue;
    chat::SourcePart source;
    source.id = "source-" + std::to_string(sources_.size());
    source.url = url;
    source.title = text_of(annotation, "title");
    on_event(SourceSeen{.part = source});
    sources_.push_back(std::move(source));
  }
}

// What was shown is not taken back: the rest of the text follows where there is one, and the final text is kept.
void OpenAiResponsesDecoder::settle_text(Item& item, std::string text, const EventCallback& on_event) {
  if (!item.is_done) grow_text(item, item.joiner.finish(), on_event);
  if (text.starts_with(item.text)) {
    grow_text(item, text.substr(item.text.size()), on_event);
    return;
  }
  text_bytes_ -= item.text.size();
  text_bytes_ += text.size();
  if (text_bytes_ > kTextBytesMax) fail_with(ProtocolFault::TooLarge);
  item.text = std::move(text);
}

void OpenAiResponsesDecoder::settle_arguments(Item& item, json::Value arguments, const EventCallback& on_event) {
  if (!item.is_settled) {
    item.is_settled = true;
    const auto streamed = calls_.arguments(*item.call);
    if (streamed && streamed->empty()) {
      ToolCallFragment fragment;
      fragment.index = static_cast<std::int64_t>(&item - items_.data());
      fragment.arguments = arguments.raw();
      if (const auto fault = calls_.add(fragment, on_event)) return fail_with(*fault);
    }
    if (const auto fault = calls_.end(*item.call, on_event)) return fail_with(*fault);
  }
  const auto streamed = calls_.arguments(*item.call);
  if (!streamed) return;  // over its cap: nothing of it is used
  const bool is_text = arguments.is(json::Kind::String);
  const std::string said = is_text ? text_of_literal(arguments.raw(), Unencodable::Keep) : std::string(arguments.raw());
  if (*streamed != said) fail_with(ProtocolFault::Malformed);
}

void OpenAiResponsesDecoder::keep_state(Item& item, std::string state) {
  state_bytes_ -= item.state.size();
  state_bytes_ += state.size();
  if (state_bytes_ > kReplayBytesMax) return fail_with(ProtocolFault::TooLarge);
  item.state = std::move(state);
}

void OpenAiResponsesDecoder::grow_text(Item& item, std::string text, const EventCallback& on_event) {
  if (text.empty() || failure_) return;
  text_bytes_ += text.size();
  if (text_bytes_ > kTextBytesMax) return fail_with(ProtocolFault::TooLarge);
  item.text += text;
  if (item.kind == Kind::Reasoning) {
    on_event(ReasoningDelta{.text = std::move(text)});
  } else {
    on_event(TextDelta{.text = std::move(text)});
  }
}

void OpenAiResponsesDecoder::read_response(std::string_view type, json::Value response, const EventCallback& on_event) {
  is_done_ = true;
  if (const auto usage = present(response, "usage", json::Kind::Object)) read_usage(*usage, on_event);
  const std::string_view status = text_of(response, "status");
  const auto error = present(response, "error");
  if (type == "response.failed" || status == "failed") {
    return error ? fail_with(failure_from_error_value(options_.provider, *error)) : fail_with(ProtocolFault::Aborted);
  }
  if (type == "response.cancelled" || status == "cancelled") return fail_with(ProtocolFault::Aborted);
  if (type.empty() && status.empty() && error) {
    return fail_with(failure_from_error_value(options_.provider, *error));
  }
  const auto output = present(response, "output", json::Kind::Array);
  std::int64_t position = 0;
  if (output) {
    for (const json::Value item : output->elements()) {
      if (item.is(json::Kind::Object)) end_item(item, position, true, on_event);
      if (failure_) return;
      ++position;
    }
  }
  const bool loses_a_call = position > 0 && std::any_of(items_.begin(), items_.end(), [](const Item& item) {
                              return item.kind == Kind::Call && !item.is_listed;
                            });
  if (loses_a_call) return fail_with(ProtocolFault::Malformed);
  is_qualified_ = error.has_value() || (type == "response.incomplete" && status == "completed");
  finish_ = finish_of_reason(Wire::OpenAiResponses, end_word(response));
}

// Cached and reasoning tokens are parts of the input's and the output's here.
void OpenAiResponsesDecoder::read_usage(json::Value usage, const EventCallback& on_event) {
  const auto input_tokens = count_of(usage, "input_tokens");
  chat::Usage seen;
  seen.output_tokens = count_of(usage, "output_tokens");
  seen.total_tokens = count_of(usage, "total_tokens");
  if (const auto details = present(usage, "input_tokens_details")) {
    seen.cache_read_tokens = count_of(*details, "cached_tokens");
    seen.cache_creation_tokens = count_of(*details, "cache_write_tokens");
  }
  if (const auto details = present(usage, "output_tokens_details")) {
    seen.reasoning_tokens = count_of(*details, "reasoning_tokens");
    if (seen.reasoning_tokens && seen.output_tokens) {
      seen.reasoning_tokens = std::min(*seen.reasoning_tokens, *seen.output_tokens);
    }
  }
  if (input_tokens) {
    const std::int64_t cached = seen.cache_read_tokens.value_or(0) + seen.cache_creation_tokens.value_or(0);
    seen.input_tokens = std::max<std::int64_t>(0, *input_tokens - cached);
  }
  if (seen.empty()) return;
  usage_ = seen;
  on_event(UsageSeen{.usage = seen});
}

OpenAiResponsesDecoder::Kind OpenAiResponsesDecoder::kind_of(json::Value item) {
  const std::string_view type = text_of(item, "type");
  if (type == "message") return Kind::Message;
  if (type == "reasoning") return Kind::Reasoning;
  if (type == "function_call") return Kind::Call;
  return Kind::Other;
}

// By the item's id; gateways change it from event to event, so then by its place.
OpenAiResponsesDecoder::Item* OpenAiResponsesDecoder::find_for_delta(Kind kind, json::Value event) {
  const std::string_view id = text_of(event, "item_id");
  const auto output_index = count_of(event, "output_index");
  const auto latest = [&](auto matches) -> Item* {
    const auto found = std::find_if(items_.rbegin(), items_.rend(),
                                    [&](const Item& item) { return item.kind == kind && matches(item); });
    return found == items_.rend() ? nullptr : &*found;
  };
  Item* item = id.empty() ? nullptr : latest([&](const Item& known) { return known.id == id; });
  if (item == nullptr && output_index) {
    item = latest([&](const Item& known) { return known.output_index == output_index; });
  }
  if (item == nullptr && id.empty() && !output_index) item = latest([](const Item&) { return true; });
  return item;
}

OpenAiResponsesDecoder::Item* OpenAiResponsesDecoder::find_for_end(json::Value value,
                                                                   std::optional<std::int64_t> output_index,
                                                                   bool is_terminal) {
  const Kind kind = kind_of(value);
  const auto first = [&](auto matches) -> Item* {
    const auto found = std::find_if(items_.begin(), items_.end(), [&](const Item& item) {
      return item.kind == kind && !(is_terminal ? item.is_listed : item.is_done) && matches(item);
    });
    return found == items_.end() ? nullptr : &*found;
  };
  const std::string_view id = text_of(value, "id");
  const std::string_view call_id = trim(text_of(value, "call_id"));
  Item* item = id.empty() ? nullptr : first([&](const Item& known) { return known.id == id; });
  if (item == nullptr && !call_id.empty()) item = first([&](const Item& known) { return known.call_id == call_id; });
  if (item == nullptr && output_index) {
    item = first([&](const Item& known) { return known.output_index == output_index; });
  }
  // Without ids and with indexes of no use the order alone is left.
  if (item == nullptr && (is_terminal || !output_index)) item = first([](const Item&) { return true; });
  return item;
}

OpenAiResponsesDecoder::Item* OpenAiResponsesDecoder::open_item(Kind kind, std::string_view id,
                                                                std::optional<std::int64_t> output_index) {
  if (items_.size() == kOutputItemsMax || id.size() > kToolCallIdBytesMax) {
    fail_with(ProtocolFault::TooLarge);
    return nullptr;
  }
  Item& item = items_.emplace_back();
  item.kind = kind;
  item.id = id;
  item.output_index = output_index;
  return &item;
}

std::optional<Failure> OpenAiResponsesDecoder::failure_at_end(BodyEnd end) const {
  if (finish_) return std::nullopt;
  return failure_without_terminal(end, !items_.empty());
}

Finish OpenAiResponsesDecoder::judge_finish() const {
  AnswerEnd end;
  end.said = finish_.value_or(Finish::Unknown);
  end.is_refused = is_refused_;
  end.is_qualified = is_qualified_;
  end.calls = calls_.size();
  end.calls_are_whole = std::all_of(items_.begin(), items_.end(), [](const Item& item) {
    return item.kind != Kind::Call || (item.is_done && item.is_whole);
  });
  end.output_tokens = usage_.output_tokens;
  end.output_tokens_max = options_.output_tokens_max;
  return judge(Wire::OpenAiResponses, end);
}

std::vector<chat::GeneratedPart> OpenAiResponsesDecoder::take_parts() {
  std::vector<chat::GeneratedPart> parts;
  for (Item& item : items_) take_part(item, parts);
  for (chat::SourcePart& source : sources_) parts.emplace_back(std::move(source));
  return parts;
}

void OpenAiResponsesDecoder::take_part(Item& item, std::vector<chat::GeneratedPart>& parts) {
  switch (item.kind) {
    case Kind::Message:
      parts.emplace_back(chat::TextPart{.text = std::move(item.text), .provider_state = std::move(item.state)});
      return;
    case Kind::Reasoning:
      parts.emplace_back(chat::ReasoningPart{.text = std::move(item.text), .provider_state = std::move(item.state)});
      return;
    case Kind::Call:
      if (!item.call) return;
      if (auto call = calls_.take(*item.call)) {
        call->provider_state = std::move(item.state);
        parts.emplace_back(std::move(*call));
      }
      return;
    case Kind::Other:
      break;
  }
  if (item.hosted) {
    chat::ToolCallPart& hosted = item.hosted->call;
    parts.emplace_back(chat::GeneratedToolCall{.id = std::move(hosted.id),
                                               .name = std::move(hosted.name),
                                               .arguments = std::move(hosted.arguments),
                                               .provider_executed = true,
                                               .provider_state = std::move(item.state)});
    parts.emplace_back(std::move(item.hosted->result));
  } else if (!item.state.empty()) {
    parts.emplace_back(chat::ProviderItemPart{.provider_state = std::move(item.state)});
  }
}

}  // namespace assay::providers

#include "providers/openai_responses_items.h"

#include <algorithm>
#include <array>
#include <span>

#include "providers/replay_state.h"
#include "providers/wire_json.h"

namespace assay::providers {
namespace {

// Said by the part.
constexpr std::array<std::string_view, 5> kMembersOfCalls = {"type", "call_id", "name", "arguments", "status"};

// Nothing but the text that the part holds.
bool is_plain_text(json::Value content) {
  if (!content.is(json::Kind::Array) || content.size() > 1) return false;
  if (content.size() == 0) return true;
  const json::Value part = *content.elements().begin();
  if (text_of(part, "type") != "output_text") return false;
  const auto annotations = present(part, "annotations");
  return !annotations || (annotations->is(json::Kind::Array) && annotations->size() == 0);
}

void write_members(json::Value object, json::Writer& writer) {
  for (const json::Member member : object.members()) writer.raw_member(member.key, member.value.raw());
}

void write_text_content(std::string_view text, json::Writer& writer) {
  writer.key("content").begin_array().begin_object().member("type", "output_text").member("text", text);
  writer.key("annotations").begin_array().end_array().end_object().end_array();
}

struct HostedType {
  std::string_view type;
  std::string_view name;
  std::array<std::string_view, 3> asked;  // members that say what was asked for
  std::array<std::string_view, 2> given;  // and what came of it
};
constexpr std::array<HostedType, 5> kHostedTypes = {{
    {"web_search_call", "web_search", {"action"}, {}},
    {"file_search_call", "file_search", {"queries"}, {"results"}},
    {"code_interpreter_call", "code_interpreter", {"code"}, {"outputs"}},
    {"image_generation_call", "image_generation", {"revised_prompt"}, {}},
    {"mcp_call", "mcp", {"server_label", "name", "arguments"}, {"output", "error"}},
}};

void copy_members(json::Value object, std::span<const std::string_view> keys, json::Writer& writer) {
  for (const std::string_view key : keys) {
    if (key.empty()) continue;
    if (const auto member = present(object, key)) writer.raw_member(key, member->raw());
  }
}

std::optional<json::Document> item_of(std::string_view state) {
  auto item = replayed_item(Wire::OpenAiResponses, state);
  if (item && !item->root().is(json::Kind::Object)) return std::nullopt;
  return item;
}

}  // namespace

// The text of a plain message is its part's; ids, phase and whatever else came are kept.
std::string state_of_message(json::Value item) {
  const auto content = present(item, "content");
  const bool is_plain = !content || is_plain_text(*content);
  json::Writer writer;
  writer.begin_object();
  for (const json::Member member : item.members()) {
    if (member.key != "content" || !is_plain) writer.raw_member(member.key, member.value.raw());
  }
  writer.end_object();
  return replay_state(Wire::OpenAiResponses, writer.take());
}

std::string state_of_function_call(json::Value item) {
  json::Writer writer;
  writer.begin_object();
  bool has_more = false;
  for (const json::Member member : item.members()) {
    if (std::find(kMembersOfCalls.begin(), kMembersOfCalls.end(), member.key) != kMembersOfCalls.end()) continue;
    if (member.value.is(json::Kind::Null)) continue;
    has_more = true;
    writer.raw_member(member.key, member.value.raw());
  }
  writer.end_object();
  const std::string members = writer.take();
  return has_more ? replay_state(Wire::OpenAiResponses, members) : std::string();
}

std::string state_of_opaque_item(json::Value item) { return replay_state(Wire::OpenAiResponses, item.raw()); }

std::optional<HostedParts> hosted_parts(json::Value item) {
  const auto* known = std::find_if(kHostedTypes.begin(), kHostedTypes.end(),
                                   [&](const HostedType& hosted) { return hosted.type == text_of(item, "type"); });
  if (known == kHostedTypes.end()) return std::nullopt;
  HostedParts parts;
  parts.call.id = text_of(item, "id");
  parts.call.name = known->name;
  parts.call.provider_executed = true;
  json::Writer asked;
  asked.begin_object();
  copy_members(item, known->asked, asked);
  asked.end_object();
  parts.call.arguments = asked.take();
  // A search that never ended is no result.
  const std::string_view status = text_of(item, "status");
  parts.result.call_id = parts.call.id;
  parts.result.name = known->name;
  parts.result.provider_executed = true;
  parts.result.is_error = (!status.empty() && status != "completed") || present(item, "error").has_value();
  json::Writer given;
  given.begin_object();
  if (!status.empty()) given.member("status", status);
  copy_members(item, known->given, given);
  given.end_object();
  parts.result.result = given.take();
  return parts;
}

void write_message_item(const chat::TextPart& text, json::Writer& writer) {
  writer.begin_object();
  const auto item = item_of(text.provider_state);
  if (item) {
    write_members(item->root(), writer);
    if (!item->root().find("content")) write_text_content(text.text, writer);
  } else {
    writer.member("role", "assistant").member("content", text.text);
  }
  writer.end_object();
}

void write_function_call_item(const chat::ToolCallPart& call, json::Writer& writer) {
  writer.begin_object().member("type", "function_call");
  if (const auto item = item_of(call.provider_state)) write_members(item->root(), writer);
  writer.member("call_id", call.id).member("name", call.name);
  writer.member("arguments", call.arguments.empty() ? std::string_view("{}") : std::string_view(call.arguments));
  writer.end_object();
}

std::optional<std::string> replayable_item(std::string_view state) {
  const auto item = item_of(state);
  if (!item) return std::nullopt;
  if (text_of(item->root(), "type") == "reasoning" && text_of(item->root(), "encrypted_content").empty()) {
    const auto content = present(item->root(), "content", json::Kind::Array);
    if (!content || content->size() == 0) return std::nullopt;
  }
  return std::string(item->root().raw());
}

}  // namespace assay::providers

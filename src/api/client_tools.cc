#include "api/client_tools.h"

#include <fmt/format.h>

#include <utility>

#include "api/body.h"
#include "chat/dynamic_tools.h"
#include "json/compact.h"
#include "json/limits.h"
#include "json/writer.h"
#include "structured/finalizer.h"

namespace assay::api {

namespace {

constexpr std::string_view kTools = "unsafe_dynamic_tools";

std::optional<json::Value> find(json::Value object, std::string_view name) {
  const auto member = object.find(name);
  if (!member || member->is(json::Kind::Null)) return std::nullopt;
  return member;
}

// In strings, what a strict reader refuses has become U+FFFD.
void write_cleaned(json::Writer& writer, json::Value value) {
  switch (value.kind()) {
    case json::Kind::String:
      writer.string(value.string());
      return;
    case json::Kind::Array:
      writer.begin_array();
      for (const json::Value element : value.elements()) write_cleaned(writer, element);
      writer.end_array();
      return;
    case json::Kind::Object:
      writer.begin_object();
      for (const json::Member& member : value.members()) write_cleaned(writer.key(member.key), member.value);
      writer.end_object();
      return;
    default:
      writer.raw(value.raw());
  }
}

// As sent but for white space, U+0000 and unpaired surrogates, which neither PostgreSQL nor many readers take: a tool
// that printed a binary file has an answer all the same.
std::string kept_output(json::Value output) {
  if (json::Document::parse(std::string(output.raw()), json::kBodyCaps)) return json::compact(output);
  json::Writer writer;
  write_cleaned(writer, output);
  return writer.take();
}

Result<chat::ToolOutput, ApiError> decode_result(json::Value item, std::size_t index) {
  const auto fault = [index](std::string_view member, std::string detail) {
    return fail(invalid_field(fmt::format("results[{}]{}", index, member), std::move(detail)));
  };
  if (!item.is(json::Kind::Object)) return fault("", "must be an object");
  chat::ToolOutput result;
  const auto id = item.find("tool_call_id");
  if (!id || !id->is(json::Kind::String) || id->string().empty()) {
    return fault(".tool_call_id", "is required, a string");
  }
  result.call_id = id->string();
  // JSON null is an output, absence is none.
  const auto output = item.find("output");
  if (!output) return fault(".output", "is required: any JSON value, text as a string");
  result.output = kept_output(*output);
  if (const auto is_error = find(item, "is_error")) {
    if (!is_error->is(json::Kind::Boolean)) return fault(".is_error", "must be true or false");
    result.is_error = is_error->boolean();
  }
  return result;
}

}  // namespace

Result<std::vector<chat::ToolDefinition>, ApiError> decode_dynamic_tools(const std::optional<json::Value>& list,
                                                                         bool has_format) {
  if (!list) return std::vector<chat::ToolDefinition>();
  auto tools = chat::declared_tools(*list);
  if (!tools) {
    return fail(invalid_field(std::string(kTools) + tools.error().place, std::move(tools.error().detail)));
  }
  if (has_format && chat::find_tool(*tools, structured::kFinalizerName) != nullptr) {
    return fail(invalid_field(std::string(kTools), fmt::format("{} is reserved for the result of a structured request",
                                                               structured::kFinalizerName)));
  }
  return std::move(*tools);
}

bool takes_finalizer_name(const chat::Chat& chat) {
  const auto tools = chat::decode_dynamic_tools(chat.dynamic_tools);
  return tools && chat::find_tool(*tools, structured::kFinalizerName) != nullptr;
}

Result<chat::CompleteRequiresAction, ApiError> decode_tool_results(std::string text, const store::User& user) {
  auto body = Body::parse(std::move(text));
  if (!body) return fail(std::move(body.error()));
  const auto results = body->array("results");
  if (auto faults = body->faults()) return fail(std::move(*faults));
  if (!results || results->size() == 0) return fail(invalid_field("results", "is required and must not be empty"));
  chat::CompleteRequiresAction input;
  input.created_by = user.id;
  for (const json::Value item : results->elements()) {
    auto result = decode_result(item, input.results.size());
    if (!result) return fail(std::move(result.error()));
    input.results.push_back(std::move(*result));
  }
  return input;
}

}  // namespace assay::api

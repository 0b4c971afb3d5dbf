#include "chat/dynamic_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "json/compact.h"
#include "json/error.h"
#include "json/member.h"
#include "json/writer.h"
#include "structured/response_format.h"

namespace assay::chat {

namespace {

constexpr std::string_view kNoArguments = R"({"type":"object","properties":{}})";

using Fault = std::optional<std::string>;  // the detail

std::optional<json::Value> find(json::Value object, std::string_view name) {
  const auto member = object.find(name);
  if (!member || member->is(json::Kind::Null)) return std::nullopt;
  return member;
}

Fault properties_fault(json::Value properties) {
  if (!properties.is(json::Kind::Object)) return "`properties` must be an object";
  for (const json::Member& property : properties.members()) {
    if (!property.value.is(json::Kind::Object) && !property.value.is(json::Kind::Boolean)) {
      return "each of `properties` must be a schema, an object or a boolean";
    }
  }
  return std::nullopt;
}

Fault required_fault(json::Value required) {
  const auto is_string = [](json::Value name) { return name.is(json::Kind::String); };
  if (required.is(json::Kind::Array) && std::ranges::all_of(required.elements(), is_string)) return std::nullopt;
  return "`required` must be an array of strings";
}

// `{"a":1}` begins with the members that it lacks.
std::string completed(const json::Value schema) {
  const std::string text = json::compact(schema);
  std::string head;
  if (!schema.find("type")) head += R"("type":"object",)";
  if (!schema.find("properties")) head += R"("properties":{},)";
  if (head.empty()) return text;
  if (schema.size() == 0) head.pop_back();
  return "{" + head + text.substr(1);
}

Result<std::string, std::string> read_schema(json::Value declared) {
  const auto document = json::Document::parse(std::string(declared.raw()), kToolSchemaCaps);
  const auto over_caps = [](const json::Error& error) {
    return fail(fmt::format("{}; at most {} bytes and {} levels are allowed", json::describe(error),
                            kToolSchemaCaps.bytes_max, kToolSchemaCaps.depth_max));
  };
  if (!document) return over_caps(document.error());
  const json::Value schema = document->root();
  if (!schema.is(json::Kind::Object)) return fail(std::string("must be a JSON Schema, an object"));
  const auto type = schema.find("type");
  if (type && (!type->is(json::Kind::String) || type->string() != "object")) {
    return fail(std::string("must describe an object: `type` must be \"object\""));
  }
  if (const auto properties = schema.find("properties")) {
    if (auto fault = properties_fault(*properties)) return fail(std::move(*fault));
  }
  if (const auto required = schema.find("required")) {
    if (auto fault = required_fault(*required)) return fail(std::move(*fault));
  }
  std::string text = completed(schema);
  if (text.size() > kToolSchemaCaps.bytes_max) {
    return over_caps(json::Error{.code = json::ErrorCode::TooLong, .offset = kToolSchemaCaps.bytes_max});
  }
  return text;
}

struct MemberFault {
  std::string_view member;
  std::string detail;
};

Result<ToolDefinition, MemberFault> read_tool(json::Value declared) {
  if (!declared.is(json::Kind::Object)) return fail(MemberFault{"", "must be an object"});
  const auto name = json::string_member(declared, "name");
  if (!name || !structured::is_format_name(*name)) {
    return fail(MemberFault{"name", "is required: 1 to 64 letters, digits, `_` and `-`"});
  }
  ToolDefinition tool;
  tool.name = *name;
  tool.parameters = kNoArguments;
  tool.client_executed = true;
  if (const auto description = find(declared, "description")) {
    if (!description->is(json::Kind::String)) return fail(MemberFault{"description", "must be a string"});
    if (description->string().size() > kToolDescriptionBytesMax) {
      return fail(MemberFault{"description", fmt::format("must have at most {} bytes", kToolDescriptionBytesMax)});
    }
    tool.description = description->string();
  }
  if (const auto schema = find(declared, "input_schema")) {
    auto parameters = read_schema(*schema);
    if (!parameters) return fail(MemberFault{"input_schema", std::move(parameters.error())});
    tool.parameters = std::move(*parameters);
  }
  return tool;
}

}  // namespace

Result<std::vector<ToolDefinition>, ToolFault> declared_tools(json::Value list) {
  if (!list.is(json::Kind::Array)) return fail(ToolFault{.place = "", .detail = "must be an array"});
  if (list.size() > kDynamicToolsMax) {
    return fail(ToolFault{.place = "", .detail = fmt::format("at most {} tools are allowed", kDynamicToolsMax)});
  }
  std::vector<ToolDefinition> tools;
  for (const json::Value declared : list.elements()) {
    const auto place = [&](std::string_view member) {
      return fmt::format("[{}]{}{}", tools.size(), member.empty() ? "" : ".", member);
    };
    auto tool = read_tool(declared);
    if (!tool) return fail(ToolFault{.place = place(tool.error().member), .detail = std::move(tool.error().detail)});
    if (find_tool(tools, tool->name) != nullptr) {
      return fail(ToolFault{.place = place("name"), .detail = "another tool of the list has this name"});
    }
    tools.push_back(std::move(*tool));
  }
  return tools;
}

std::string encode_dynamic_tools(std::span<const ToolDefinition> tools) {
  json::Writer writer;
  writer.begin_array();
  for (const ToolDefinition& tool : tools) {
    writer.begin_object().member("name", tool.name);
    if (!tool.description.empty()) writer.member("description", tool.description);
    writer.raw_member("input_schema", tool.parameters).end_object();
  }
  writer.end_array();
  return writer.take();
}

Result<std::vector<ToolDefinition>, structured::Corruption> decode_dynamic_tools(std::string_view json_text) {
  const auto corrupt = [] {
    return fail(structured::Corruption{.what = "the client's tools cannot be read", .request_id = std::nullopt});
  };
  const auto document = json::Document::parse(std::string(json_text), json::kEnvelopeCaps);
  if (!document) return corrupt();
  auto tools = declared_tools(document->root());
  if (!tools || encode_dynamic_tools(*tools) != json_text) return corrupt();
  return std::move(*tools);
}

const ToolDefinition* find_tool(std::span<const ToolDefinition> tools, std::string_view name) {
  const auto found = std::ranges::find(tools, name, &ToolDefinition::name);
  return found == tools.end() ? nullptr : &*found;
}

}  // namespace assay::chat

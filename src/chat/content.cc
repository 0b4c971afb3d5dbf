#include "chat/content.h"

#include <type_traits>
#include <utility>

#include "json/document.h"
#include "json/limits.h"
#include "json/utf8.h"
#include "json/writer.h"
#include "structured/parts_codec.h"
#include "structured/strict_object.h"

namespace assay::chat {

namespace {

using structured::Corruption;
using structured::StrictObject;

constexpr std::string_view kText = "text";
constexpr std::string_view kReasoning = "reasoning";
constexpr std::string_view kToolCall = "tool-call";
constexpr std::string_view kToolResult = "tool-result";
constexpr std::string_view kSource = "source";
constexpr std::string_view kFileReference = "file-reference";
constexpr std::string_view kProviderItem = "provider-item";
constexpr std::string_view kPause = "pause";

void member(json::Writer& out, std::string_view name, std::string_view text) {
  out.member(name, std::string_view(storable_text(text)));
}

void member_unless_empty(json::Writer& out, std::string_view name, std::string_view text) {
  if (!text.empty()) member(out, name, text);
}

void flag(json::Writer& out, std::string_view name, bool value) {
  if (value) out.member(name, true);
}

struct PartWriter {
  json::Writer& out;

  void operator()(const TextPart& part) const {
    begin(kText);
    member(out, "text", part.text);
    member_unless_empty(out, "provider_state", part.provider_state);
    out.end_object();
  }
  void operator()(const ReasoningPart& part) const {
    begin(kReasoning);
    member(out, "text", part.text);
    member_unless_empty(out, "provider_state", part.provider_state);
    out.end_object();
  }
  void operator()(const ToolCallPart& part) const {
    begin(kToolCall);
    member(out, "tool_call_id", part.id);
    member(out, "tool_name", part.name);
    member(out, "args", part.arguments);
    flag(out, "rejected_args", part.rejected_arguments);
    flag(out, "provider_executed", part.provider_executed);
    member_unless_empty(out, "provider_state", part.provider_state);
    out.end_object();
  }
  void operator()(const ToolResultPart& part) const {
    begin(kToolResult);
    member(out, "tool_call_id", part.call_id);
    member(out, "tool_name", part.name);
    member(out, "result", part.result);
    flag(out, "is_error", part.is_error);
    flag(out, "provider_executed", part.provider_executed);
    member_unless_empty(out, "provider_state", part.provider_state);
    out.end_object();
  }
  void operator()(const SourcePart& part) const {
    begin(kSource);
    member_unless_empty(out, "source_id", part.id);
    member(out, "url", part.url);
    member_unless_empty(out, "title", part.title);
    out.end_object();
  }
  void operator()(const FileReferencePart& part) const {
    begin(kFileReference);
    member(out, "file_name", part.file_name);
    out.member("start_line", part.start_line).member("end_line", part.end_line);
    member(out, "content", part.content);
    out.end_object();
  }
  void operator()(const ProviderItemPart& part) const {
    begin(kProviderItem);
    member(out, "provider_state", part.provider_state);
    out.end_object();
  }
  void operator()(const PausePart&) const {
    begin(kPause);
    out.end_object();
  }
  // Their texts passed the raw boundary or are the server's own.
  void operator()(const structured::RequestPart& part) const { structured::encode(part, out); }
  void operator()(const structured::ControlPart& part) const { structured::encode(part, out); }
  void operator()(const structured::OutcomePart& part) const { structured::encode(part, out); }

 private:
  void begin(std::string_view type) const { out.begin_object().member("type", type); }
};

std::string text_of(std::optional<std::string_view> text) { return std::string(text.value_or(std::string_view{})); }

Part read_text(StrictObject& fields) {
  return TextPart{.text = std::string(fields.string("text")),
                  .provider_state = text_of(fields.optional_string("provider_state"))};
}

Part read_reasoning(StrictObject& fields) {
  return ReasoningPart{.text = std::string(fields.string("text")),
                       .provider_state = text_of(fields.optional_string("provider_state"))};
}

Part read_tool_call(StrictObject& fields) {
  return ToolCallPart{.id = std::string(fields.string("tool_call_id")),
                      .name = std::string(fields.string("tool_name")),
                      .arguments = std::string(fields.string("args")),
                      .rejected_arguments = fields.optional_boolean("rejected_args"),
                      .provider_executed = fields.optional_boolean("provider_executed"),
                      .provider_state = text_of(fields.optional_string("provider_state"))};
}

Part read_tool_result(StrictObject& fields) {
  return ToolResultPart{.call_id = std::string(fields.string("tool_call_id")),
                        .name = std::string(fields.string("tool_name")),
                        .result = std::string(fields.string("result")),
                        .is_error = fields.optional_boolean("is_error"),
                        .provider_executed = fields.optional_boolean("provider_executed"),
                        .provider_state = text_of(fields.optional_string("provider_state"))};
}

Part read_source(StrictObject& fields) {
  return SourcePart{.id = text_of(fields.optional_string("source_id")),
                    .url = std::string(fields.string("url")),
                    .title = text_of(fields.optional_string("title"))};
}

Part read_file_reference(StrictObject& fields) {
  return FileReferencePart{.file_name = std::string(fields.string("file_name")),
                           .start_line = fields.integer("start_line"),
                           .end_line = fields.integer("end_line"),
                           .content = std::string(fields.string("content"))};
}

Part read_provider_item(StrictObject& fields) {
  return ProviderItemPart{.provider_state = std::string(fields.string("provider_state"))};
}

Part read_pause(StrictObject&) { return PausePart{}; }

struct Reader {
  std::string_view type;
  Part (*read)(StrictObject&);
};
constexpr Reader kReaders[] = {
    {kText, read_text},
    {kReasoning, read_reasoning},
    {kToolCall, read_tool_call},
    {kToolResult, read_tool_result},
    {kSource, read_source},
    {kFileReference, read_file_reference},
    {kProviderItem, read_provider_item},
    {kPause, read_pause},
};

auto corrupt(std::string what) { return fail(Corruption{.what = std::move(what), .request_id = std::nullopt}); }

template <class T>
Result<Part, Corruption> as_part(Result<T, Corruption> part) {
  if (!part) return fail(std::move(part.error()));
  return Part(std::move(*part));
}

Result<Part, Corruption> decode_part(const json::Value& value) {
  if (!value.is(json::Kind::Object)) return corrupt("a message part is no object");
  const auto type = value.find("type");
  if (!type || !type->is(json::Kind::String)) return corrupt("a message part has no type");
  if (type->string() == structured::kRequestType) return as_part(structured::decode_request(value));
  if (type->string() == structured::kControlType) return as_part(structured::decode_control(value));
  if (type->string() == structured::kOutcomeType) return as_part(structured::decode_outcome(value));
  for (const Reader& reader : kReaders) {
    if (reader.type != type->string()) continue;
    StrictObject fields(value);
    fields.string("type");
    Part part = reader.read(fields);
    if (!fields.exact()) return corrupt("a " + std::string(reader.type) + " part has wrong members");
    return part;
  }
  return corrupt("a message part of unknown type");
}

}  // namespace

std::string storable_text(std::string_view text) {
  std::string storable;
  storable.reserve(text.size());
  while (!text.empty()) {
    std::string_view valid = text.substr(0, json::first_invalid_utf8(text));
    text.remove_prefix(valid.size());
    for (std::size_t nul = valid.find('\0'); nul != std::string_view::npos; nul = valid.find('\0')) {
      storable.append(valid.substr(0, nul)).append(json::kReplacementUtf8);
      valid.remove_prefix(nul + 1);
    }
    storable += valid;
    if (text.empty()) break;
    text.remove_prefix(json::utf8_ill_formed_bytes(text));
    storable += json::kReplacementUtf8;
  }
  return storable;
}

std::string encode_content(const Content& content) {
  json::Writer out;
  out.begin_array();
  for (const Part& part : content) std::visit(PartWriter{out}, part);
  out.end_array();
  return out.take();
}

Result<Content, Corruption> decode_content(std::string_view json_text) {
  const auto document = json::Document::parse(std::string(json_text), json::kEnvelopeCaps);
  if (!document) return corrupt("a message's content is no JSON value within the caps");
  if (!document->root().is(json::Kind::Array)) return corrupt("a message's content is no array");
  Content content;
  content.reserve(document->root().size());
  std::optional<Corruption> fault;
  std::optional<RequestId> request_id;  // of a part beside the corrupt one
  for (const json::Value& value : document->root().elements()) {
    Result<Part, Corruption> part = decode_part(value);
    if (!part) {
      if (!fault) fault = std::move(part.error());
      continue;
    }
    if (const auto* request = std::get_if<structured::RequestPart>(&*part)) request_id = request->request_id;
    content.push_back(std::move(*part));
  }
  if (!fault) return content;
  if (!fault->request_id) fault->request_id = request_id;
  return fail(std::move(*fault));
}

}  // namespace assay::chat

#include "structured/parts_codec.h"

#include <array>
#include <optional>
#include <utility>

#include "json/limits.h"
#include "structured/outcome.h"
#include "structured/response_format.h"
#include "structured/strict_object.h"

namespace assay::structured {

namespace {

constexpr std::array<std::pair<ControlKind, std::string_view>, 3> kKinds{{
    {ControlKind::Candidate, "candidate"},
    {ControlKind::Rejection, "rejection"},
    {ControlKind::Invalidation, "invalidation"},
}};

constexpr std::array<std::pair<Finish, std::string_view>, 8> kFinishes{{
    {Finish::Complete, "complete"},
    {Finish::ToolUse, "tool_use"},
    {Finish::Refusal, "refusal"},
    {Finish::ContentFilter, "content_filter"},
    {Finish::Length, "length"},
    {Finish::Pause, "pause"},
    {Finish::Error, "error"},
    {Finish::Unknown, "unknown"},
}};

template <class Enum, std::size_t Size>
std::string_view name_in(const std::array<std::pair<Enum, std::string_view>, Size>& names, Enum wanted) {
  for (const auto& [value, name] : names) {
    if (value == wanted) return name;
  }
  return names.back().second;
}

template <class Enum, std::size_t Size>
std::optional<Enum> value_in(const std::array<std::pair<Enum, std::string_view>, Size>& names,
                             std::string_view wanted) {
  for (const auto& [value, name] : names) {
    if (name == wanted) return value;
  }
  return std::nullopt;
}

void begin_part(json::Writer& out, std::string_view type, RequestId request_id) {
  out.begin_object().member("type", type).key(kDataMember).begin_object();
  out.member("request_id", request_id.to_string());
}

// The data object of a part, and as much of the request id as can be read.
struct Opened {
  std::optional<json::Value> data;
  std::optional<RequestId> request_id;
};

Opened open_part(const json::Value& part, std::string_view type) {
  Opened opened;
  StrictObject outer(part);
  const std::string_view found = outer.string("type");
  const std::optional<json::Value> data = outer.object(kDataMember);
  if (data) {
    const std::optional<json::Value> id = data->find("request_id");
    if (id && id->is(json::Kind::String)) opened.request_id = RequestId::parse(id->string());
  }
  if (outer.exact() && found == type && part.raw().size() <= json::kMetadataCaps.bytes_max) opened.data = data;
  return opened;
}

auto corrupt(std::string_view what, const Opened& opened) {
  return fail(Corruption{.what = std::string(what), .request_id = opened.request_id});
}

bool is_output_text(std::string_view text) {
  return json::Document::parse(std::string(text), json::kOutputCaps).has_value();
}

}  // namespace

bool is_internal_type(std::string_view type) { return type.starts_with("structured-output-"); }

void encode(const RequestPart& part, json::Writer& out) {
  begin_part(out, kRequestType, part.request_id);
  out.member("name", part.name);
  if (part.description) out.member("description", *part.description);
  out.member("schema", part.schema).end_object().end_object();
}

void encode(const ControlPart& part, json::Writer& out) {
  begin_part(out, kControlType, part.request_id);
  out.member("kind", name_in(kKinds, part.kind));
  if (part.kind == ControlKind::Candidate) out.member("value", part.value);
  if (part.kind != ControlKind::Invalidation) out.member("finish", name_in(kFinishes, part.finish));
  if (part.kind == ControlKind::Rejection) out.member("answers_finalizer", part.answers_finalizer);
  out.end_object().end_object();
}

void encode(const OutcomePart& part, json::Writer& out) {
  begin_part(out, kOutcomeType, part.request_id);
  out.member("status", name_of(part.status));
  if (part.status == OutcomeStatus::Succeeded) out.member("value", part.value);
  if (part.error) {
    out.key("error").begin_object().member("code", name_of(part.error->code));
    out.member("message", part.error->message).end_object();
  }
  out.end_object().end_object();
}

Result<RequestPart, Corruption> decode_request(const json::Value& part) {
  const Opened opened = open_part(part, kRequestType);
  if (!opened.data) return corrupt("a structured request part is malformed", opened);
  StrictObject data(*opened.data);
  const std::optional<RequestId> request_id = RequestId::parse(data.string("request_id"));
  const std::string_view name = data.string("name");
  const std::optional<std::string_view> description = data.optional_string("description");
  const std::string_view schema = data.string("schema");
  if (!data.exact() || !request_id || !is_format_name(name)) {
    return corrupt("a structured request part has wrong members", opened);
  }
  if (description.value_or("").size() > kFormatDescriptionBytesMax || schema.empty() ||
      schema.size() > json::kSchemaCaps.bytes_max) {
    return corrupt("a structured request part is over its limits", opened);
  }
  RequestPart request{
      .request_id = *request_id, .name = std::string(name), .description = std::nullopt, .schema = std::string(schema)};
  if (description) request.description = std::string(*description);
  return request;
}

Result<ControlPart, Corruption> decode_control(const json::Value& part) {
  const Opened opened = open_part(part, kControlType);
  if (!opened.data) return corrupt("a structured control part is malformed", opened);
  StrictObject data(*opened.data);
  const std::optional<RequestId> request_id = RequestId::parse(data.string("request_id"));
  const std::optional<ControlKind> kind = value_in(kKinds, data.string("kind"));
  if (!request_id || !kind) return corrupt("a structured control part has wrong members", opened);

  ControlPart control{
      .request_id = *request_id, .kind = *kind, .value = {}, .finish = Finish::Unknown, .answers_finalizer = false};
  bool finish_fits = true;
  if (*kind != ControlKind::Invalidation) {
    const std::optional<Finish> finish = value_in(kFinishes, data.string("finish"));
    control.finish = finish.value_or(Finish::Unknown);
    finish_fits = finish && (*kind != ControlKind::Candidate || *finish == Finish::ToolUse);
  }
  if (*kind == ControlKind::Candidate) control.value = std::string(data.string("value"));
  if (*kind == ControlKind::Rejection) control.answers_finalizer = data.boolean("answers_finalizer");
  if (!data.exact() || !finish_fits) return corrupt("a structured control part has wrong members", opened);
  if (*kind == ControlKind::Candidate && !is_output_text(control.value)) {
    return corrupt("a candidate is no JSON value within the caps", opened);
  }
  return control;
}

Result<OutcomePart, Corruption> decode_outcome(const json::Value& part) {
  const Opened opened = open_part(part, kOutcomeType);
  if (!opened.data) return corrupt("a structured outcome part is malformed", opened);
  StrictObject data(*opened.data);
  const std::optional<RequestId> request_id = RequestId::parse(data.string("request_id"));
  const std::optional<OutcomeStatus> status = outcome_status(data.string("status"));
  if (!request_id || !status) return corrupt("a structured outcome part has wrong members", opened);

  OutcomePart outcome{.request_id = *request_id, .status = *status, .value = {}, .error = std::nullopt};
  if (*status == OutcomeStatus::Succeeded) {
    outcome.value = std::string(data.string("value"));
    if (!data.exact() || !is_output_text(outcome.value)) {
      return corrupt("an outcome's value is no JSON value within the caps", opened);
    }
    return outcome;
  }
  const std::optional<json::Value> error = data.object("error");
  if (!data.exact() || !error) return corrupt("a structured outcome part has wrong members", opened);
  StrictObject fields(*error);
  const std::optional<OutcomeCode> code = outcome_code(fields.string("code"));
  const std::string_view message = fields.string("message");
  if (!fields.exact() || !code || status_of(*code) != *status || message.size() > kOutcomeMessageBytesMax) {
    return corrupt("an outcome's error has wrong members", opened);
  }
  outcome.error = OutcomeError{.code = *code, .message = std::string(message)};
  return outcome;
}

}  // namespace assay::structured

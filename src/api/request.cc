#include "api/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/client_tools.h"
#include "chat/dynamic_tools.h"
#include "chat/title.h"

namespace assay::api {

namespace {

constexpr std::array<std::string_view, 7> kEfforts{"none", "minimal", "low", "medium", "high", "xhigh", "max"};
constexpr std::string_view kPlan = "plan";

using Checked = std::optional<ApiError>;

Checked check_effort(const std::optional<std::string>& effort) {
  if (!effort || std::ranges::find(kEfforts, *effort) != kEfforts.end()) return std::nullopt;
  return invalid_field("reasoning_effort", "must be one of none, minimal, low, medium, high, xhigh, max");
}

Checked check_plan_mode(std::string_view field, const std::optional<std::string>& plan_mode) {
  if (!plan_mode || plan_mode->empty() || *plan_mode == kPlan) return std::nullopt;
  return invalid_field(std::string(field), "must be empty or \"plan\"");
}

Checked check_mcp_servers(std::vector<Uuid> ids) {
  if (ids.empty()) return std::nullopt;
  std::ranges::sort(ids);
  const auto repeated = std::ranges::unique(ids);
  ids.erase(repeated.begin(), repeated.end());
  std::string list;
  for (const auto& id : ids) list += (list.empty() ? "" : ", ") + id.to_string();
  ApiError error =
      invalid_field("mcp_server_ids", "names servers that are not enabled: this release calls no MCP servers");
  error.detail = "Not enabled: " + list;
  return error;
}

const chat::ModelDescription* find_model(const Offer& offer, ModelConfigId id) {
  for (const auto& model : offer.models) {
    if (model.id == id) return &model;
  }
  return nullptr;
}

// The model asked for, or the default one.
Result<ModelConfigId, ApiError> choose_model(const Offer& offer, const std::optional<Uuid>& wanted) {
  if (wanted) {
    const auto* model = find_model(offer, ModelConfigId{*wanted});
    if (model == nullptr) return fail(invalid_field("model_config_id", "names no model of this server"));
    if (!model->enabled) return fail(invalid_field("model_config_id", "names a model that is disabled"));
    return model->id;
  }
  for (const auto& model : offer.models) {
    if (model.enabled && model.is_default) return model.id;
  }
  return fail(
      refusal(400, "No model is configured.", "Name a model in model_config_id, or configure a default model."));
}

// `raw` is the member as it was sent. Structured work excludes the plan mode and specialised child chats.
Result<structured::ResponseFormat, ApiError> check_format(std::string_view raw, const Offer& offer, bool plans,
                                                          bool is_special_child) {
  auto format = structured::parse_response_format(raw);
  if (!format) {
    ApiError error = refusal(400, "The response format is not valid.");
    for (auto& fault : format.error()) {
      error.validations.push_back(Validation{.field = std::move(fault.field), .detail = std::move(fault.detail)});
    }
    return fail(std::move(error));
  }
  if (format->kind != structured::FormatKind::JsonSchema) return std::move(*format);
  if (!offer.structured_output) {
    return fail(invalid_field("response_format",
                              "structured output is disabled on this server: it needs the experiment "
                              "chat-structured-output"));
  }
  if (plans) return fail(invalid_field("response_format", "cannot be combined with the plan mode"));
  if (is_special_child) return fail(invalid_field("response_format", "is not available in this kind of chat"));
  return std::move(*format);
}

// Settings of products with workspaces and orchestrators: asked for, they are refused rather than dropped.
Checked check_workspace(const std::optional<Uuid>& workspace) {
  if (!workspace || workspace->is_nil()) return std::nullopt;
  return invalid_field("workspace_id", "this server has no workspaces");
}

Checked check_client_type(const std::optional<std::string>& client_type) {
  if (!client_type || client_type->empty() || *client_type == "ui" || *client_type == "api") return std::nullopt;
  return invalid_field("client_type", "must be \"ui\" or \"api\"");
}

bool is_label_key(std::string_view key) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (key.empty() || key.size() > kLabelKeyBytesMax || !is_alphanumeric(key.front())) return false;
  return std::ranges::all_of(
      key, [&is_alphanumeric](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '/' || c == '-'; });
}

// The first of several checks that refuses, in the order given.
Checked first_of(std::initializer_list<Checked> checks) {
  for (const auto& check : checks) {
    if (check) return check;
  }
  return std::nullopt;
}

}  // namespace

Checked check_labels(const std::map<std::string, std::string>& labels) {
  if (labels.size() > kLabelsMax)
    return invalid_field("labels", fmt::format("at most {} labels are allowed", kLabelsMax));
  for (const auto& [key, value] : labels) {
    if (!is_label_key(key)) {
      return invalid_field("labels",
                           fmt::format("a key must be 1 to {} bytes of letters, digits and . _ / -, and begin "
                                       "with a letter or digit",
                                       kLabelKeyBytesMax));
    }
    if (value.empty() || value.size() > kLabelValueBytesMax) {
      return invalid_field("labels." + key, fmt::format("a value must have 1 to {} bytes", kLabelValueBytesMax));
    }
  }
  return std::nullopt;
}

Result<CreateRequest, ApiError> decode_create(std::string text, const store::User& user, const Offer& offer) {
  auto body = Body::parse(std::move(text));
  if (!body) return fail(std::move(body.error()));
  const auto organization = body->uuid("organization_id");
  const auto content_value = body->array("content");
  const auto system_prompt = body->string("system_prompt");
  const auto workspace = body->uuid("workspace_id");
  const auto model_config = body->uuid("model_config_id");
  const auto effort = body->string("reasoning_effort");
  auto mcp_servers = body->uuids("mcp_server_ids");
  const auto labels = body->string_map("labels");
  const auto tool_list = body->array("unsafe_dynamic_tools");
  const auto plan_mode = body->string("plan_mode");
  const auto client_type = body->string("client_type");
  const auto orchestrator = body->boolean("orchestrator");
  const auto format_text = body->raw_once("response_format");
  if (auto faults = body->faults()) return fail(std::move(*faults));

  if (!organization || organization->is_nil()) return fail(invalid_field("organization_id", "is required"));
  if (OrganizationId{*organization} != user.organization_id) {
    return fail(refusal(403, "You are not a member of this organization."));
  }
  auto content = decode_content(content_value);
  if (!content) return fail(std::move(content.error()));
  auto format = check_format(format_text, offer, plan_mode == kPlan, false);
  if (!format) return fail(std::move(format.error()));
  if (auto error = check_workspace(workspace)) return fail(std::move(*error));
  const auto model = choose_model(offer, model_config);
  if (!model) return fail(model.error());
  const auto tools = decode_dynamic_tools(tool_list, format->json_schema.has_value());
  const std::map<std::string, std::string> label_map = labels.value_or(std::map<std::string, std::string>());
  if (auto error = first_of({check_plan_mode("plan_mode", plan_mode), check_mcp_servers(std::move(mcp_servers)),
                             check_labels(label_map), tools ? Checked() : tools.error(), check_client_type(client_type),
                             check_effort(effort)})) {
    return fail(std::move(*error));
  }
  if (orchestrator.value_or(false)) return fail(invalid_field("orchestrator", "is not supported by this server"));

  CreateRequest request;
  request.input.organization_id = user.organization_id;
  request.input.owner_id = user.id;
  request.input.title = chat::fallback_title(*content);
  if (client_type && !client_type->empty()) request.input.client_type = *client_type;
  request.input.plan_mode = plan_mode.value_or("");
  request.input.labels = label_map;
  request.input.dynamic_tools = chat::encode_dynamic_tools(*tools);
  request.input.model_config = *model;
  request.input.reasoning_effort = effort;
  request.input.system_prompt = std::string(trimmed(system_prompt.value_or("")));
  request.input.content = std::move(*content);
  request.format = std::move(format->json_schema);
  return request;
}

Result<SendRequest, ApiError> decode_send(std::string text, const store::User& user, const chat::Chat& chat,
                                          const Offer& offer) {
  auto body = Body::parse(std::move(text));
  if (!body) return fail(std::move(body.error()));
  const auto content_value = body->array("content");
  const auto model_config = body->uuid("model_config_id");
  auto mcp_servers = body->uuids("mcp_server_ids");
  const auto busy_behavior = body->string("busy_behavior");
  const auto plan_mode = body->string("plan_mode");
  const auto effort = body->string("reasoning_effort");
  const auto format_text = body->raw_once("response_format");
  if (auto faults = body->faults()) return fail(std::move(*faults));

  auto content = decode_content(content_value);
  if (!content) return fail(std::move(content.error()));
  const bool plans = plan_mode.value_or(chat.plan_mode) == kPlan;
  auto format = check_format(format_text, offer, plans, !chat.mode.empty());
  if (!format) return fail(std::move(format.error()));
  if (format->json_schema && takes_finalizer_name(chat)) {
    return fail(invalid_field("response_format", "a tool of this chat's client has the reserved name"));
  }

  SendRequest request;
  if (model_config) {
    const auto model = choose_model(offer, model_config);
    if (!model) return fail(model.error());
    request.input.model_config = *model;
  }
  Checked busy;
  if (busy_behavior && !busy_behavior->empty() && *busy_behavior != "queue" && *busy_behavior != "interrupt") {
    busy = invalid_field("busy_behavior", "must be \"queue\" or \"interrupt\"");
  }
  if (auto error = first_of({check_plan_mode("plan_mode", plan_mode), check_mcp_servers(std::move(mcp_servers)), busy,
                             check_effort(effort)})) {
    return fail(std::move(*error));
  }
  request.input.content = std::move(*content);
  request.input.created_by = user.id;
  request.input.reasoning_effort = effort;
  request.input.plan_mode = plan_mode;
  if (busy_behavior == "interrupt") request.input.busy_behavior = chat::BusyBehavior::Interrupt;
  request.format = std::move(format->json_schema);
  return request;
}

Result<EditRequest, ApiError> decode_edit(std::string text, const store::User& user, const chat::Chat& chat,
                                          const Offer& offer) {
  auto body = Body::parse(std::move(text));
  if (!body) return fail(std::move(body.error()));
  const auto content_value = body->array("content");
  const auto model_config = body->uuid("model_config_id");
  auto mcp_servers = body->uuids("mcp_server_ids");
  const auto effort = body->string("reasoning_effort");
  const auto format_text = body->raw_once("response_format");
  if (auto faults = body->faults()) return fail(std::move(*faults));

  auto content = decode_content(content_value);
  if (!content) return fail(std::move(content.error()));
  auto format = check_format(format_text, offer, chat.plan_mode == kPlan, !chat.mode.empty());
  if (!format) return fail(std::move(format.error()));
  if (format->json_schema && takes_finalizer_name(chat)) {
    return fail(invalid_field("response_format", "a tool of this chat's client has the reserved name"));
  }

  EditRequest request;
  if (model_config) {
    const auto model = choose_model(offer, model_config);
    if (!model) return fail(model.error());
    request.input.model_config = *model;
  }
  if (auto error = first_of({check_mcp_servers(std::move(mcp_servers)), check_effort(effort)})) {
    return fail(std::move(*error));
  }
  request.input.content = std::move(*content);
  request.input.format = chat::ClearFormat{};
  request.input.created_by = user.id;
  request.input.reasoning_effort = effort;
  request.keeps_format = format->kind == structured::FormatKind::Unsaid;
  request.format = std::move(format->json_schema);
  return request;
}

Result<PatchRequest, ApiError> decode_patch(std::string text, const chat::Chat& chat) {
  auto body = Body::parse(std::move(text));
  if (!body) return fail(std::move(body.error()));
  const auto title = body->string("title");
  auto labels = body->string_map("labels");
  const auto archived = body->boolean("archived");
  const auto workspace = body->uuid("workspace_id");
  const auto pin_order = body->integer("pin_order");
  const auto plan_mode = body->string("plan_mode");
  if (auto faults = body->faults()) return fail(std::move(*faults));

  if (auto error = check_plan_mode("plan_mode", plan_mode)) return fail(std::move(*error));
  PatchRequest request;
  if (plan_mode != chat.plan_mode) request.plan_mode = plan_mode;
  if (title) {
    request.title = std::string(trimmed(*title));
    const auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; };
    const auto length = static_cast<std::size_t>(std::ranges::count_if(*request.title, is_first_byte));
    if (length == 0 || length > chat::kTitleCodePointsMax) {
      return fail(invalid_field("title", fmt::format("must have 1 to {} characters", chat::kTitleCodePointsMax)));
    }
  }
  if (labels) {
    if (auto error = check_labels(*labels)) return fail(std::move(*error));
    request.labels = std::move(labels);
  }
  if (archived && *archived == chat.archived) {
    return fail(invalid_field("archived", chat.archived ? "the chat is already archived" : "the chat is not archived"));
  }
  request.archived = archived;
  if (pin_order && *pin_order != 0) return fail(invalid_field("pin_order", "pinning is not supported by this release"));
  if (auto error = check_workspace(workspace)) return fail(std::move(*error));
  return request;
}

structured::RequestPart request_part(RequestId id, structured::JsonSchemaFormat format) {
  return structured::RequestPart{.request_id = id,
                                 .name = std::move(format.name),
                                 .description = std::move(format.description),
                                 .schema = std::move(format.schema)};
}

}  // namespace assay::api

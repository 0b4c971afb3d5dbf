#include "api/router.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace assay::api {

namespace {

constexpr std::array kRoutes{
    Route{.method = "POST", .pattern = "/api/v2/chats", .endpoint = Endpoint::CreateChat},
    Route{.method = "GET", .pattern = "/api/v2/chats", .endpoint = Endpoint::ListChats},
    Route{.method = "GET", .pattern = "/api/v2/chats/{chat}", .endpoint = Endpoint::GetChat},
    Route{.method = "PATCH", .pattern = "/api/v2/chats/{chat}", .endpoint = Endpoint::PatchChat},
    Route{.method = "GET", .pattern = "/api/v2/chats/{chat}/messages", .endpoint = Endpoint::ListMessages},
    Route{.method = "POST", .pattern = "/api/v2/chats/{chat}/messages", .endpoint = Endpoint::SendMessage},
    Route{.method = "DELETE",
          .pattern = "/api/v2/chats/{chat}/queue/{queued}",
          .endpoint = Endpoint::DeleteQueuedMessage},
    Route{.method = "POST", .pattern = "/api/v2/chats/{chat}/interrupt", .endpoint = Endpoint::Interrupt},
    Route{.method = "POST", .pattern = "/api/v2/chats/{chat}/tool-results", .endpoint = Endpoint::ToolResults},
    Route{
        .method = "POST", .pattern = "/api/v2/chats/{chat}/reconcile-invalid", .endpoint = Endpoint::ReconcileInvalid},
    Route{.method = "PATCH", .pattern = "/api/v2/chats/{chat}/messages/{message}", .endpoint = Endpoint::EditMessage},
    Route{.method = "POST",
          .pattern = "/api/v2/chats/{chat}/queue/{queued}/promote",
          .endpoint = Endpoint::PromoteQueuedMessage},
    Route{.method = "POST", .pattern = "/api/v2/chats/{chat}/compact", .endpoint = Endpoint::Compact},
    Route{.method = "POST", .pattern = "/api/v2/chats/{chat}/clear", .endpoint = Endpoint::Clear},
    Route{.method = "GET", .pattern = "/api/v2/chats/{chat}/stream", .endpoint = Endpoint::Stream},
    Route{.method = "GET", .pattern = "/api/experimental/chats/model-configs", .endpoint = Endpoint::ModelConfigs},
    Route{.method = "POST", .pattern = "/api/experimental/chats", .endpoint = Endpoint::CreateChat},
    Route{.method = "GET", .pattern = "/api/experimental/chats", .endpoint = Endpoint::ListChats},
    Route{.method = "GET", .pattern = "/api/experimental/chats/{chat}", .endpoint = Endpoint::GetChat},
    Route{.method = "PATCH", .pattern = "/api/experimental/chats/{chat}", .endpoint = Endpoint::PatchChat},
    Route{.method = "GET", .pattern = "/api/experimental/chats/{chat}/messages", .endpoint = Endpoint::ListMessages},
    Route{.method = "POST", .pattern = "/api/experimental/chats/{chat}/messages", .endpoint = Endpoint::SendMessage},
    Route{.method = "DELETE",
          .pattern = "/api/experimental/chats/{chat}/queue/{queued}",
          .endpoint = Endpoint::DeleteQueuedMessage},
    Route{.method = "POST", .pattern = "/api/experimental/chats/{chat}/interrupt", .endpoint = Endpoint::Interrupt},
    Route{
        .method = "POST", .pattern = "/api/experimental/chats/{chat}/tool-results", .endpoint = Endpoint::ToolResults},
    Route{.method = "POST",
          .pattern = "/api/experimental/chats/{chat}/reconcile-invalid",
          .endpoint = Endpoint::ReconcileInvalid},
    Route{.method = "PATCH",
          .pattern = "/api/experimental/chats/{chat}/messages/{message}",
          .endpoint = Endpoint::EditMessage},
    Route{.method = "POST",
          .pattern = "/api/experimental/chats/{chat}/queue/{queued}/promote",
          .endpoint = Endpoint::PromoteQueuedMessage},
    Route{.method = "POST", .pattern = "/api/experimental/chats/{chat}/compact", .endpoint = Endpoint::Compact},
    Route{.method = "POST", .pattern = "/api/experimental/chats/{chat}/clear", .endpoint = Endpoint::Clear},
    Route{.method = "GET", .pattern = "/api/experimental/chats/{chat}/stream", .endpoint = Endpoint::Stream},
    Route{.method = "GET",
          .pattern = "/api/v2/organizations/{organization}/chats/models",
          .endpoint = Endpoint::OrganizationModels},
    Route{.method = "GET", .pattern = "/api/v2/users/me", .endpoint = Endpoint::CurrentUser},
    Route{.method = "GET", .pattern = "/healthz", .endpoint = Endpoint::Health},
    Route{.method = "GET", .pattern = "/readyz", .endpoint = Endpoint::Readiness},
    Route{.method = "GET", .pattern = "/metrics", .endpoint = Endpoint::Metrics},
};

// Where a chat's id would stand.
constexpr std::array<std::string_view, 8> kReserved{"model-configs", "models", "providers",    "user-provider-configs",
                                                    "watch",         "files",  "by-workspace", "config"};

std::string_view take_segment(std::string_view& path) {
  const auto end = std::min(path.find('/', 1), path.size());
  const auto segment = path.substr(1, end - 1);
  path.remove_prefix(end);
  return segment;
}

// The parameters where the path fits the pattern. Both begin with a slash.
std::optional<std::vector<std::string>> match_pattern(std::string_view pattern, std::string_view path) {
  std::vector<std::string> parameters;
  while (!pattern.empty() && path.starts_with('/')) {
    const auto wanted = take_segment(pattern);
    const auto given = take_segment(path);
    if (wanted.starts_with('{')) {
      if (given.empty()) return std::nullopt;
      if (wanted == "{chat}" && std::ranges::find(kReserved, given) != kReserved.end()) return std::nullopt;
      parameters.emplace_back(given);
    } else if (wanted != given) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return parameters;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

std::string_view name_of(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::CreateChat:
      return "create_chat";
    case Endpoint::ListChats:
      return "list_chats";
    case Endpoint::GetChat:
      return "get_chat";
    case Endpoint::PatchChat:
      return "patch_chat";
    case Endpoint::ListMessages:
      return "list_messages";
    case Endpoint::SendMessage:
      return "send_message";
    case Endpoint::EditMessage:
      return "edit_message";
    case Endpoint::PromoteQueuedMessage:
      return "promote_queued_message";
    case Endpoint::Compact:
      return "compact_chat";
    case Endpoint::Clear:
      return "clear_chat";
    case Endpoint::DeleteQueuedMessage:
      return "delete_queued_message";
    case Endpoint::Interrupt:
      return "interrupt";
    case Endpoint::ToolResults:
      return "tool_results";
    case Endpoint::ReconcileInvalid:
      return "reconcile_invalid";
    case Endpoint::Stream:
      return "stream";
    case Endpoint::ModelConfigs:
      return "model_configs";
    case Endpoint::OrganizationModels:
      return "organization_models";
    case Endpoint::CurrentUser:
      return "current_user";
    case Endpoint::Health:
      return "health";
    case Endpoint::Readiness:
      return "readiness";
    case Endpoint::Metrics:
      return "metrics";
  }
  std::unreachable();
}

RouteResult match_route(std::string_view method, std::string_view path) {
  WrongMethod other;
  for (const auto& route : kRoutes) {
    auto parameters = match_pattern(route.pattern, path);
    if (!parameters) continue;
    const bool is_head = method == "HEAD" && route.method == "GET" && route.endpoint != Endpoint::Stream;
    if (method == route.method || is_head)
      return Match{.endpoint = route.endpoint, .parameters = std::move(*parameters)};
    if (!other.allow.empty()) other.allow += ", ";
    other.allow += route.method;
  }
  if (other.allow.empty()) return NoRoute{};
  return other;
}

}  // namespace assay::api

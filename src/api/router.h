#pragma once
// The table of routes and the matching of a request against it. Pure. A test compares the table with api/openapi.yaml.
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay::api {

enum class Endpoint {
  CreateChat,
  ListChats,
  GetChat,
  PatchChat,
  ListMessages,
  SendMessage,
  EditMessage,
  DeleteQueuedMessage,
  PromoteQueuedMessage,
  Interrupt,
  Compact,
  Clear,
  ToolResults,
  ReconcileInvalid,
  Stream,
  ModelConfigs,
  OrganizationModels,
  CurrentUser,
  Health,
  Readiness,
  Metrics,
};

struct Route {
  std::string_view method;
  std::string_view pattern;  // `{name}` stands for one segment
  Endpoint endpoint;
};

// In order of precedence. The chat routes stand under both prefixes that clients use.
std::span<const Route> routes();

// A short constant name, for logs and metrics.
std::string_view name_of(Endpoint endpoint);

struct Match {
  Endpoint endpoint;
  std::vector<std::string> parameters;  // in the order of the pattern
};
struct NoRoute {};
struct WrongMethod {
  std::string allow;  // for the Allow field
};
using RouteResult = std::variant<Match, NoRoute, WrongMethod>;

// HEAD is answered as GET. Words that the public API reserves in place of a chat's id are no route.
RouteResult match_route(std::string_view method, std::string_view path);

}  // namespace assay::api

#include "api/service.h"

#include <optional>
#include <variant>

#include "base/log.h"

namespace assay::api {

live::StreamSources Services::stream_sources() {
  return live::StreamSources{.chats = store.chats(),
                             .notifications = store.notifications(),
                             .episodes = episodes,
                             .clock = clock,
                             .metrics = streams};
}

net::HttpResponse json_response(int status, std::string body) {
  net::HttpResponse response;
  response.status = status;
  response.headers.add("Content-Type", "application/json; charset=utf-8");
  response.body = std::move(body);
  return response;
}

net::HttpResponse error_response(const ApiError& error) {
  auto response = json_response(error.status, error_body(error));
  if (error.status == 401) response.headers.add("WWW-Authenticate", "Bearer");
  return response;
}

ApiError error_of(const store::StoreError& error) {
  using Kind = store::StoreErrorKind;
  switch (error.kind) {
    case Kind::Unavailable:
    case Kind::Timeout:
      return refusal(503, "The database is not available.", "Nothing was changed. Try again later.");
    case Kind::InDoubt:
      return refusal(503, "The connection to the database was lost.",
                     "It is not known whether the change was made. Read the chat before you send it again.");
    case Kind::Corrupt:
    case Kind::SchemaNewer:
    case Kind::Internal:
      break;
  }
  log::error("a request failed in the store",
             {{"kind", store::to_string(error.kind)}, {"message", error.message}, {"sqlstate", error.sqlstate}});
  return refusal(500, "An internal error occurred.");
}

ApiError error_of(const chat::Refusal& refused) {
  switch (refused.kind) {
    case chat::RefusalKind::NotFound:
      return refusal(404, "Not found.", refused.message);
    case chat::RefusalKind::NothingToDo:
      return refusal(409, "There is nothing to do.", refused.message);
    case chat::RefusalKind::Conflict:
    case chat::RefusalKind::Stale:
      return refusal(409, "The state of the chat does not allow this.", refused.message);
    case chat::RefusalKind::InvalidInput:
      if (!refused.field.empty()) return invalid_field(refused.field, refused.message);
      return refusal(400, "The request is not valid.", refused.message);
    case chat::RefusalKind::QueueFull:
      return refusal(429, "The queue of the chat is full.", refused.message);
    case chat::RefusalKind::Archived:
      return refusal(400, "The chat is archived.", refused.message);
  }
  std::unreachable();
}

ApiError error_of(const store::TransitError& error) {
  return std::visit([](const auto& cause) { return error_of(cause); }, error);
}

net::Task<Result<chat::Chat, ApiError>> find_chat(Services& services, const Call& call) {
  const auto id = ChatId::parse(call.parameters.front());
  if (!id) co_return fail(refusal(400, "The chat's id is not valid.", "chat must be a UUID."));
  const UserId user = call.user.id;
  auto found = co_await services.store.chats().find_chat(*id, call.deadline);
  if (!found) co_return fail(error_of(found.error()));
  if (!*found || (*found)->owner_id != user) co_return fail(refusal(404, "There is no such chat."));
  co_return std::move(**found);
}

}  // namespace assay::api

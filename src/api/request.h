#pragma once
// What clients ask for, decoded and checked: everything that can be refused without looking at the state of a chat is
// refused here, before anything is written. Pure. The order of checks is the public API's: types, organisation,
// content, response_format, workspace, model, plan mode, MCP servers, labels, tools, client type, effort.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/body.h"
#include "api/error.h"
#include "base/result.h"
#include "chat/chat.h"
#include "chat/edit.h"
#include "chat/model.h"
#include "chat/transitions.h"
#include "store/people.h"
#include "structured/response_format.h"

namespace assay::api {

inline constexpr std::size_t kLabelsMax = 50;
inline constexpr std::size_t kLabelKeyBytesMax = 64;
inline constexpr std::size_t kLabelValueBytesMax = 256;

// What the server offers.
struct Offer {
  std::vector<chat::ModelDescription> models;
  bool structured_output = false;  // the experiment `chat-structured-output`
};

struct CreateRequest {
  chat::CreateChat input;  // without id
  std::optional<structured::JsonSchemaFormat> format;
};
Result<CreateRequest, ApiError> decode_create(std::string body, const store::User& user, const Offer& offer);

struct SendRequest {
  chat::SendMessage input;
  std::optional<structured::JsonSchemaFormat> format;
};
Result<SendRequest, ApiError> decode_send(std::string body, const store::User& user, const chat::Chat& chat,
                                          const Offer& offer);

struct EditRequest {
  chat::EditMessage input;    // without message id and format
  bool keeps_format = false;  // else `format`, or none
  std::optional<structured::JsonSchemaFormat> format;
};
Result<EditRequest, ApiError> decode_edit(std::string body, const store::User& user, const chat::Chat& chat,
                                          const Offer& offer);

struct PatchRequest {
  std::optional<std::string> title;  // trimmed
  std::optional<std::map<std::string, std::string>> labels;
  std::optional<bool> archived;
  std::optional<std::string> plan_mode;
  [[nodiscard]] bool changes_nothing() const { return !title && !labels && !archived && !plan_mode; }
};
Result<PatchRequest, ApiError> decode_patch(std::string body, const chat::Chat& chat);

// The part that makes a message a structured request.
structured::RequestPart request_part(RequestId id, structured::JsonSchemaFormat format);

using QueryParameters = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::int64_t kPageMessagesMax = 200;
inline constexpr std::int64_t kPageMessagesDefault = 50;
inline constexpr std::int64_t kListChatsMax = 200;
inline constexpr std::int64_t kListChatsDefault = 50;

struct ListRequest {
  std::optional<bool> archived;  // archived chats are listed only when asked for
  std::vector<std::pair<std::string, std::string>> labels;
  std::string title_contains;
  std::optional<bool> has_unread;
  std::optional<ChatId> after_id;
  std::int64_t offset = 0;
  std::int64_t limit = kListChatsDefault;  // more than kListChatsMax are asked for: that many
};
Result<ListRequest, ApiError> decode_list(const QueryParameters& query);

struct PageRequest {
  std::optional<std::int64_t> before_id;
  std::optional<std::int64_t> after_id;
  std::int64_t limit = kPageMessagesDefault;
};
Result<PageRequest, ApiError> decode_page(const QueryParameters& query);

// Each with its field named; used by the requests above.
Result<chat::Content, ApiError> decode_content(const std::optional<json::Value>& content);
std::optional<ApiError> check_labels(const std::map<std::string, std::string>& labels);

}  // namespace assay::api

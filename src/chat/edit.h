#pragma once
// An edit: the message and everything after it are deleted, the queue is cleared, a replacement begins a new turn.
// Requests that were still owed end `superseded`.
#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "chat/effects.h"
#include "chat/message.h"

namespace assay::chat {

// The edited message's own format, if it has one, for a new request: it is read and checked under the chat's lock.
struct KeepFormat {
  RequestId request_id;      // minted for this edit
  bool is_admitted = false;  // whether this server accepts structured requests at present
};
struct ClearFormat {};
using EditedFormat = std::variant<KeepFormat, ClearFormat, structured::RequestPart>;

struct EditMessage {
  std::int64_t message_id = 0;
  Content content;  // without a RequestPart: `format` tells
  EditedFormat format;
  UserId created_by;
  std::optional<ModelConfigId> model_config;    // empty: the edited message's
  std::optional<std::string> reasoning_effort;  // empty: the edited message's
};

ReadPlan reads_of(const EditMessage& input);
// NotFound: no such message that a client can see. InvalidInput: it is no user's message, or its format is not
// accepted (field `response_format`).
Decision decide(const LockedChat& locked, const EditMessage& input);

}  // namespace assay::chat

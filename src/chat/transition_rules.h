#pragma once
// What several transitions share. Internal to chat/: callers of the room use transitions.h, edit.h, promote.h and
// context.h.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "chat/chat.h"
#include "chat/effects.h"
#include "chat/message.h"
#include "chat/state.h"
#include "chat/transitions.h"

namespace assay::chat {

// Why calls that nobody will answer are canceled.
inline constexpr std::string_view kByUserMessage =
    "Canceled by a new message of the user. The outcome of this call is unknown.";
inline constexpr std::string_view kByPromotion =
    "Canceled by the next message of the queue. The outcome of this call is unknown.";
inline constexpr std::string_view kByInterrupt = "Canceled by the user. The outcome of this call is unknown.";
inline constexpr std::string_view kByEdit =
    "Canceled by an edit of an earlier message. The outcome of this call is unknown.";
inline constexpr std::string_view kByError =
    "Canceled: the turn ended with an error. The outcome of this call is unknown.";
inline constexpr std::string_view kByReconcile =
    "Canceled: the chat's state was not valid. The outcome of this call is unknown.";

inline auto refused(RefusalKind kind, std::string message, std::string field = {}) {
  return fail(Refusal{.kind = kind, .message = std::move(message), .field = std::move(field)});
}

// The refusal of the table, if it refuses.
[[nodiscard]] std::optional<Refusal> check_table(const Chat& chat, Transition transition);
// Stale where the fence moved, else as the table has it.
[[nodiscard]] std::optional<Refusal> check_fence(const Chat& chat, const Fence& fence, Transition transition);
// Why a message with a format cannot be taken in such a mode.
[[nodiscard]] std::optional<Refusal> check_format_mode(std::string_view mode, std::string_view plan_mode);

// Answers every call that `locked.history` and what is inserted so far leave open.
void cancel_calls(const LockedChat& locked, std::string_view text, Effects& effects);

// Inserts the receipt unless the request is closed: never a second one.
void add_receipt(const LockedChat& locked, const structured::OutcomePart& outcome, Effects& effects);
[[nodiscard]] bool is_closed(const LockedChat& locked, RequestId id);

struct UserInput {
  const Content& content;
  UserId created_by;
  const std::optional<ModelConfigId>& model_config;
  const std::optional<std::string>& reasoning_effort;
};
void insert_user_message(const Chat& chat, const UserInput& input, Effects& effects);

// Takes a message of the queue into history, once open calls have their answers. Requires: it can be read.
void promote(const LockedChat& locked, const QueuedMessage& message, Effects& effects);
// Of a queued message that cannot be read.
[[nodiscard]] ChatError unreadable_message();

// The request that a history still owes, whether or not it can be read beyond its id.
[[nodiscard]] std::optional<RequestId> owed_request(std::span<const Message> history);
// The request that a message's content asks for, where that much can be read.
[[nodiscard]] std::optional<RequestId> request_id_of(const Content& content,
                                                     const std::optional<structured::Corruption>& corruption);

// Into error: nothing of the turn stays, its owner is released.
void enter_error(const Chat& chat, const ChatError& error, Effects& effects);
// What leaves running, interrupting or requires_action for good, or begins anew, keeps neither a retry nor a deadline
// nor a compaction that was asked for.
void drop_work(const Chat& chat, Effects& effects);

}  // namespace assay::chat

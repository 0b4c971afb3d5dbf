#pragma once
// Rows that the server writes of its own accord, and what a history owes: shared by transitions and turn.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/message.h"

namespace assay::chat {

// Results of calls that are not executed.
inline constexpr std::string_view kUnknownToolText = "There is no tool of this name.";
inline constexpr std::string_view kLostCallText =
    "This call was started and then lost: whether it took effect is unknown. Check before calling again.";

// Row of `role`, holding one text.
[[nodiscard]] NewMessage text_row(Role role, Visibility visibility, std::string text);

// The result of a call as a row of its own. Requires: `result` is JSON text.
[[nodiscard]] NewMessage answer_row(const ToolCallPart& call, std::string result, bool is_error);
// The same for a text, which becomes a JSON string.
[[nodiscard]] NewMessage result_row(const ToolCallPart& call, std::string_view text, bool is_error);

// The receipt's row: assistant, for clients alone, one text and the outcome.
[[nodiscard]] NewMessage receipt_row(const structured::OutcomePart& outcome);

// The structured request that a message asks for, or null. Lifetime: the content's.
[[nodiscard]] const structured::RequestPart* request_of(const Content& content);

// Local calls of the last step (role Assistant, visibility Both) that no later row answers, in order.
[[nodiscard]] std::vector<ToolCallPart> outstanding_calls(std::span<const Message> history);
// The same once `rows` are appended.
[[nodiscard]] std::vector<ToolCallPart> outstanding_calls(std::span<const Message> history,
                                                          std::span<const NewMessage> rows);

}  // namespace assay::chat

#pragma once
// What of a long conversation the model is still shown. A boundary row (model-only, `compressed`) stands for everything
// before it: a summary after a compaction, nothing after a clear. No row before it is changed or deleted: clients keep
// the whole history, an edit further back lifts the boundary, and `active_request` reads across it.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/effects.h"
#include "chat/message.h"

namespace assay::chat {

// The latest boundary row and all after it; everything where there is none. System rows before it still count.
[[nodiscard]] std::span<const Message> context_of(std::span<const Message> history);

// A boundary with this text for the model, empty: none, and the notice that clients get: a call of that name and its
// result (JSON text). `history_version` makes the call's id unique in the chat.
[[nodiscard]] std::vector<NewMessage> boundary_rows(std::string text, std::string_view notice, std::string result,
                                                    std::int64_t history_version);
inline constexpr std::string_view kSummarizedNotice = "chat_summarized";
inline constexpr std::string_view kClearedNotice = "chat_cleared";

// Makes the chat run a turn that only sums the conversation up (compaction.h). NothingToDo where there is no
// conversation.
struct RequestCompaction {};
ReadPlan reads_of(const RequestCompaction& input);
Decision decide(const LockedChat& locked, const RequestCompaction& input);

// Makes the model forget the conversation, at once. NothingToDo where there is none.
struct ClearContext {};
ReadPlan reads_of(const ClearContext& input);
Decision decide(const LockedChat& locked, const ClearContext& input);

}  // namespace assay::chat

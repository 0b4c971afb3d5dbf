#pragma once
// What several transitions share. Internal to chat/.
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "chat/chat.h"
#include "chat/effects.h"
#include "chat/state.h"
#include "chat/transitions.h"

namespace assay::chat {

inline auto refused(RefusalKind kind, std::string message) {
  return fail(Refusal{.kind = kind, .message = std::move(message)});
}

// The refusal of the table, if it refuses.
[[nodiscard]] std::optional<Refusal> check_table(const Chat& chat, Transition transition);
// Stale where the fence moved, else as the table has it.
[[nodiscard]] std::optional<Refusal> check_fence(const Chat& chat, const Fence& fence, Transition transition);

// Answers every call that `locked.history` and what is inserted so far leave open.
void cancel_calls(const LockedChat& locked, std::string_view text, Effects& effects);

}  // namespace assay::chat

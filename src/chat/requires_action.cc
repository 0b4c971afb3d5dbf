#include "chat/requires_action.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "chat/transition_rules.h"

namespace assay::chat {

namespace {

constexpr std::string_view kByTimeout =
    "The client did not answer this call in time. Whether it took effect is unknown.";

ReadPlan read_open_step() {
  ReadPlan reads;
  reads.open_step = true;
  return reads;
}

void resume(Effects& effects) {
  effects.status = Status::Running;
  effects.clear_requires_action_deadline = true;
}

// Ids are the model's or the client's words: long ones are not echoed whole.
std::string quoted(std::string_view id) {
  constexpr std::size_t kEchoBytesMax = 64;
  return fmt::format("\"{}{}\"", id.substr(0, kEchoBytesMax), id.size() > kEchoBytesMax ? "..." : "");
}

std::optional<std::string> results_fault(const std::vector<ToolCallPart>& pending,
                                         const std::vector<ToolOutput>& results) {
  if (results.empty()) return "results must not be empty";
  std::set<std::string_view> answered;
  for (const ToolOutput& result : results) {
    if (!answered.insert(result.call_id).second) {
      return fmt::format("two results have the tool_call_id {}", quoted(result.call_id));
    }
  }
  std::set<std::string_view> open;
  for (const ToolCallPart& call : pending) {
    open.insert(call.id);
    if (!answered.contains(call.id)) return fmt::format("the call {} has no result", quoted(call.id));
  }
  for (const ToolOutput& result : results) {
    if (!open.contains(result.call_id)) return fmt::format("no call {} is pending", quoted(result.call_id));
  }
  return std::nullopt;
}

}  // namespace

ReadPlan reads_of(const EnterRequiresAction&) { return read_open_step(); }

Decision decide(const LockedChat& locked, const EnterRequiresAction& input) {
  if (auto refusal = check_fence(locked.chat, input.fence, Transition::EnterRequiresAction)) {
    return fail(std::move(*refusal));
  }
  if (outstanding_calls(locked.history, input.rows).empty()) {
    return refused(RefusalKind::InvalidInput, "no call waits for the client");
  }
  Effects effects;
  effects.insert = input.rows;
  effects.status = Status::RequiresAction;
  effects.retry_state = std::optional<RetryState>();
  effects.requires_action_after_ms = input.patience_ms;
  return effects;
}

ReadPlan reads_of(const CompleteRequiresAction&) { return read_open_step(); }

Decision decide(const LockedChat& locked, const CompleteRequiresAction& input) {
  if (auto refusal = check_table(locked.chat, Transition::CompleteRequiresAction)) return fail(std::move(*refusal));
  const std::vector<ToolCallPart> pending = outstanding_calls(locked.history);
  if (auto fault = results_fault(pending, input.results)) {
    return refused(RefusalKind::InvalidInput, std::move(*fault));
  }
  Effects effects;
  for (const ToolCallPart& call : pending) {
    const auto result = std::ranges::find(input.results, call.id, &ToolOutput::call_id);
    NewMessage row = answer_row(call, result->output, result->is_error);
    row.created_by = input.created_by;
    effects.insert.push_back(std::move(row));
  }
  resume(effects);
  return effects;
}

ReadPlan reads_of(const CancelRequiresAction&) { return read_open_step(); }

Decision decide(const LockedChat& locked, const CancelRequiresAction& input) {
  if (auto refusal = check_fence(locked.chat, input.fence, Transition::CancelRequiresAction)) {
    return fail(std::move(*refusal));
  }
  if (locked.chat.requires_action_deadline && locked.now < *locked.chat.requires_action_deadline) {
    return refused(RefusalKind::Stale, "the deadline has not passed");
  }
  Effects effects;
  cancel_calls(locked, kByTimeout, effects);
  resume(effects);
  return effects;
}

}  // namespace assay::chat

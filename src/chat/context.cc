#include "chat/context.h"

#include <algorithm>
#include <utility>

#include "chat/rows.h"
#include "chat/transition_rules.h"

namespace assay::chat {

namespace {

constexpr std::string_view kManual = R"({"source":"manual"})";

bool is_boundary(const Message& message) { return message.compressed && message.visibility == Visibility::Model; }

// Whether a model would be shown anything of the conversation that the latest boundary does not stand for.
bool has_context(std::span<const Message> history) {
  return std::ranges::any_of(context_of(history), [](const Message& message) {
    return message.visibility != Visibility::User && message.role != Role::System && !is_boundary(message);
  });
}

ReadPlan whole_history() {
  ReadPlan reads;
  reads.history = true;
  return reads;
}

}  // namespace

std::span<const Message> context_of(std::span<const Message> history) {
  for (std::size_t i = history.size(); i > 0; --i) {
    if (is_boundary(history[i - 1])) return history.subspan(i - 1);
  }
  return history;
}

std::vector<NewMessage> boundary_rows(std::string text, std::string_view notice, std::string result,
                                      std::int64_t history_version) {
  NewMessage boundary;
  boundary.role = Role::User;
  boundary.visibility = Visibility::Model;
  boundary.compressed = true;
  if (!text.empty()) boundary.content.emplace_back(TextPart{.text = std::move(text)});

  const std::string id = std::string(notice) + "_" + std::to_string(history_version);
  NewMessage call;
  call.role = Role::Assistant;
  call.visibility = Visibility::User;
  call.content.emplace_back(ToolCallPart{.id = id,
                                         .name = std::string(notice),
                                         .arguments = std::string(kManual),
                                         .rejected_arguments = false,
                                         .provider_executed = false,
                                         .provider_state = {}});
  NewMessage answer;
  answer.role = Role::Tool;
  answer.visibility = Visibility::User;
  answer.content.emplace_back(ToolResultPart{.call_id = id,
                                             .name = std::string(notice),
                                             .result = std::move(result),
                                             .is_error = false,
                                             .provider_executed = false,
                                             .provider_state = {}});
  return {std::move(boundary), std::move(call), std::move(answer)};
}

ReadPlan reads_of(const RequestCompaction&) { return whole_history(); }

Decision decide(const LockedChat& locked, const RequestCompaction&) {
  if (auto refusal = check_table(locked.chat, Transition::RequestCompaction)) return fail(std::move(*refusal));
  if (!has_context(locked.history)) return refused(RefusalKind::NothingToDo, "There is nothing to compact.");
  Effects effects;
  effects.status = Status::Running;
  effects.compaction_due = true;
  effects.generation_attempt = 0;
  if (locked.chat.status == Status::Error) effects.last_error = std::optional<ChatError>();
  return effects;
}

ReadPlan reads_of(const ClearContext&) { return whole_history(); }

Decision decide(const LockedChat& locked, const ClearContext&) {
  if (auto refusal = check_table(locked.chat, Transition::ClearContext)) return fail(std::move(*refusal));
  if (!has_context(locked.history)) return refused(RefusalKind::NothingToDo, "There is nothing to clear.");
  Effects effects;
  effects.insert = boundary_rows({}, kClearedNotice, std::string(kManual), locked.chat.history_version);
  effects.status = Status::Waiting;
  if (locked.chat.status == Status::Error) effects.last_error = std::optional<ChatError>();
  return effects;
}

}  // namespace assay::chat

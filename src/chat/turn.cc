#include "chat/turn.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "chat/context.h"
#include "chat/dynamic_tools.h"
#include "json/document.h"
#include "json/limits.h"
#include "structured/outcome.h"
#include "structured/step_judgement.h"

namespace assay::chat {

namespace {

using structured::RowView;

structured::RowRole role_of(Role role) {
  switch (role) {
    case Role::System:
      return structured::RowRole::System;
    case Role::User:
      return structured::RowRole::User;
    case Role::Assistant:
      return structured::RowRole::Assistant;
    case Role::Tool:
      break;
  }
  return structured::RowRole::Tool;
}

structured::RowVisibility visibility_of(Visibility visibility) {
  switch (visibility) {
    case Visibility::User:
      return structured::RowVisibility::User;
    case Visibility::Model:
      return structured::RowVisibility::Model;
    case Visibility::Both:
      break;
  }
  return structured::RowVisibility::Both;
}

RowView view_of(const Message& message) {
  RowView view;
  view.id = message.id;
  view.role = role_of(message.role);
  view.visibility = visibility_of(message.visibility);
  if (message.corruption) view.corruption = &*message.corruption;
  for (const Part& part : message.content) {
    if (const auto* request = std::get_if<structured::RequestPart>(&part)) {
      view.requests.push_back(request);
    } else if (const auto* control = std::get_if<structured::ControlPart>(&part)) {
      view.controls.push_back(control);
    } else if (const auto* outcome = std::get_if<structured::OutcomePart>(&part)) {
      view.outcomes.push_back(outcome);
    } else if (std::holds_alternative<TextPart>(part)) {
      ++view.text_parts;
    } else {
      ++view.other_parts;
    }
  }
  return view;
}

FailTurn fail_corrupt(const TurnView& turn, const std::string& what, std::optional<RequestId> request_id) {
  FailTurn failed{.error = turn_error(turn, "config", "The stored state of this chat cannot be used: " + what + "."),
                  .receipt = std::nullopt};
  if (request_id) {
    failed.receipt = structured::ended(*request_id, structured::OutcomeCode::ConfigurationError, failed.error.message);
  }
  return failed;
}

bool needs_provider_to_go_on(const Message& message) {
  for (const Part& part : message.content) {
    if (std::holds_alternative<PausePart>(part)) return true;
    const auto* call = std::get_if<ToolCallPart>(&part);
    if (call == nullptr || !call->provider_executed) continue;
    const bool answered = std::any_of(message.content.begin(), message.content.end(), [&](const Part& other) {
      const auto* result = std::get_if<ToolResultPart>(&other);
      return result != nullptr && result->call_id == call->id;
    });
    if (!answered) return true;
  }
  return false;
}

AnswerCalls answer(const TurnView& turn, const std::vector<ToolCallPart>& calls) {
  AnswerCalls answers;
  for (const ToolCallPart& call : calls) {
    const ToolDefinition* tool = find_tool(turn.tools, call.name);
    if (tool != nullptr && tool->client_executed) {
      answers.awaits_client = true;
    } else {
      answers.rows.push_back(result_row(call, tool != nullptr ? kLostCallText : kUnknownToolText, true));
    }
  }
  return answers;
}

TurnDecision decide_governed(const TurnView& turn, structured::ActiveRequest request) {
  std::vector<std::string_view> names;
  for (const ToolDefinition& tool : turn.tools) names.push_back(tool.name);
  auto schema = structured::preflight(
      request.request, structured::Offer{.other_tools = names, .strict_forced = turn.strict_forced}, turn.compiled);
  if (!schema) return fail_request(turn, request.request.request_id, schema.error());
  if (request.candidate) {
    // Valid when it was stored; what is published is checked by this very program.
    const auto value = json::Document::parse(request.candidate->value, json::kOutputCaps);
    if (!value || !schema->is_valid(value->root())) {
      return fail_corrupt(turn, "a stored candidate does not satisfy its schema", request.request.request_id);
    }
    return EndTurn{.receipt = structured::succeeded(request.request.request_id, request.candidate->value)};
  }
  if (request.rejections > structured::kRepairsMax) {
    return fail_request(turn, request.request.request_id,
                        structured::exhausted(structured::Budget::Repairs, request.rejection_answered_finalizer));
  }
  if (request.steps >= turn.steps_max) {
    return fail_request(turn, request.request.request_id,
                        structured::exhausted(structured::Budget::Steps, request.rejection_answered_finalizer));
  }
  return Generate{.governing = Governing{.request = std::move(request), .schema = std::move(*schema)}};
}

TurnDecision decide_ordinary(const TurnView& turn, std::span<const RowView> rows) {
  std::int64_t steps = 0;
  for (std::size_t i = rows.size(); i > 0 && !structured::is_input_row(rows[i - 1]); --i) {
    if (structured::is_step_row(rows[i - 1])) ++steps;
  }
  for (std::size_t i = turn.history.size(); i > 0; --i) {
    const Message& message = turn.history[i - 1];
    if (message.visibility == Visibility::User) continue;
    if (structured::is_step_row(rows[i - 1]) && !needs_provider_to_go_on(message)) return EndTurn{};
    break;
  }
  if (steps >= turn.steps_max) {
    return FailTurn{.error = turn_error(turn, "generic", "The model's step limit was reached."),
                    .receipt = std::nullopt};
  }
  return Generate{};
}

// What is wrong with a row that the model would be shown; null: nothing.
const std::string* unreadable_row(std::span<const Message> history) {
  const std::span<const Message> context = context_of(history);
  for (const Message& message : history) {
    if (!message.corruption || message.visibility == Visibility::User) continue;
    if (message.role == Role::System || message.id >= context.front().id) return &message.corruption->what;
  }
  return nullptr;
}

}  // namespace

std::vector<RowView> row_views(std::span<const Message> history) {
  std::vector<RowView> views;
  views.reserve(history.size());
  for (const Message& message : history) views.push_back(view_of(message));
  return views;
}

ChatError turn_error(const TurnView& turn, std::string_view kind, std::string message) {
  ChatError error;
  error.message = std::move(message);
  error.kind = kind;
  error.provider = turn.model.provider;
  return error;
}

FailTurn fail_request(const TurnView& turn, RequestId request_id, const structured::OutcomeError& error) {
  const std::string_view kind = error.code == structured::OutcomeCode::ConfigurationError ? "config" : "generic";
  return FailTurn{.error = turn_error(turn, kind, error.message), .receipt = structured::ended(request_id, error)};
}

TurnDecision decide_turn(const TurnView& turn) {
  const std::vector<RowView> rows = row_views(turn.history);
  auto active = structured::active_request(rows);
  if (!active) return fail_corrupt(turn, active.error().what, active.error().request_id);
  const bool has_input = std::any_of(rows.begin(), rows.end(), structured::is_input_row);
  const bool compacts = turn.chat.compaction_due;
  if (!has_input || (structured::closed_request(rows) && !compacts)) return EndTurn{};

  std::optional<RequestId> request_id;
  if (*active) request_id = (*active)->request.request_id;
  if (const auto* unreadable = unreadable_row(turn.history)) return fail_corrupt(turn, *unreadable, request_id);
  if (compacts && !*active) return Compact{};
  if (turn.tools_corruption != nullptr) return fail_corrupt(turn, turn.tools_corruption->what, request_id);
  const std::vector<ToolCallPart> open = outstanding_calls(turn.history);
  if (!open.empty()) return answer(turn, open);
  if (*active) return decide_governed(turn, std::move(**active));
  return decide_ordinary(turn, rows);
}

}  // namespace assay::chat

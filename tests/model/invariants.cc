#include "tests/model/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "chat/content.h"
#include "chat/rows.h"
#include "chat/state.h"
#include "chat/turn.h"
#include "structured/request_state.h"
#include "structured/step_judgement.h"

namespace assay::model {
namespace {

using chat::MemoryChat;
using chat::Message;

struct Told {
  std::size_t receipts = 0;
  std::int64_t rejections = 0;
  const structured::OutcomePart* receipt = nullptr;
  const structured::ControlPart* candidate = nullptr;
};

// What the rows say of each request, soft-deleted ones included.
std::map<RequestId, Told> told_of(const MemoryChat& chat) {
  std::map<RequestId, Told> told;
  for (const auto* rows : {&chat.deleted, &chat.messages}) {
    for (const Message& row : *rows) {
      for (const chat::Part& part : row.content) {
        if (const auto* outcome = std::get_if<structured::OutcomePart>(&part)) {
          ++told[outcome->request_id].receipts;
          told[outcome->request_id].receipt = outcome;
        } else if (const auto* control = std::get_if<structured::ControlPart>(&part)) {
          if (control->kind == structured::ControlKind::Rejection) ++told[control->request_id].rejections;
          if (control->kind == structured::ControlKind::Candidate) told[control->request_id].candidate = control;
        }
      }
    }
  }
  return told;
}

std::set<RequestId> queued_requests(const MemoryChat& chat) {
  std::set<RequestId> queued;
  for (const chat::QueuedMessage& message : chat.queue) {
    if (const auto* request = chat::request_of(message.content)) queued.insert(request->request_id);
  }
  return queued;
}

// A user's message comes only after the answers to all calls before it.
void check_calls_are_answered(const MemoryChat& chat) {
  std::set<std::string> open;
  for (const Message& row : chat.messages) {
    const bool is_from_user = row.role == chat::Role::User && row.visibility == chat::Visibility::Both;
    require(!is_from_user || open.empty(), fmt::format("message {} follows a call without an answer", row.id));
    for (const chat::Part& part : row.content) {
      if (const auto* call = std::get_if<chat::ToolCallPart>(&part); call != nullptr && !call->provider_executed) {
        open.insert(call->id);
      } else if (const auto* result = std::get_if<chat::ToolResultPart>(&part)) {
        if (!result->provider_executed) {
          require(open.erase(result->call_id) == 1, fmt::format("message {} answers no open call", row.id));
        }
      }
    }
  }
  const chat::Status status = chat.chat.status;
  const bool at_rest = status == chat::Status::Waiting || status == chat::Status::Error;
  require(!at_rest || open.empty(), "a chat at rest has a call without an answer");
  require(status != chat::Status::RequiresAction || !open.empty(), "a client is asked for nothing");
}

bool has_ordinary_news(const Mark& before, const MemoryChat& after) {
  if (before.deleted != after.deleted.size()) return true;
  for (auto row = after.messages.rbegin(); row != after.messages.rend(); ++row) {
    if (row->id <= before.chat.last_message_id) return false;
    const bool is_receipt = row->role == chat::Role::Assistant && row->visibility == chat::Visibility::User &&
                            std::any_of(row->content.begin(), row->content.end(), [](const chat::Part& part) {
                              return std::holds_alternative<structured::OutcomePart>(part);
                            });
    if (!is_receipt) return true;
  }
  return false;
}

template <class Rows>
std::vector<std::int64_t> ids_of(const Rows& rows) {
  std::vector<std::int64_t> ids;
  ids.reserve(rows.size());
  for (const auto& row : rows) ids.push_back(row.id);
  return ids;
}

std::string describe(const Message& row) {
  if (row.deleted) return fmt::format("{} r{} deleted", row.id, row.revision);
  return fmt::format(
      "{} r{} {}/{} {} by {} model {} effort {} usage {}/{}{}", row.id, row.revision, static_cast<int>(row.role),
      static_cast<int>(row.visibility), encode_content(row.content), row.created_by ? row.created_by->to_string() : "-",
      row.model_config ? row.model_config->to_string() : "-", row.reasoning_effort.value_or("-"),
      row.usage.input_tokens.value_or(-1), row.usage.output_tokens.value_or(-1), row.compressed ? " compressed" : "");
}

}  // namespace

void check_state(const MemoryChat& chat, std::span<const RequestId> accepted) {
  require(chat.state() != chat::State::Invalid, "the state is none of the table");
  require(chat.chat.queue_length == static_cast<std::int64_t>(chat.queue.size()), "queue_length is wrong");
  require(chat.queue.size() <= chat::kQueueMax, "the queue is over its cap");
  const auto active = structured::active_request(chat::row_views(chat.messages));
  require(active.has_value(), active ? "" : "corruption: " + active.error().what);
  const chat::Status status = chat.chat.status;
  const bool at_rest = status == chat::Status::Waiting || status == chat::Status::Error;
  require(!at_rest || !active->has_value(), "a chat at rest owes a receipt");
  require(chat.chat.last_error.has_value() == (status == chat::Status::Error), "last_error does not fit the status");
  require(!at_rest || !chat.chat.runner_id, "a chat at rest has a runner");
  require(!at_rest || !chat.chat.compaction_due, "a chat at rest is to be summed up");
  require(!chat.chat.compaction_due || !active->has_value(), "a compaction while a receipt is owed");
  require(chat.chat.requires_action_deadline.has_value() == (status == chat::Status::RequiresAction),
          "a deadline for a client's tools without such tools, or none with them");
  check_calls_are_answered(chat);

  const auto told = told_of(chat);
  const std::set<RequestId> queued = queued_requests(chat);
  for (const RequestId& id : accepted) {
    const auto found = told.find(id);
    const Told of = found == told.end() ? Told() : found->second;
    const bool is_open = queued.contains(id) || (active->has_value() && (*active)->request.request_id == id);
    require(of.receipts <= 1, fmt::format("request {} has {} receipts", id.to_string(), of.receipts));
    require(of.receipts == (is_open ? 0U : 1U), fmt::format("request {} is {} and has {} receipts", id.to_string(),
                                                            is_open ? "open" : "closed", of.receipts));
    require(of.rejections <= structured::kRepairsMax + 1, "more rejections than the budget allows");
    if (of.receipt != nullptr && of.receipt->status == structured::OutcomeStatus::Succeeded) {
      require(of.receipt->value == kValidValue, "a success without a valid value");
      require(of.candidate != nullptr && of.candidate->value == of.receipt->value, "a success without its candidate");
    }
  }
  for (const auto& [id, of] : told) {
    require(of.receipts == 0 || std::find(accepted.begin(), accepted.end(), id) != accepted.end(),
            fmt::format("a receipt of request {} that nobody accepted", id.to_string()));
  }
}

Mark mark_of(const MemoryChat& chat) {
  return Mark{.chat = chat.chat,
              .messages = ids_of(chat.messages),
              .deleted = chat.deleted.size(),
              .queue = ids_of(chat.queue)};
}

void check_step(const Mark& before, const MemoryChat& after) {
  const chat::Chat& old = before.chat;
  const chat::Chat& now = after.chat;
  require(now.snapshot_version == old.snapshot_version + 1, "snapshot_version did not advance by one");
  if (has_ordinary_news(before, after)) {
    require(now.history_version == now.snapshot_version, "history changed and history_version did not");
    require(now.generation_attempt == 0, "history changed and generation_attempt stayed");
  } else {
    require(now.history_version == old.history_version, "history_version moved and history did not");
    const bool begins_anew = now.compaction_due && !old.compaction_due && now.generation_attempt == 0;
    require(begins_anew || now.generation_attempt == old.generation_attempt ||
                now.generation_attempt == old.generation_attempt + 1,
            "generation_attempt jumped");
  }
  const bool queue_changed = before.queue != ids_of(after.queue);
  require(!queue_changed || now.queue_version == now.snapshot_version, "the queue changed and queue_version did not");
  require(now.queue_version == old.queue_version || now.queue_version == now.snapshot_version, "queue_version jumped");
  require(
      now.retry_state_version == (old.retry_state == now.retry_state ? old.retry_state_version : now.snapshot_version),
      "retry_state_version does not fit");
  std::vector<std::int64_t> kept = ids_of(after.messages);
  for (std::size_t at = before.deleted; at < after.deleted.size(); ++at) kept.push_back(after.deleted[at].id);
  require(before.deleted <= after.deleted.size(), "a deleted row came back");
  std::sort(kept.begin(), kept.end());
  require(std::includes(kept.begin(), kept.end(), before.messages.begin(), before.messages.end()), "a row is gone");
  for (const Message& row : after.messages) {
    require(row.id <= old.last_message_id || row.revision == now.snapshot_version,
            "a new row's revision is not its snapshot");
  }
}

std::string describe(const MemoryChat& chat) {
  const chat::Chat& row = chat.chat;
  std::string text = fmt::format(
      "{}{} queue {} snapshot {} history {} queue {} retry {} attempt {} runner {} deadline {} compacts {} last {}\n"
      "title {} plan {} model {} effort {}\n",
      name_of(row.status), row.archived ? " archived" : "", row.queue_length, row.snapshot_version, row.history_version,
      row.queue_version, row.retry_state_version, row.generation_attempt,
      row.runner_id ? row.runner_id->to_string() : "-", row.requires_action_deadline.has_value(), row.compaction_due,
      row.last_message_id, row.title, row.plan_mode, row.last_model_config.to_string(),
      row.reasoning_effort.value_or("-"));
  if (row.last_error) text += fmt::format("error {} {}\n", row.last_error->kind, row.last_error->message);
  if (row.retry_state) text += fmt::format("retry {} {}\n", row.retry_state->attempt, row.retry_state->error.message);
  std::vector<const Message*> rows;
  for (const Message& message : chat.messages) rows.push_back(&message);
  for (const Message& message : chat.deleted) rows.push_back(&message);
  std::sort(rows.begin(), rows.end(), [](const Message* a, const Message* b) { return a->id < b->id; });
  for (const Message* message : rows) text += describe(*message) + "\n";
  for (const chat::QueuedMessage& message : chat.queue) {
    text += fmt::format("queued {} {} by {}\n", message.id, encode_content(message.content),
                        message.created_by.to_string());
  }
  return text;
}

}  // namespace assay::model

#include "chat/rows.h"

#include <algorithm>
#include <utility>

#include "json/writer.h"
#include "structured/outcome.h"

namespace assay::chat {

namespace {

template <class Row>
void follow_calls(std::span<const Row> rows, std::vector<ToolCallPart>& open) {
  for (const Row& row : rows) {
    if (row.role == Role::Assistant && row.visibility == Visibility::Both) open.clear();
    for (const Part& part : row.content) {
      if (const auto* call = std::get_if<ToolCallPart>(&part)) {
        if (row.role == Role::Assistant && row.visibility == Visibility::Both && !call->provider_executed) {
          open.push_back(*call);
        }
      } else if (const auto* result = std::get_if<ToolResultPart>(&part)) {
        std::erase_if(open, [&](const ToolCallPart& call_part) { return call_part.id == result->call_id; });
      }
    }
  }
}

}  // namespace

NewMessage text_row(Role role, Visibility visibility, std::string text) {
  NewMessage row;
  row.role = role;
  row.visibility = visibility;
  row.content.emplace_back(TextPart{.text = std::move(text)});
  return row;
}

NewMessage answer_row(const ToolCallPart& call, std::string result, bool is_error) {
  NewMessage row;
  row.role = Role::Tool;
  row.visibility = Visibility::Both;
  row.content.emplace_back(ToolResultPart{.call_id = call.id,
                                          .name = call.name,
                                          .result = std::move(result),
                                          .is_error = is_error,
                                          .provider_executed = false,
                                          .provider_state = {}});
  return row;
}

NewMessage result_row(const ToolCallPart& call, std::string_view text, bool is_error) {
  json::Writer result;
  return answer_row(call, result.string(text).take(), is_error);
}

NewMessage receipt_row(const structured::OutcomePart& outcome) {
  NewMessage row = text_row(Role::Assistant, Visibility::User, structured::receipt_text(outcome));
  row.content.emplace_back(outcome);
  return row;
}

const structured::RequestPart* request_of(const Content& content) {
  for (const Part& part : content) {
    if (const auto* request = std::get_if<structured::RequestPart>(&part)) return request;
  }
  return nullptr;
}

std::vector<ToolCallPart> outstanding_calls(std::span<const Message> history, std::span<const NewMessage> rows) {
  std::vector<ToolCallPart> open;
  follow_calls(history, open);
  follow_calls(rows, open);
  return open;
}

std::vector<ToolCallPart> outstanding_calls(std::span<const Message> history) { return outstanding_calls(history, {}); }

}  // namespace assay::chat

#include "structured/request_state.h"

#include <algorithm>

namespace assay::structured {

namespace {

// Index of the latest input row, or rows.size().
std::size_t latest_input(std::span<const RowView> rows) {
  for (std::size_t i = rows.size(); i > 0; --i) {
    if (is_input_row(rows[i - 1])) return i - 1;
  }
  return rows.size();
}

std::size_t count_outcomes(std::span<const RowView> rows, RequestId request_id) {
  std::size_t count = 0;
  for (const RowView& row : rows) {
    count += static_cast<std::size_t>(std::count_if(row.outcomes.begin(), row.outcomes.end(),
                                                    [&](const auto* part) { return part->request_id == request_id; }));
  }
  return count;
}

bool asks_again(std::span<const RowView> rows, RequestId request_id) {
  return std::any_of(rows.begin(), rows.end(), [&](const RowView& row) {
    return is_input_row(row) && std::any_of(row.requests.begin(), row.requests.end(),
                                            [&](const auto* part) { return part->request_id == request_id; });
  });
}

bool may_carry(const RowView& row, ControlKind kind) {
  if (kind == ControlKind::Invalidation) {
    return row.visibility == RowVisibility::User && (row.role == RowRole::User || row.role == RowRole::Assistant);
  }
  return row.visibility == RowVisibility::Both && (row.role == RowRole::Assistant || row.role == RowRole::Tool);
}

// Reads the rows after the request's own, in order.
class Progress {
 public:
  Progress(const RequestPart& request, std::int64_t row_id) {
    active_.request = request;
    active_.row_id = row_id;
  }

  // What is wrong, or null.
  const char* read(const RowView& row) {
    if (row.corruption != nullptr) return "a message of the structured request cannot be read";
    const bool model_copy = row.role == RowRole::User && row.visibility == RowVisibility::Model;
    if (!row.requests.empty() && !model_copy) return "a request part stands on a row that is no user message";
    if (is_step_row(row)) {
      ++active_.steps;
      step_is_judged_ = false;
    }
    const ControlPart* found = nullptr;
    for (const ControlPart* control : row.controls) {
      if (control->request_id != active_.request.request_id) continue;
      if (found != nullptr) return "a row holds two controls";
      found = control;
    }
    return found == nullptr ? nullptr : apply(row, *found);
  }

  ActiveRequest take() { return std::move(active_); }

 private:
  const char* apply(const RowView& row, const ControlPart& control) {
    if (!may_carry(row, control.kind)) return "a control stands on a row that cannot carry it";
    if (control.kind == ControlKind::Invalidation) {
      if (!active_.candidate) return "an invalidation without a candidate";
      active_.candidate.reset();
      return nullptr;
    }
    if (active_.steps == 0) return "a control without a step";
    if (step_is_judged_) return "a step has two controls";
    step_is_judged_ = true;
    if (active_.candidate) return "a control follows a current candidate";
    if (control.kind == ControlKind::Rejection) {
      ++active_.rejections;
      active_.rejection_answered_finalizer = active_.rejection_answered_finalizer || control.answers_finalizer;
      return nullptr;
    }
    if (control.finish != Finish::ToolUse) return "a candidate from a step that could not carry one";
    active_.candidate = Candidate{.value = control.value, .row_id = row.id};
    return nullptr;
  }

  ActiveRequest active_;
  bool step_is_judged_ = false;
};

auto corrupt(const char* what, std::optional<RequestId> request_id) {
  return fail(Corruption{.what = what, .request_id = request_id});
}

// An input row, or one after it, that could not be decoded: what can still be said.
Corruption unreadable_input(std::span<const RowView> rows, const RowView& input) {
  Corruption corruption = *input.corruption;
  if (corruption.request_id && count_outcomes(rows, *corruption.request_id) > 0) corruption.request_id.reset();
  return corruption;
}

}  // namespace

bool is_input_row(const RowView& row) {
  return row.role == RowRole::User && row.visibility != RowVisibility::Model && row.controls.empty();
}

bool is_step_row(const RowView& row) {
  return row.role == RowRole::Assistant && row.visibility == RowVisibility::Both && row.outcomes.empty();
}

bool is_receipt_row(const RowView& row) {
  return row.role == RowRole::Assistant && row.visibility == RowVisibility::User && row.outcomes.size() == 1 &&
         row.text_parts == 1 && row.other_parts == 0 && row.requests.empty() && row.controls.empty();
}

Result<std::optional<ActiveRequest>, Corruption> active_request(std::span<const RowView> rows) {
  const std::size_t at = latest_input(rows);
  if (at == rows.size()) return std::nullopt;
  const RowView& input = rows[at];
  const std::span<const RowView> later = rows.subspan(at + 1);

  if (input.corruption != nullptr) return fail(unreadable_input(rows, input));
  if (input.requests.size() > 1) {
    const RequestId first = input.requests.front()->request_id;
    const bool is_one_id =
        std::ranges::all_of(input.requests, [&](const auto* part) { return part->request_id == first; });
    return corrupt("a user message holds two structured requests", is_one_id ? std::optional(first) : std::nullopt);
  }
  if (input.requests.empty()) {
    for (const RowView& row : later) {
      if (row.corruption != nullptr) return corrupt("a message of the turn cannot be read", std::nullopt);
    }
    return std::nullopt;
  }

  const RequestPart& request = *input.requests.front();
  const std::size_t outcomes = count_outcomes(rows, request.request_id);
  if (outcomes > 1) return corrupt("a structured request has two outcomes", std::nullopt);
  if (outcomes == 1) {
    const bool is_proper = std::any_of(later.begin(), later.end(), [&](const RowView& row) {
      return is_receipt_row(row) && row.outcomes.front()->request_id == request.request_id;
    });
    if (!is_proper) return corrupt("an outcome stands on a row that is no receipt", std::nullopt);
    return std::nullopt;
  }
  if (asks_again(rows.first(at), request.request_id)) {
    return corrupt("two user messages hold the same structured request", request.request_id);
  }

  Progress progress(request, input.id);
  for (const RowView& row : later) {
    if (const char* fault = progress.read(row)) return corrupt(fault, request.request_id);
  }
  return progress.take();
}

std::optional<RequestId> closed_request(std::span<const RowView> rows) {
  const std::size_t at = latest_input(rows);
  if (at == rows.size() || rows[at].requests.size() != 1) return std::nullopt;
  const RequestId request_id = rows[at].requests.front()->request_id;
  if (count_outcomes(rows, request_id) == 0) return std::nullopt;
  return request_id;
}

}  // namespace assay::structured

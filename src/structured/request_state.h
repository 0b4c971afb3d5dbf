#pragma once
// Which structured request governs a history, and how far it has come (contract: "Durable state").
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "structured/parts.h"

namespace assay::structured {

enum class RowRole { System, User, Assistant, Tool };
enum class RowVisibility { User, Model, Both };

// What this room needs to know of an undeleted message row. Lifetime: the parts stay with their owner.
struct RowView {
  std::int64_t id = 0;
  RowRole role = RowRole::User;
  RowVisibility visibility = RowVisibility::Both;
  std::vector<const RequestPart*> requests;
  std::vector<const ControlPart*> controls;
  std::vector<const OutcomePart*> outcomes;
  std::size_t text_parts = 0;
  std::size_t other_parts = 0;             // neither text nor of this room
  const Corruption* corruption = nullptr;  // the row could not be decoded
};

// A row that a person wrote: client-visible, and no control row.
[[nodiscard]] bool is_input_row(const RowView& row);
// A real answer of the model. Receipts, control rows and what compaction shows or writes are none.
[[nodiscard]] bool is_step_row(const RowView& row);
// Of exactly the shape that the server writes: assistant, visibility user, one text and one outcome.
[[nodiscard]] bool is_receipt_row(const RowView& row);

struct Candidate {
  std::string value;
  std::int64_t row_id = 0;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

struct ActiveRequest {
  RequestPart request;
  std::int64_t row_id = 0;  // of the message that asked
  std::int64_t steps = 0;
  std::int64_t rejections = 0;
  bool rejection_answered_finalizer = false;  // any of them
  std::optional<Candidate> candidate;         // current: validated and not invalidated
  friend bool operator==(const ActiveRequest&, const ActiveRequest&) = default;
};

// Pure function over all undeleted rows in ascending order, compressed ones included. Nothing where the latest input
// row asked for no format or its request is closed. A Corruption names the request it spoils unless that is unreadable
// or already closed.
Result<std::optional<ActiveRequest>, Corruption> active_request(std::span<const RowView> rows);

// The latest input row's request, where it has its outcome already.
std::optional<RequestId> closed_request(std::span<const RowView> rows);

}  // namespace assay::structured

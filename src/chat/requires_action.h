#pragma once
// A turn that waits for calls of the client's tools: how it begins, and the two ways in which the calls get answers of
// their own. (Messages, interruptions, edits and promotions end the wait too, with synthetic answers: transitions.h.)
//
// While a chat is in A its pending calls are those that outstanding_calls finds: nothing else may be open then.
#include <cstdint>
#include <string>
#include <vector>

#include "chat/transitions.h"

namespace assay::chat {

// The client's calls of the step get their deadline, by the database's clock. Requires: of the calls that are open once
// `rows` are appended each is of a client's tool.
struct EnterRequiresAction {
  Fence fence;
  std::vector<NewMessage> rows;  // of the step; may be empty
  std::int64_t patience_ms = 0;
};
ReadPlan reads_of(const EnterRequiresAction& input);
Decision decide(const LockedChat& locked, const EnterRequiresAction& input);

struct ToolOutput {
  std::string call_id;
  std::string output;  // JSON text
  bool is_error = false;
};

// The client's results: exactly one for each pending call, all at once. Each becomes a row of its own, in the order of
// the calls. Refused with InvalidInput for an id that stands twice, a call left out, or an id that is not pending, in
// this order.
struct CompleteRequiresAction {
  std::vector<ToolOutput> results;
  UserId created_by;
};
ReadPlan reads_of(const CompleteRequiresAction& input);
Decision decide(const LockedChat& locked, const CompleteRequiresAction& input);

// The deadline has passed: every pending call is answered as timed out. Stale before the deadline.
struct CancelRequiresAction {
  Fence fence;
};
ReadPlan reads_of(const CancelRequiresAction& input);
Decision decide(const LockedChat& locked, const CancelRequiresAction& input);

}  // namespace assay::chat

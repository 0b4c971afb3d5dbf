#pragma once
// What a finished step means for the request that governs it (contract: "The finalizer in the ordinary tool loop",
// "Completion, repair, hooks"). One rule without modes: only a finalizer call that stands alone in a step known to be
// complete can carry a value.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "schema/schema.h"
#include "structured/finalizer.h"
#include "structured/parts.h"
#include "structured/request_state.h"

namespace assay::structured {

// After the first failed finalization.
inline constexpr std::int64_t kRepairsMax = 2;

struct StepCall {
  std::string_view name;
  std::string_view raw_arguments;
  bool over_cap = false;  // the bytes went over the cap and were not kept
  bool provider_executed = false;
};

struct FinishedStep {
  Finish finish = Finish::Unknown;
  std::vector<StepCall> calls;  // in order
};

// How a call that must not run is closed.
struct CallAnswer {
  std::size_t call = 0;  // index into FinishedStep::calls
  std::string text;
  bool is_error = true;
  bool keep_arguments = true;  // false: store kArgumentsPlaceholder
  friend bool operator==(const CallAnswer&, const CallAnswer&) = default;
};

// Ordinary calls, or none: the step says nothing about the result, the turn goes on.
struct GoOn {};

// The one call is the finalizer's and its value is valid.
struct Accept {
  std::string value;
  CallAnswer answer;
  ControlPart control;
};

// The step failed as a finalization. Nothing of the batch runs.
struct Reject {
  RejectionKind kind = RejectionKind::TextOnly;
  std::vector<CallAnswer> answers;        // one for each local call
  std::optional<std::string> corrective;  // where no call can carry the feedback: a model-only user row's text
  ControlPart control;
  std::optional<OutcomeError> exhausted;  // the repair budget is spent: the request fails with this
};

// The request fails at once; local calls are not run.
struct Abort {
  OutcomeError error;
  std::vector<CallAnswer> answers;
};

using StepJudgement = std::variant<GoOn, Accept, Reject, Abort>;

// `other_tools` are the names of all tools offered beside the finalizer.
StepJudgement judge_step(const ActiveRequest& request, const schema::Schema& schema, const FinishedStep& step,
                         std::span<const std::string_view> other_tools);

struct Offer {
  std::span<const std::string_view> other_tools;  // every name or alias offered beside the finalizer
  bool strict_forced = false;                     // the configuration makes strict mode unavoidable for every tool
};

// Before each model call: runs the whole order of schema checks on the stored text and looks for what would keep the
// finalizer from being offered as promised. `compiled`, where it is of the same text, saves the compilation. The error
// is a ConfigurationError.
Result<schema::Schema, OutcomeError> preflight(const RequestPart& request, const Offer& offer,
                                               const schema::Schema* compiled = nullptr);

enum class Budget { Repairs, Steps };

// Why a request ends without a value when `spent` is used up: ValidationExhausted where any rejection answered a
// finalizer call, else NotProduced. `last` is the last rejection, where one is at hand.
OutcomeError exhausted(Budget spent, bool rejection_answered_finalizer,
                       std::optional<RejectionKind> last = std::nullopt);

}  // namespace assay::structured

#pragma once
// Outcomes and their public names (contract: "Request id and receipt").
#include <optional>
#include <string>
#include <string_view>

#include "structured/parts.h"

namespace assay::structured {

// Public, stable names: `succeeded`, `validation_exhausted`, ...
[[nodiscard]] std::string_view name_of(OutcomeStatus status);
[[nodiscard]] std::string_view name_of(OutcomeCode code);
[[nodiscard]] std::optional<OutcomeStatus> outcome_status(std::string_view name);
[[nodiscard]] std::optional<OutcomeCode> outcome_code(std::string_view name);
// Failed or Canceled.
[[nodiscard]] OutcomeStatus status_of(OutcomeCode code);

// Requires: `value` is JSON text that was validated.
[[nodiscard]] OutcomePart succeeded(RequestId request_id, std::string value);
// Failed or Canceled, as the code has it. The message is sanitised.
[[nodiscard]] OutcomePart ended(RequestId request_id, OutcomeCode code, std::string_view message);
[[nodiscard]] OutcomePart ended(RequestId request_id, const OutcomeError& error);
// With the code's own fixed sentence.
[[nodiscard]] OutcomePart ended(RequestId request_id, OutcomeCode code);

// What clients that do not know the field show: the JSON text of a success, else one fixed sentence with status and
// code, never the message.
[[nodiscard]] std::string receipt_text(const OutcomePart& outcome);

// Valid UTF-8 without control characters, at most kOutcomeMessageBytesMax bytes, cut between code points.
[[nodiscard]] std::string sanitised_message(std::string_view message);

}  // namespace assay::structured

#pragma once
// The internal message parts of structured output, the only place where its durable state lives. They are stored in the
// JSONB content of chat messages, never shown to clients and never sent to a model. Exact JSON texts (schema, value)
// are kept as JSON strings, since jsonb would respell numbers and reorder keys.
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.h"

namespace assay::structured {

// How a model's answer ended, mapped from each wire by a positive list: what is not known to be complete is Unknown.
// Only ToolUse can carry a candidate.
enum class Finish { Complete, ToolUse, Refusal, ContentFilter, Length, Pause, Error, Unknown };

// Stored metadata that cannot be what the server wrote. Readers fail closed: they never guess and never pick one of
// two.
struct Corruption {
  std::string what;                     // a fixed sentence, without stored content
  std::optional<RequestId> request_id;  // whose request it spoils, where that much could be read
  friend bool operator==(const Corruption&, const Corruption&) = default;
};

// On the original user message and on the queued message.
struct RequestPart {
  RequestId request_id;
  std::string name;
  std::optional<std::string> description;
  std::string schema;  // exact text as accepted
  friend bool operator==(const RequestPart&, const RequestPart&) = default;
};

enum class ControlKind { Candidate, Rejection, Invalidation };

// On assistant or tool rows of the step it judges, or on a user-visible control row for a stop hook's continuation.
struct ControlPart {
  RequestId request_id;
  ControlKind kind = ControlKind::Rejection;
  std::string value;                // Candidate: the validated JSON text, white space dropped
  Finish finish = Finish::Unknown;  // of the judged step
  bool answers_finalizer = false;   // Rejection: the step held a finalizer call
  friend bool operator==(const ControlPart&, const ControlPart&) = default;
};

enum class OutcomeStatus { Succeeded, Failed, Canceled };
enum class OutcomeCode {
  NotProduced,
  ValidationExhausted,
  GenerationFailed,
  ConfigurationError,  // Failed
  Interrupted,
  Superseded,
  QueueDeleted  // Canceled
};

inline constexpr std::size_t kOutcomeMessageBytesMax = 1024;

struct OutcomeError {
  OutcomeCode code = OutcomeCode::GenerationFailed;
  std::string message;  // fixed or sanitised text, at most kOutcomeMessageBytesMax
  friend bool operator==(const OutcomeError&, const OutcomeError&) = default;
};

// On the receipt row alone.
struct OutcomePart {
  RequestId request_id;
  OutcomeStatus status = OutcomeStatus::Failed;
  std::string value;                  // Succeeded: exact JSON text
  std::optional<OutcomeError> error;  // Failed and Canceled
  friend bool operator==(const OutcomePart&, const OutcomePart&) = default;
};

}  // namespace assay::structured

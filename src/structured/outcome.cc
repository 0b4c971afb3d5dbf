#include "structured/outcome.h"

#include <array>
#include <utility>

#include "structured/plain_text.h"

namespace assay::structured {

namespace {

constexpr std::array<std::pair<OutcomeStatus, std::string_view>, 3> kStatusNames{{
    {OutcomeStatus::Succeeded, "succeeded"},
    {OutcomeStatus::Failed, "failed"},
    {OutcomeStatus::Canceled, "canceled"},
}};

struct CodeFacts {
  OutcomeCode code;
  std::string_view name;
  OutcomeStatus status;
  std::string_view message;  // for clients
};

constexpr std::array<CodeFacts, 7> kCodes{{
    {OutcomeCode::NotProduced, "not_produced", OutcomeStatus::Failed, "The model submitted no structured output."},
    {OutcomeCode::ValidationExhausted, "validation_exhausted", OutcomeStatus::Failed,
     "The model submitted no valid structured output within its attempts."},
    {OutcomeCode::GenerationFailed, "generation_failed", OutcomeStatus::Failed, "The model's answer failed."},
    {OutcomeCode::ConfigurationError, "configuration_error", OutcomeStatus::Failed,
     "Structured output could not be configured for this request."},
    {OutcomeCode::Interrupted, "interrupted", OutcomeStatus::Canceled, "The request was interrupted."},
    {OutcomeCode::Superseded, "superseded", OutcomeStatus::Canceled,
     "An edit of the conversation superseded the request."},
    {OutcomeCode::QueueDeleted, "queue_deleted", OutcomeStatus::Canceled, "The queued message was deleted."},
}};

const CodeFacts& facts_of(OutcomeCode code) {
  for (const CodeFacts& facts : kCodes) {
    if (facts.code == code) return facts;
  }
  return kCodes[2];
}

}  // namespace

std::string_view name_of(OutcomeStatus status) {
  for (const auto& [known, name] : kStatusNames) {
    if (known == status) return name;
  }
  return "failed";
}

std::string_view name_of(OutcomeCode code) { return facts_of(code).name; }

std::optional<OutcomeStatus> outcome_status(std::string_view name) {
  for (const auto& [status, known] : kStatusNames) {
    if (known == name) return status;
  }
  return std::nullopt;
}

std::optional<OutcomeCode> outcome_code(std::string_view name) {
  for (const CodeFacts& facts : kCodes) {
    if (facts.name == name) return facts.code;
  }
  return std::nullopt;
}

OutcomeStatus status_of(OutcomeCode code) { return facts_of(code).status; }

OutcomePart succeeded(RequestId request_id, std::string value) {
  return OutcomePart{
      .request_id = request_id, .status = OutcomeStatus::Succeeded, .value = std::move(value), .error = std::nullopt};
}

OutcomePart ended(RequestId request_id, OutcomeCode code, std::string_view message) {
  return OutcomePart{.request_id = request_id,
                     .status = status_of(code),
                     .value = {},
                     .error = OutcomeError{.code = code, .message = sanitised_message(message)}};
}

OutcomePart ended(RequestId request_id, const OutcomeError& error) {
  return ended(request_id, error.code, error.message);
}

OutcomePart ended(RequestId request_id, OutcomeCode code) { return ended(request_id, code, facts_of(code).message); }

std::string receipt_text(const OutcomePart& outcome) {
  if (outcome.status == OutcomeStatus::Succeeded) return outcome.value;
  std::string text = "Structured output ";
  text += name_of(outcome.status);
  if (outcome.error) {
    text += " (";
    text += name_of(outcome.error->code);
    text += ")";
  }
  text += ".";
  return text;
}

std::string sanitised_message(std::string_view message) { return plain_text(message, kOutcomeMessageBytesMax); }

}  // namespace assay::structured

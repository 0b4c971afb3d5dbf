#include "structured/step_judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json/limits.h"
#include "schema/cache.h"

namespace assay::structured {

namespace {

constexpr std::string_view kSiblingText =
    "Not executed: the answer also called `coder_structured_output`, which must stand alone. Call this tool again if "
    "its result is needed.";
constexpr std::string_view kIncompleteSiblingText = "Not executed: the answer that made this call was not complete.";
constexpr std::string_view kAbortedText = "Not executed: the request ended with this answer.";

bool is_finalizer(const StepCall& call) { return call.name == kFinalizerName; }

struct Counts {
  std::size_t finalizers = 0;  // local
  std::size_t ordinary = 0;    // local
  std::size_t provider_executed = 0;
};

Counts count(const FinishedStep& step) {
  Counts counts;
  for (const StepCall& call : step.calls) {
    if (call.provider_executed) {
      ++counts.provider_executed;
    } else if (is_finalizer(call)) {
      ++counts.finalizers;
    } else {
      ++counts.ordinary;
    }
  }
  return counts;
}

bool is_complete(Finish finish) { return finish == Finish::ToolUse; }

// Arguments of a finalizer call that may be stored: safe at the raw boundary, from an answer that was complete.
bool keeps_arguments(const StepCall& call, Finish finish) {
  if (!is_finalizer(call)) return is_complete(finish);
  return is_complete(finish) && !call.over_cap && screen_arguments(call.raw_arguments).has_value();
}

Abort abort(const FinishedStep& step, OutcomeCode code, std::string_view message) {
  Abort aborted{.error = {.code = code, .message = std::string(message)}, .answers = {}};
  for (std::size_t i = 0; i < step.calls.size(); ++i) {
    if (step.calls[i].provider_executed) continue;
    aborted.answers.push_back({.call = i,
                               .text = std::string(kAbortedText),
                               .is_error = true,
                               .keep_arguments = keeps_arguments(step.calls[i], step.finish)});
  }
  return aborted;
}

Reject reject(const ActiveRequest& request, const FinishedStep& step, Rejection rejection) {
  const Counts counts = count(step);
  Reject rejected{.kind = rejection.kind,
                  .answers = {},
                  .corrective = std::nullopt,
                  .control = ControlPart{.request_id = request.request.request_id,
                                         .kind = ControlKind::Rejection,
                                         .value = {},
                                         .finish = step.finish,
                                         .answers_finalizer = counts.finalizers > 0},
                  .exhausted = std::nullopt};
  for (std::size_t i = 0; i < step.calls.size(); ++i) {
    const StepCall& call = step.calls[i];
    if (call.provider_executed) continue;
    const bool carries_feedback = is_finalizer(call) || counts.finalizers == 0;
    const std::string_view sibling = is_complete(step.finish) ? kSiblingText : kIncompleteSiblingText;
    rejected.answers.push_back({.call = i,
                                .text = carries_feedback ? rejection.feedback : std::string(sibling),
                                .is_error = true,
                                .keep_arguments = keeps_arguments(call, step.finish)});
  }
  if (rejected.answers.empty()) rejected.corrective = std::move(rejection.feedback);
  if (request.rejections >= kRepairsMax) {
    const bool answered = request.rejection_answered_finalizer || rejected.control.answers_finalizer;
    rejected.exhausted = exhausted(Budget::Repairs, answered, rejected.kind);
  }
  return rejected;
}

StepJudgement judge_calls(const ActiveRequest& request, const schema::Schema& schema, const FinishedStep& step) {
  const Counts counts = count(step);
  if (counts.finalizers == 0) {
    if (counts.ordinary + counts.provider_executed > 0) return GoOn{};
    return reject(request, step, rejection_of(RejectionKind::TextOnly));
  }
  if (counts.finalizers > 1) return reject(request, step, rejection_of(RejectionKind::SeveralFinalizers));
  if (counts.ordinary > 0) return reject(request, step, rejection_of(RejectionKind::BatchedWithCalls));
  if (counts.provider_executed > 0) return reject(request, step, rejection_of(RejectionKind::BesideProviderCalls));

  const StepCall& call = step.calls.front();
  if (call.over_cap) {
    return reject(
        request, step,
        rejection_of(json::Error{.code = json::ErrorCode::TooLong, .offset = json::kArgumentsCaps.bytes_max}));
  }
  auto value = accept_arguments(call.raw_arguments, schema);
  if (!value) return reject(request, step, std::move(value.error()));
  ControlPart control{.request_id = request.request.request_id,
                      .kind = ControlKind::Candidate,
                      .value = *value,
                      .finish = step.finish,
                      .answers_finalizer = false};
  return Accept{
      .value = std::move(*value),
      .answer = {.call = 0, .text = std::string(acknowledgement()), .is_error = false, .keep_arguments = true},
      .control = std::move(control)};
}

std::string_view reason_of(RejectionKind kind) {
  switch (kind) {
    case RejectionKind::InvalidJson:
      return "the arguments were not valid JSON";
    case RejectionKind::TooLarge:
      return "the value was over a size limit";
    case RejectionKind::WrongEnvelope:
      return "the arguments were not exactly one `output`";
    case RejectionKind::SchemaIssues:
      return "the value did not satisfy the schema";
    case RejectionKind::TooComplex:
      return "the value took too much work to check";
    case RejectionKind::Truncated:
      return "the answer was cut off by the output token limit";
    case RejectionKind::Incomplete:
      return "the answer did not arrive as complete";
    case RejectionKind::BatchedWithCalls:
    case RejectionKind::BesideProviderCalls:
      return "the result was submitted beside other calls";
    case RejectionKind::SeveralFinalizers:
      return "the result was submitted more than once in one answer";
    case RejectionKind::TextOnly:
      break;
  }
  return "the model answered with text alone";
}

}  // namespace

StepJudgement judge_step(const ActiveRequest& request, const schema::Schema& schema, const FinishedStep& step,
                         std::span<const std::string_view> other_tools) {
  const bool provider_took_the_name = std::any_of(step.calls.begin(), step.calls.end(), [](const StepCall& call) {
    return call.provider_executed && is_finalizer(call);
  });
  if (provider_took_the_name ||
      std::find(other_tools.begin(), other_tools.end(), kFinalizerName) != other_tools.end()) {
    return abort(step, OutcomeCode::ConfigurationError,
                 "Another tool bears the reserved name coder_structured_output.");
  }
  const Counts counts = count(step);
  switch (step.finish) {
    case Finish::Refusal:
      return abort(step, OutcomeCode::GenerationFailed, "The model refused to answer.");
    case Finish::ContentFilter:
      return abort(step, OutcomeCode::GenerationFailed, "The provider's content filter stopped the answer.");
    case Finish::Error:
      return abort(step, OutcomeCode::GenerationFailed, "The provider ended the answer with an error.");
    case Finish::Length:
      return reject(request, step, rejection_of(RejectionKind::Truncated));
    case Finish::Unknown:
      return reject(request, step, rejection_of(RejectionKind::Incomplete));
    case Finish::Pause:
      if (counts.finalizers + counts.ordinary == 0) return GoOn{};
      return reject(request, step, rejection_of(RejectionKind::Incomplete));
    case Finish::Complete:
      if (counts.finalizers + counts.ordinary == 0) return reject(request, step, rejection_of(RejectionKind::TextOnly));
      return reject(request, step, rejection_of(RejectionKind::Incomplete));
    case Finish::ToolUse:
      break;
  }
  return judge_calls(request, schema, step);
}

Result<schema::Schema, OutcomeError> preflight(const RequestPart& request, const Offer& offer,
                                               const schema::Schema* compiled) {
  const auto misconfigured = [](std::string message) {
    return fail(OutcomeError{.code = OutcomeCode::ConfigurationError, .message = std::move(message)});
  };
  if (std::find(offer.other_tools.begin(), offer.other_tools.end(), kFinalizerName) != offer.other_tools.end()) {
    return misconfigured("Another tool bears the reserved name coder_structured_output.");
  }
  if (offer.strict_forced) {
    return misconfigured("The provider's configuration forces strict tool schemas, which cannot carry this request.");
  }
  if (compiled != nullptr && compiled->text() == request.schema) return *compiled;
  auto schema = schema::process_cache().compile(request.schema);
  if (!schema) {
    return misconfigured(fmt::format("The stored schema is no longer accepted ({}).", schema.error().code_name));
  }
  return std::move(*schema);
}

OutcomeError exhausted(Budget spent, bool rejection_answered_finalizer, std::optional<RejectionKind> last) {
  OutcomeError error;
  error.code = rejection_answered_finalizer ? OutcomeCode::ValidationExhausted : OutcomeCode::NotProduced;
  error.message = spent == Budget::Steps
                      ? std::string("The model's step limit was reached without a valid result.")
                      : fmt::format("The model gave no valid result in {} attempts.", kRepairsMax + 1);
  if (last) error.message += fmt::format(" In the last one {}.", reason_of(*last));
  return error;
}

}  // namespace assay::structured

#include "structured/finalizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "json/compact.h"
#include "json/limits.h"
#include "schema/respelling.h"

namespace assay::structured {

namespace {

constexpr std::string_view kAgain = "Call `coder_structured_output` again, alone, with the whole value in `output`.";

// `text` without the member of the root object that stands at `index`, its comma included.
std::string without_member(std::string_view text, const std::vector<json::Value>& values, std::size_t index) {
  const auto end_of = [](const json::Value& value) { return value.offset() + value.raw().size(); };
  std::size_t begin = text.find('{') + 1;
  std::size_t end = end_of(values[index]);
  if (index > 0) {
    begin = end_of(values[index - 1]);
  } else if (values.size() > 1) {
    end = text.find(',', end) + 1;
  }
  std::string rest(text.substr(0, begin));
  rest += text.substr(end);
  return rest;
}

std::string without_dialect(std::string_view schema_text) {
  const auto document = json::Document::parse(std::string(schema_text), json::kSchemaCaps);
  if (!document || !document->root().is(json::Kind::Object)) return std::string(schema_text);
  std::vector<json::Value> values;
  std::optional<std::size_t> dialect;
  for (const json::Member& member : document->root().members()) {
    if (member.key == "$schema") dialect = values.size();
    values.push_back(member.value);
  }
  return dialect ? without_member(document->text(), values, *dialect) : std::string(schema_text);
}

std::string wrapped(const std::string& output_schema) {
  return R"({"type":"object","properties":{"output":)" + output_schema +
         R"(},"required":["output"],"additionalProperties":false})";
}

bool is_cap(json::ErrorCode code) {
  return code == json::ErrorCode::TooLong || code == json::ErrorCode::TooDeep ||
         code == json::ErrorCode::TooManyValues || code == json::ErrorCode::TooManyElements;
}

}  // namespace

std::string finalizer_parameters(std::string_view schema_text) { return wrapped(without_dialect(schema_text)); }

std::string finalizer_parameters_2020_12(std::string_view schema_text) {
  return wrapped(schema::respelled_2020_12(schema_text));
}

std::string finalizer_description(const RequestPart& request) {
  std::string description =
      "Delivers the final result. Call it when the work is done, once and without any other tool call beside it, with "
      "the whole result in `output`. The result is called ";
  description += request.name;
  description += ".";
  if (request.description && !request.description->empty()) {
    description += " ";
    description += *request.description;
  }
  return description;
}

std::string_view finalizer_instruction() {
  return "This task ends with a result that is delivered by the tool `coder_structured_output`. First do the work, "
         "using the other tools wherever they are needed. When the work is done, call `coder_structured_output` by "
         "itself, with the whole result as the argument `output`. Text alone does not deliver the result.";
}

std::string_view acknowledgement() { return "The result was accepted."; }

Rejection rejection_of(RejectionKind kind) {
  const auto text = [kind]() -> std::string_view {
    switch (kind) {
      case RejectionKind::WrongEnvelope:
        return "The arguments must be one object with exactly the member `output`.";
      case RejectionKind::TooComplex:
        return "Checking `output` against the schema took too much work. Give a smaller and simpler value.";
      case RejectionKind::Truncated:
        return "The answer was cut off by the output token limit before it was complete. It must be shorter.";
      case RejectionKind::Incomplete:
        return "The answer did not arrive as complete, so nothing of it was used.";
      case RejectionKind::BatchedWithCalls:
        return "`coder_structured_output` must stand alone: no call of this answer was executed. Make the other calls "
               "first and wait for their results.";
      case RejectionKind::SeveralFinalizers:
        return "`coder_structured_output` was called more than once in one answer: none of the calls was used.";
      case RejectionKind::BesideProviderCalls:
        return "`coder_structured_output` must stand alone in an answer of its own, after the results of other calls.";
      case RejectionKind::TextOnly:
        return "The task is not finished: text alone does not deliver the result.";
      case RejectionKind::InvalidJson:
      case RejectionKind::TooLarge:
      case RejectionKind::SchemaIssues:
        break;
    }
    ASSAY_CHECK(false, "this kind of rejection needs its facts");
  };
  return Rejection{.kind = kind, .feedback = fmt::format("{} {}", text(), kAgain)};
}

Rejection rejection_of(const json::Error& error) {
  if (is_cap(error.code)) {
    return Rejection{.kind = RejectionKind::TooLarge,
                     .feedback = fmt::format(
                         "The arguments are over a limit: {}. `output` may have {} bytes, {} levels, {} values in all "
                         "and {} elements in one array. {}",
                         json::describe(error), json::kOutputCaps.bytes_max, json::kOutputCaps.depth_max,
                         json::kOutputCaps.values_max, json::kOutputCaps.elements_max, kAgain)};
  }
  return Rejection{.kind = RejectionKind::InvalidJson,
                   .feedback = fmt::format("The arguments are not one valid JSON value: {} ({}). {}",
                                           json::describe(error), json::code_name(error.code), kAgain)};
}

Rejection rejection_of(std::span<const schema::Issue> issues) {
  Rejection rejection{.kind = RejectionKind::SchemaIssues, .feedback = {}};
  std::size_t count = std::min(issues.size(), schema::kIssuesMax);
  do {
    rejection.feedback = fmt::format("{}\n{}", schema::feedback(issues.first(count)), kAgain);
  } while (rejection.feedback.size() > kModelTextBytesMax && --count > 0);
  return rejection;
}

Result<ScreenedArguments, Rejection> screen_arguments(std::string_view raw_arguments) {
  if (raw_arguments.size() > json::kArgumentsCaps.bytes_max) {
    return fail(rejection_of(json::Error{.code = json::ErrorCode::TooLong, .offset = json::kArgumentsCaps.bytes_max}));
  }
  const auto arguments = json::Document::parse(std::string(raw_arguments), json::kArgumentsCaps);
  if (!arguments) return fail(rejection_of(arguments.error()));
  const json::Value root = arguments->root();
  if (!root.is(json::Kind::Object) || root.size() != 1) return fail(rejection_of(RejectionKind::WrongEnvelope));
  const auto output = root.find(kOutputMember);
  if (!output) return fail(rejection_of(RejectionKind::WrongEnvelope));
  // The caps hold for the text as sent; what is stored is only shorter.
  const auto as_sent = json::Document::parse(std::string(output->raw()), json::kOutputCaps);
  if (!as_sent) return fail(rejection_of(as_sent.error()));
  std::string compact = json::compact(output->raw());
  auto value = json::Document::parse(compact, json::kOutputCaps);
  if (!value) return fail(rejection_of(value.error()));
  return ScreenedArguments{.output = std::move(compact), .value = std::move(*value)};
}

Result<std::string, Rejection> accept_arguments(std::string_view raw_arguments, const schema::Schema& schema) {
  auto screened = screen_arguments(raw_arguments);
  if (!screened) return fail(std::move(screened.error()));
  const schema::Verdict verdict = schema.validate(screened->value.root());
  switch (verdict.outcome) {
    case schema::Outcome::Valid:
      return std::move(screened->output);
    case schema::Outcome::Invalid:
      return fail(rejection_of(std::span<const schema::Issue>(verdict.issues)));
    case schema::Outcome::BudgetExceeded:
      break;
  }
  return fail(rejection_of(RejectionKind::TooComplex));
}

}  // namespace assay::structured

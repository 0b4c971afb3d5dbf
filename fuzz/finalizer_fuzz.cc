// Raw arguments of a finalizer call. Input: a byte that picks the schema, the arguments.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "json/compact.h"
#include "json/utf8.h"
#include "structured/step_judgement.h"

namespace json = assay::json;
namespace schema = assay::schema;
namespace structured = assay::structured;

namespace {

constexpr std::array<std::string_view, 6> kSchemas = {
    R"({})",
    R"({"type":["null","integer"],"multipleOf":3,"maximum":9007199254740993})",
    R"({"type":"object","properties":{"command":{"type":"string","maxLength":40},"retries":{"type":"integer","minimum":0}},
        "required":["command"],"additionalProperties":false})",
    R"({"type":"array","uniqueItems":true,"items":{"anyOf":[{"type":"number"},{"type":"string","pattern":"^a(b|c)*$"}]}})",
    R"({"enum":[null,true,"a",1.0,[1],{"a":1}]})",
    R"({"propertyNames":{"format":"uri-reference"},"patternProperties":{"^x":{"type":"boolean"}},
        "additionalProperties":{"oneOf":[{"minimum":0},{"multipleOf":0.1},{"type":"array","contains":{"const":1}}]}})"};

const schema::Schema& pick(std::uint8_t byte) {
  static const auto compiled = [] {
    std::vector<schema::Schema> all;
    for (const std::string_view text : kSchemas) all.push_back(*schema::Schema::compile(text));
    return all;
  }();
  return compiled[byte % compiled.size()];
}

void check_accepted(const std::string& output, const schema::Schema& schema) {
  const auto value = json::Document::parse(output, json::kOutputCaps);
  ASSAY_CHECK(value.has_value(), "an accepted value is strict JSON within the caps");
  ASSAY_CHECK(json::compact(output) == output, "without white space between tokens");
  ASSAY_CHECK(schema.is_valid(value->root()), "and valid");
  const auto again = structured::accept_arguments(R"({"output":)" + output + "}", schema);
  ASSAY_CHECK(again && *again == output, "what was accepted is accepted again, unchanged");
}

void check_rejected(const structured::Rejection& rejection) {
  ASSAY_CHECK(!rejection.feedback.empty(), "a rejection says why");
  ASSAY_CHECK(rejection.feedback.size() <= structured::kModelTextBytesMax, "in few bytes");
  ASSAY_CHECK(json::first_invalid_utf8(rejection.feedback) == std::string_view::npos, "of UTF-8");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const schema::Schema& schema = pick(data[0]);
  const std::string_view raw(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto accepted = structured::accept_arguments(raw, schema);
  if (accepted) {
    check_accepted(*accepted, schema);
  } else {
    check_rejected(accepted.error());
  }

  structured::ActiveRequest request;
  structured::FinishedStep step;
  step.calls.push_back({.name = structured::kFinalizerName, .raw_arguments = raw});
  for (const auto finish : {structured::Finish::ToolUse, structured::Finish::Complete, structured::Finish::Length}) {
    step.finish = finish;
    const structured::StepJudgement judgement = structured::judge_step(request, schema, step, {});
    const auto* const accept = std::get_if<structured::Accept>(&judgement);
    const bool may_accept = accepted && finish == structured::Finish::ToolUse;
    ASSAY_CHECK((accept != nullptr) == may_accept, "only a complete call with a valid value is accepted");
    ASSAY_CHECK(accept == nullptr || accept->value == *accepted, "and its value is the one that was checked");
    const auto* const reject = std::get_if<structured::Reject>(&judgement);
    if (reject == nullptr || reject->answers.empty() || !reject->answers.front().keep_arguments) continue;
    ASSAY_CHECK(structured::screen_arguments(raw).has_value(), "unsafe arguments are not kept");
  }
  return 0;
}

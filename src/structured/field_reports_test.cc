// Kinds of faults that users of other systems met, each with the smallest input that showed it: at admission, in the
// finalizer's arguments, in what is made of a step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "structured/response_format.h"
#include "structured/step_judgement.h"

namespace assay::structured {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The fault of the schema, or nothing.
std::string refusal_of(const std::string& schema) {
  const auto format =
      parse_response_format(R"({"type":"json_schema","json_schema":{"name":"a","schema":)" + schema + "}}");
  if (format) return "";
  EXPECT_THAT(format.error().front().field, StartsWith("response_format"));
  return format.error().front().detail;
}

StepJudgement judge(const std::string& arguments, Finish finish = Finish::ToolUse, const char* schema = "{}",
                    std::int64_t rejections = 0) {
  ActiveRequest request;
  request.rejections = rejections;
  FinishedStep step{.finish = finish, .calls = {}};
  step.calls.push_back({.name = kFinalizerName, .raw_arguments = arguments});
  return judge_step(request, *schema::Schema::compile(schema), step, {});
}

std::string accepted(const std::string& arguments, const char* schema = "{}") {
  const StepJudgement judgement = judge(arguments, Finish::ToolUse, schema);
  const auto* const accept = std::get_if<Accept>(&judgement);
  return accept == nullptr ? "rejected" : accept->value;
}

TEST(FieldReports, ARemoteReferenceIsRefusedWithItsPlace) {
  EXPECT_THAT(refusal_of(R"({"$ref":"http://192.0.2.10/x.json"})"), StartsWith("unsupported_keyword"));
  EXPECT_THAT(refusal_of(R"({"properties":{"a":{"$ref":"file:///etc/passwd"}}})"),
              HasSubstr("(at /properties/a/$ref)"));
  EXPECT_THAT(refusal_of(R"({"$id":"http://192.0.2.10/","properties":{"a":{"$ref":"#/b"}}})"),
              StartsWith("unsupported_keyword"));
}

TEST(FieldReports, AnInvalidSchemaOrPatternIsTheCallersFaultAlone) {
  EXPECT_THAT(refusal_of(R"({"properties":{"foo":"bar"}})"), StartsWith("invalid_schema"));
  EXPECT_THAT(refusal_of(R"({"pattern":"[a"})"), StartsWith("unsupported_pattern"));
}

TEST(FieldReports, NestedAlternativesAreRefusedRatherThanCompiledForHours) {
  std::string schema = R"({"type":"null"})";
  for (int i = 0; i < 12; ++i) schema = R"({"oneOf":[)" + schema + R"(,{"type":"string"}]})";
  EXPECT_THAT(refusal_of(schema), StartsWith("too_deep"));
  schema = R"({"type":"null"})";
  for (int i = 0; i < 5; ++i) schema = R"({"oneOf":[)" + schema + "]}";
  EXPECT_THAT(refusal_of(schema), StartsWith("branches_too_deep"));
}

TEST(FieldReports, NestingIsRefusedBeforeAnythingWalksOverIt) {
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += R"({"a":)";
  EXPECT_THAT(refusal_of(deep), StartsWith("too_"));
  const auto judgement = judge(R"({"output":)" + deep);
  ASSERT_TRUE(std::holds_alternative<Reject>(judgement));
  EXPECT_EQ(std::get<Reject>(judgement).kind, RejectionKind::TooLarge);
  const std::string at_the_cap = std::string(32, '[') + std::string(32, ']');
  EXPECT_EQ(accepted(R"({"output":)" + at_the_cap + "}"), at_the_cap);
}

TEST(FieldReports, ATruncatedAnswerIsCalledCutAndNeverRepaired) {
  for (const char* arguments : {R"({"output":{"text":"It was a dark and)", R"({"output":[]})", "", R"({"output":[{)"}) {
    const StepJudgement judgement = judge(arguments, Finish::Length);
    ASSERT_TRUE(std::holds_alternative<Reject>(judgement)) << arguments;
    const auto& reject = std::get<Reject>(judgement);
    EXPECT_EQ(reject.kind, RejectionKind::Truncated);
    EXPECT_THAT(reject.answers.front().text, HasSubstr("must be shorter"));
    EXPECT_FALSE(reject.answers.front().keep_arguments);
  }
  EXPECT_EQ(accepted(R"({"output":[{)"), "rejected");
  const StepJudgement last = judge("", Finish::Length, "{}", kRepairsMax);
  EXPECT_THAT(std::get<Reject>(last).exhausted->message, HasSubstr("cut off by the output token limit"));
}

TEST(FieldReports, ARefusalEndsTheRequestAtOnce) {
  for (const Finish finish : {Finish::Refusal, Finish::ContentFilter}) {
    const StepJudgement judgement = judge(R"({"output":1})", finish);
    ASSERT_TRUE(std::holds_alternative<Abort>(judgement));
    EXPECT_EQ(std::get<Abort>(judgement).error.code, OutcomeCode::GenerationFailed);
  }
}

TEST(FieldReports, ProseAndAMissingFieldAreToldApart) {
  ActiveRequest last;
  last.rejections = kRepairsMax;
  const auto prose = judge_step(last, *schema::Schema::compile("{}"), {.finish = Finish::Complete, .calls = {}}, {});
  EXPECT_EQ(std::get<Reject>(prose).exhausted->code, OutcomeCode::NotProduced);
  const auto missing = judge(R"({"output":{}})", Finish::ToolUse, R"({"required":["name"]})", kRepairsMax);
  EXPECT_EQ(std::get<Reject>(missing).exhausted->code, OutcomeCode::ValidationExhausted);
  EXPECT_THAT(std::get<Reject>(missing).answers.front().text, HasSubstr(R"(required: missing "name")"));
}

TEST(FieldReports, NoStringIsCutWhereABraceIsMissing) {
  EXPECT_EQ(accepted(R"({"output":{"poem":"it's late"})"), "rejected");
  EXPECT_EQ(accepted(R"({"output":{"poem":"it's \"late\""}})"), R"({"poem":"it's \"late\""})");
}

TEST(FieldReports, LargeIntegersAreNeitherRoundedNorRespelled) {
  EXPECT_EQ(accepted(R"({"output":{"id":2512292042121000001}})", R"({"properties":{"id":{"type":"integer"}}})"),
            R"({"id":2512292042121000001})");
  EXPECT_EQ(accepted(R"({"output":2512292042121000001})", R"({"const":2512292042121000000})"), "rejected");
  EXPECT_EQ(accepted(R"({"output":18446744073709551617})", R"({"enum":[18446744073709551616]})"), "rejected");
  EXPECT_EQ(accepted(R"({"output":18446744073709551617})", R"({"type":"integer","minimum":18446744073709551617})"),
            "18446744073709551617");
  EXPECT_EQ(accepted(R"({"output":9.223372036854775807e18})",
                     R"({"type":"integer","multipleOf":9223372036854775807,"maximum":9223372036854775807})"),
            "9.223372036854775807e18");
  EXPECT_EQ(accepted(R"({"output":[9223372036854775807,9.223372036854775808e18]})", R"({"uniqueItems":true})"),
            "[9223372036854775807,9.223372036854775808e18]");
  EXPECT_EQ(accepted(R"({"output":[9223372036854775808,9.223372036854775808e18]})", R"({"uniqueItems":true})"),
            "rejected");
}

}  // namespace
}  // namespace assay::structured

#include "structured/step_judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "structured/outcome.h"
#include "structured/response_format.h"

namespace assay::structured {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kSchemaText = R"({"type":"object","required":["command"]})";
constexpr std::string_view kValid = R"({"output": {"command": "make test"}})";
constexpr std::string_view kInvalid = R"({"output":{"secret":"hunter2"}})";
constexpr std::string_view kUnsafe = R"({"output":{"command":1,"command":2}})";

const RequestId kId = *RequestId::parse("11111111-1111-4111-8111-111111111111");

ActiveRequest active(std::int64_t rejections = 0, bool answered = false) {
  ActiveRequest request;
  request.request = {.request_id = kId, .name = "n", .description = std::nullopt, .schema = std::string(kSchemaText)};
  request.rejections = rejections;
  request.rejection_answered_finalizer = answered;
  return request;
}

StepCall finalizer(std::string_view arguments = kValid) {
  return {.name = kFinalizerName, .raw_arguments = arguments, .over_cap = false, .provider_executed = false};
}
StepCall ordinary(std::string_view name = "read_file") {
  return {.name = name, .raw_arguments = "{}", .over_cap = false, .provider_executed = false};
}
StepCall by_provider(std::string_view name = "web_search") {
  return {.name = name, .raw_arguments = "{}", .over_cap = false, .provider_executed = true};
}

StepJudgement judge(Finish finish, std::vector<StepCall> calls, const ActiveRequest& request = active(),
                    std::vector<std::string_view> other_tools = {}) {
  return judge_step(request, *schema::Schema::compile(kSchemaText), {.finish = finish, .calls = std::move(calls)},
                    other_tools);
}

Reject expect_reject(const StepJudgement& judgement, RejectionKind kind) {
  const auto* rejected = std::get_if<Reject>(&judgement);
  EXPECT_NE(rejected, nullptr);
  if (rejected == nullptr) return {};
  EXPECT_EQ(rejected->kind, kind);
  EXPECT_EQ(rejected->control.kind, ControlKind::Rejection);
  EXPECT_EQ(rejected->control.request_id, kId);
  EXPECT_NE(rejected->answers.empty(), rejected->corrective == std::nullopt) << "feedback goes exactly one way";
  for (const CallAnswer& answer : rejected->answers) {
    EXPECT_TRUE(answer.is_error);
    EXPECT_LE(answer.text.size(), kModelTextBytesMax);
  }
  return *rejected;
}

OutcomeError expect_abort(const StepJudgement& judgement, OutcomeCode code) {
  const auto* aborted = std::get_if<Abort>(&judgement);
  EXPECT_NE(aborted, nullptr);
  if (aborted == nullptr) return {};
  EXPECT_EQ(aborted->error.code, code);
  return aborted->error;
}

TEST(StepJudgement, AcceptsAFinalizerCallAloneInACompleteStep) {
  const StepJudgement judgement = judge(Finish::ToolUse, {finalizer()});
  const auto* accepted = std::get_if<Accept>(&judgement);
  ASSERT_NE(accepted, nullptr);
  EXPECT_EQ(accepted->value, R"({"command":"make test"})");
  EXPECT_EQ(accepted->control, (ControlPart{.request_id = kId,
                                            .kind = ControlKind::Candidate,
                                            .value = accepted->value,
                                            .finish = Finish::ToolUse,
                                            .answers_finalizer = false}));
  EXPECT_FALSE(accepted->answer.is_error);
  EXPECT_TRUE(accepted->answer.keep_arguments);
  EXPECT_THAT(accepted->answer.text, Not(HasSubstr("make test")));
}

TEST(StepJudgement, GoesOnAfterOrdinaryCalls) {
  EXPECT_TRUE(std::holds_alternative<GoOn>(judge(Finish::ToolUse, {ordinary(), ordinary("b")})));
  EXPECT_TRUE(std::holds_alternative<GoOn>(judge(Finish::ToolUse, {by_provider()})));
  EXPECT_TRUE(std::holds_alternative<GoOn>(judge(Finish::Pause, {by_provider()})));
  EXPECT_TRUE(std::holds_alternative<GoOn>(judge(Finish::Pause, {})));
}

TEST(StepJudgement, RejectsTextAlone) {
  for (const Finish finish : {Finish::Complete, Finish::ToolUse}) {
    const Reject rejected = expect_reject(judge(finish, {}), RejectionKind::TextOnly);
    EXPECT_FALSE(rejected.control.answers_finalizer);
    EXPECT_EQ(rejected.control.finish, finish);
    EXPECT_THAT(rejected.corrective.value_or(""), HasSubstr(std::string(kFinalizerName)));
  }
  expect_reject(judge(Finish::Complete, {by_provider()}), RejectionKind::TextOnly);
}

TEST(StepJudgement, RejectsAValueThatDoesNotSatisfyTheSchema) {
  const Reject rejected = expect_reject(judge(Finish::ToolUse, {finalizer(kInvalid)}), RejectionKind::SchemaIssues);
  ASSERT_EQ(rejected.answers.size(), 1u);
  EXPECT_TRUE(rejected.control.answers_finalizer);
  EXPECT_TRUE(rejected.answers[0].keep_arguments) << "the bytes are safe, the model may look at them";
  EXPECT_THAT(rejected.answers[0].text, HasSubstr("required"));
  EXPECT_THAT(rejected.answers[0].text, Not(HasSubstr("hunter2")));
}

TEST(StepJudgement, KeepsNoUnsafeArguments) {
  const Reject duplicate = expect_reject(judge(Finish::ToolUse, {finalizer(kUnsafe)}), RejectionKind::InvalidJson);
  EXPECT_FALSE(duplicate.answers[0].keep_arguments);
  StepCall over = finalizer("{}");
  over.over_cap = true;
  const Reject too_large = expect_reject(judge(Finish::ToolUse, {over}), RejectionKind::TooLarge);
  EXPECT_FALSE(too_large.answers[0].keep_arguments);
  const Reject envelope = expect_reject(judge(Finish::ToolUse, {finalizer("{}")}), RejectionKind::WrongEnvelope);
  EXPECT_FALSE(envelope.answers[0].keep_arguments);
}

TEST(StepJudgement, RejectsTheWholeBatchBeforeAnythingRuns) {
  const Reject rejected =
      expect_reject(judge(Finish::ToolUse, {ordinary(), finalizer(), ordinary("b")}), RejectionKind::BatchedWithCalls);
  ASSERT_EQ(rejected.answers.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(rejected.answers[i].call, i);
  EXPECT_THAT(rejected.answers[0].text, HasSubstr("Not executed"));
  EXPECT_TRUE(rejected.control.answers_finalizer);
}

TEST(StepJudgement, RejectsSeveralFinalizers) {
  const Reject rejected =
      expect_reject(judge(Finish::ToolUse, {finalizer(), finalizer(kUnsafe)}), RejectionKind::SeveralFinalizers);
  ASSERT_EQ(rejected.answers.size(), 2u);
  EXPECT_TRUE(rejected.answers[0].keep_arguments);
  EXPECT_FALSE(rejected.answers[1].keep_arguments);
}

TEST(StepJudgement, AsksForASeparateStepBesideProviderCalls) {
  const Reject rejected =
      expect_reject(judge(Finish::ToolUse, {by_provider(), finalizer()}), RejectionKind::BesideProviderCalls);
  ASSERT_EQ(rejected.answers.size(), 1u);
  EXPECT_EQ(rejected.answers[0].call, 1u);
}

TEST(StepJudgement, NeverAcceptsFromAStepThatIsNotKnownToBeComplete) {
  for (const Finish finish : {Finish::Complete, Finish::Unknown, Finish::Pause}) {
    const Reject rejected = expect_reject(judge(finish, {finalizer()}), RejectionKind::Incomplete);
    EXPECT_FALSE(rejected.answers[0].keep_arguments);
    EXPECT_EQ(rejected.control.finish, finish);
  }
}

TEST(StepJudgement, CountsATruncatedBatchAsOneRejectionWhateverItHeld) {
  for (const std::vector<StepCall>& calls : {std::vector<StepCall>{},
                                             {finalizer()},
                                             {ordinary()},
                                             {ordinary(), finalizer(), finalizer()},
                                             {by_provider()}}) {
    const Reject rejected = expect_reject(judge(Finish::Length, calls), RejectionKind::Truncated);
    const std::string& feedback = rejected.corrective ? *rejected.corrective : rejected.answers.back().text;
    EXPECT_THAT(feedback, HasSubstr("shorter"));
    for (const CallAnswer& answer : rejected.answers) EXPECT_FALSE(answer.keep_arguments);
  }
}

TEST(StepJudgement, EndsAtOnceOnRefusalFilterAndError) {
  for (const std::vector<StepCall>& calls : {std::vector<StepCall>{}, {finalizer()}, {ordinary()}}) {
    EXPECT_THAT(expect_abort(judge(Finish::Refusal, calls), OutcomeCode::GenerationFailed).message,
                HasSubstr("refused"));
    EXPECT_THAT(expect_abort(judge(Finish::ContentFilter, calls), OutcomeCode::GenerationFailed).message,
                HasSubstr("content filter"));
    EXPECT_THAT(expect_abort(judge(Finish::Error, calls), OutcomeCode::GenerationFailed).message, HasSubstr("error"));
  }
  const StepJudgement judgement = judge(Finish::Refusal, {by_provider(), ordinary()});
  EXPECT_EQ(std::get<Abort>(judgement).answers.size(), 1u) << "local calls are closed";
}

TEST(StepJudgement, EndsOnACollisionOfNames) {
  expect_abort(judge(Finish::ToolUse, {finalizer()}, active(), {"a", kFinalizerName}), OutcomeCode::ConfigurationError);
  expect_abort(judge(Finish::ToolUse, {by_provider(kFinalizerName)}), OutcomeCode::ConfigurationError);
}

TEST(StepJudgement, AllowsTwoRepairs) {
  EXPECT_EQ(expect_reject(judge(Finish::Complete, {}, active(0)), RejectionKind::TextOnly).exhausted, std::nullopt);
  EXPECT_EQ(expect_reject(judge(Finish::Complete, {}, active(1)), RejectionKind::TextOnly).exhausted, std::nullopt);
  const auto third = expect_reject(judge(Finish::Complete, {}, active(2)), RejectionKind::TextOnly).exhausted;
  ASSERT_TRUE(third.has_value());
  EXPECT_EQ(third->code, OutcomeCode::NotProduced);
  EXPECT_TRUE(std::holds_alternative<Accept>(judge(Finish::ToolUse, {finalizer()}, active(2))));
}

TEST(StepJudgement, SaysValidationExhaustedWhereAnyRejectionAnsweredAFinalizer) {
  const auto earlier = expect_reject(judge(Finish::Complete, {}, active(2, true)), RejectionKind::TextOnly).exhausted;
  EXPECT_EQ(earlier->code, OutcomeCode::ValidationExhausted);
  const auto now =
      expect_reject(judge(Finish::ToolUse, {finalizer(kInvalid)}, active(2)), RejectionKind::SchemaIssues).exhausted;
  EXPECT_EQ(now->code, OutcomeCode::ValidationExhausted);
  const auto cut = expect_reject(judge(Finish::Length, {}, active(2)), RejectionKind::Truncated).exhausted;
  EXPECT_EQ(cut->code, OutcomeCode::NotProduced);
  EXPECT_THAT(cut->message, HasSubstr("token limit"));
}

TEST(Preflight, CompilesTheStoredSchema) {
  const auto schema = preflight(active().request, {});
  ASSERT_TRUE(schema.has_value());
  EXPECT_EQ(schema->text(), kSchemaText);
  EXPECT_TRUE(preflight(active().request, {}, &*schema).has_value());
}

TEST(Preflight, SharesWhatAdmissionCompiled) {
  const auto format = parse_response_format(R"({"type":"json_schema","json_schema":{"name":"n","schema":)" +
                                            std::string(kSchemaText) + "}}");
  ASSERT_TRUE(format);
  EXPECT_EQ(preflight(active().request, {})->text().data(), format->json_schema->compiled->text().data());
}

TEST(Preflight, DoesNotTakeAnotherTextsSchema) {
  const auto other = schema::Schema::compile("{}");
  const auto schema = preflight(active().request, {}, &*other);
  ASSERT_TRUE(schema.has_value());
  EXPECT_EQ(schema->text(), kSchemaText);
}

TEST(Preflight, RefusesWhatCannotBeOfferedAsPromised) {
  const std::vector<std::string_view> names{kFinalizerName};
  RequestPart unknown = active().request;
  unknown.schema = R"({"unknownKeyword":"secret"})";
  for (const auto& refused :
       {preflight(active().request, {.other_tools = names, .strict_forced = false}),
        preflight(active().request, {.other_tools = {}, .strict_forced = true}), preflight(unknown, {})}) {
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, OutcomeCode::ConfigurationError);
    EXPECT_FALSE(refused.error().message.empty());
    EXPECT_THAT(refused.error().message, Not(HasSubstr("secret")));
  }
}

TEST(Exhausted, TellsTheTwoLimitsApart) {
  EXPECT_THAT(exhausted(Budget::Steps, false).message, HasSubstr("step limit"));
  EXPECT_EQ(exhausted(Budget::Steps, false).code, OutcomeCode::NotProduced);
  EXPECT_EQ(exhausted(Budget::Steps, true).code, OutcomeCode::ValidationExhausted);
  EXPECT_THAT(exhausted(Budget::Repairs, true).message, HasSubstr("3 attempts"));
}

}  // namespace
}  // namespace assay::structured

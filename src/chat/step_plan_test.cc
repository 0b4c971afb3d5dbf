#include "chat/step_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "chat/content.h"
#include "structured/finalizer.h"
#include "structured/outcome.h"

namespace assay::chat {
namespace {

using structured::Finish;
using ::testing::HasSubstr;

const RequestId kId = *RequestId::parse("11111111-1111-4111-8111-111111111111");
const ModelConfigId kModel = *ModelConfigId::parse("00000000-0000-4000-8000-000000000003");

GeneratedToolCall call(std::string id, std::string name = "t", std::string arguments = "{}") {
  return {.id = std::move(id),
          .name = std::move(name),
          .arguments = std::move(arguments),
          .over_cap = false,
          .provider_executed = false,
          .provider_state = ""};
}
GeneratedToolCall finalizer(std::string arguments = R"({"output": 7})") {
  return call("f", std::string(structured::kFinalizerName), std::move(arguments));
}
TextPart text(std::string value) { return TextPart{.text = std::move(value)}; }

class StepPlanTest : public ::testing::Test {
 protected:
  StepPlanTest() {
    chat.status = Status::Running;
    chat.reasoning_effort = "low";
    model.id = kModel;
    model.provider = "sim";
    model.context_limit = 8000;
    Message& user = history.emplace_back();
    user.role = Role::User;
    user.content = {text("ask")};
  }

  [[nodiscard]] TurnView view() const {
    return TurnView{.chat = chat, .history = history, .tools = tools, .model = model};
  }
  [[nodiscard]] StepPlan ordinary(Finish finish, std::vector<GeneratedPart> parts) const {
    return assemble_step(view(), Generate{}, GeneratedStep{.finish = finish, .parts = std::move(parts), .usage = {}});
  }
  [[nodiscard]] static Generate governed(std::int64_t rejections = 0) {
    structured::ActiveRequest active;
    active.request = {.request_id = kId, .name = "n", .description = std::nullopt, .schema = R"({"type":"integer"})"};
    active.rejections = rejections;
    return Generate{.governing =
                        Governing{.request = active, .schema = *schema::Schema::compile(active.request.schema)}};
  }
  [[nodiscard]] StepPlan structured_step(Finish finish, std::vector<GeneratedPart> parts,
                                         std::int64_t rejections = 0) const {
    return assemble_step(view(), governed(rejections),
                         GeneratedStep{.finish = finish, .parts = std::move(parts), .usage = {}});
  }

  static const ToolCallPart& call_at(const StepPlan& plan, std::size_t part) {
    return std::get<ToolCallPart>(plan.rows.at(0).content.at(part));
  }
  static const ToolResultPart& result_at(const StepPlan& plan, std::size_t row) {
    return std::get<ToolResultPart>(plan.rows.at(row).content.at(0));
  }
  static const structured::ControlPart* control_of(const StepPlan& plan) {
    const structured::ControlPart* found = nullptr;
    for (const NewMessage& row : plan.rows) {
      for (const Part& part : row.content) {
        if (const auto* control = std::get_if<structured::ControlPart>(&part)) {
          EXPECT_EQ(found, nullptr) << "one control a step";
          EXPECT_EQ(row.role, Role::Assistant);
          found = control;
        }
      }
    }
    return found;
  }
  static ToolDefinition theirs() {
    return {.name = "theirs", .description = "", .parameters = "{}", .strict_off = false, .client_executed = true};
  }
  static bool awaits_client(const StepPlan& plan) { return std::holds_alternative<AwaitClient>(plan.then); }
  static bool goes_on(const StepPlan& plan) { return std::holds_alternative<std::monostate>(plan.then); }

  Chat chat;
  std::vector<Message> history;
  std::vector<ToolDefinition> tools;
  ModelDescription model;
};

TEST_F(StepPlanTest, GoesOnAfterAPauseButNotForEver) {
  for (std::size_t pause = 0; pause < kPausesMax; ++pause) {
    const StepPlan plan = ordinary(Finish::Pause, {text("searching")});
    ASSERT_TRUE(goes_on(plan)) << pause;
    ASSERT_EQ(plan.rows.at(0).content, (Content{text("searching"), PausePart{}}));
    EXPECT_TRUE(goes_on(structured_step(Finish::Pause, {text("searching")})));
    Message& row = history.emplace_back();
    row.role = Role::Assistant;
    row.content = plan.rows[0].content;
    EXPECT_TRUE(std::holds_alternative<Generate>(decide_turn(view())));
  }
  const StepPlan last = ordinary(Finish::Pause, {text("searching")});
  ASSERT_TRUE(std::holds_alternative<FailTurn>(last.then));
  EXPECT_THAT(std::get<FailTurn>(last.then).error.message, HasSubstr("again and again"));
  EXPECT_TRUE(last.rows.empty());
  const StepPlan failed = structured_step(Finish::Pause, {text("searching")});
  ASSERT_TRUE(std::holds_alternative<FailTurn>(failed.then));
  EXPECT_TRUE(std::get<FailTurn>(failed.then).receipt);
  EXPECT_TRUE(std::holds_alternative<EndTurn>(ordinary(Finish::Complete, {text("found")}).then));
}

TEST_F(StepPlanTest, KeepsTheAnswerInItsOrderWithUsage) {
  GeneratedStep step;
  step.finish = Finish::Complete;
  step.usage.output_tokens = 5;
  step.parts = {ReasoningPart{.text = "hm", .provider_state = "1"}, text("a"), text(""),
                ProviderItemPart{.provider_state = "2"}, SourcePart{.id = "s", .url = "u", .title = "t"}};
  const StepPlan plan = assemble_step(view(), Generate{}, step);
  ASSERT_EQ(plan.rows.size(), 1u);
  const NewMessage& row = plan.rows[0];
  EXPECT_EQ(row.role, Role::Assistant);
  EXPECT_EQ(row.visibility, Visibility::Both);
  EXPECT_EQ(row.content,
            (Content{ReasoningPart{.text = "hm", .provider_state = "1"}, text("a"),
                     ProviderItemPart{.provider_state = "2"}, SourcePart{.id = "s", .url = "u", .title = "t"}}));
  EXPECT_EQ(row.usage.output_tokens, 5);
  EXPECT_EQ(row.usage.context_limit, 8000);
  EXPECT_EQ(row.model_config, kModel);
  EXPECT_EQ(row.reasoning_effort, "low");
  EXPECT_TRUE(std::holds_alternative<EndTurn>(plan.then));
}

TEST_F(StepPlanTest, EndsAnOrdinaryTurnThatWasCutOrRefusedInWords) {
  for (const Finish finish : {Finish::Complete, Finish::Length, Finish::Refusal, Finish::Unknown}) {
    EXPECT_TRUE(std::holds_alternative<EndTurn>(ordinary(finish, {text("a")}).then));
  }
}

TEST_F(StepPlanTest, FailsAnOrdinaryTurnThatWasFilteredBrokenOrEmpty) {
  const auto kind_of = [](const StepPlan& plan) {
    const auto* failed = std::get_if<FailTurn>(&plan.then);
    return failed == nullptr ? std::string("none") : failed->error.kind;
  };
  EXPECT_EQ(kind_of(ordinary(Finish::ContentFilter, {text("par")})), "content_filter");
  EXPECT_EQ(ordinary(Finish::ContentFilter, {text("par")}).rows.size(), 1u) << "what arrived is kept";
  EXPECT_EQ(kind_of(ordinary(Finish::Refusal, {})), "content_filter");
  EXPECT_EQ(kind_of(ordinary(Finish::Error, {text("a")})), "generic");
  EXPECT_EQ(kind_of(ordinary(Finish::Complete, {})), "generic");
}

TEST_F(StepPlanTest, TakesSilenceAfterToolsForTheEnd) {
  Message& result = history.emplace_back();
  result.role = Role::Tool;
  const StepPlan plan = ordinary(Finish::Complete, {});
  EXPECT_TRUE(plan.rows.empty());
  EXPECT_TRUE(std::holds_alternative<EndTurn>(plan.then));
}

TEST_F(StepPlanTest, AnswersAnUnknownToolAndGoesOn) {
  const StepPlan plan = ordinary(Finish::ToolUse, {text("let me"), call("a", "nope")});
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(result_at(plan, 1).call_id, "a");
  EXPECT_TRUE(result_at(plan, 1).is_error);
  EXPECT_TRUE(goes_on(plan));
}

TEST_F(StepPlanTest, LeavesCallsOfKnownToolsOpen) {
  tools = {ToolDefinition{.name = "t", .description = "", .parameters = "{}", .strict_off = false}};
  const StepPlan plan = ordinary(Finish::ToolUse, {call("a"), call("b", "nope"), call("c", "t", "{oops")});
  ASSERT_EQ(plan.rows.size(), 3u);
  EXPECT_EQ(result_at(plan, 1).call_id, "b");
  EXPECT_EQ(result_at(plan, 2).call_id, "c");
  EXPECT_TRUE(call_at(plan, 2).rejected_arguments);
  EXPECT_EQ(call_at(plan, 2).arguments, "{}");
}

TEST_F(StepPlanTest, WaitsForTheClientWhereOnlyItsCallsAreOpen) {
  tools = {theirs()};
  const StepPlan plan = ordinary(Finish::ToolUse, {text("asking"), call("a", "theirs"), call("b", "nope"),
                                                   call("c", "theirs", "[1]"), call("d", "theirs", R"({"n":1})")});
  EXPECT_TRUE(awaits_client(plan));
  ASSERT_EQ(plan.rows.size(), 3u) << "the step, and results of what cannot run";
  EXPECT_EQ(result_at(plan, 1).call_id, "b");
  EXPECT_EQ(result_at(plan, 2).call_id, "c");
  EXPECT_EQ(call_at(plan, 4).arguments, R"({"n":1})");
  EXPECT_TRUE(awaits_client(structured_step(Finish::ToolUse, {call("a", "theirs")})));
}

TEST_F(StepPlanTest, GoesOnWhereNoCallOfTheClientsIsLeft) {
  tools = {theirs()};
  EXPECT_TRUE(goes_on(ordinary(Finish::ToolUse, {call("a", "theirs", "no JSON"), call("b", "nope")})));
  for (const Finish finish : {Finish::Length, Finish::Unknown, Finish::Complete, Finish::Pause}) {
    EXPECT_TRUE(goes_on(ordinary(finish, {call("a", "theirs")}))) << "nothing of an incomplete answer is handed out";
  }
}

TEST_F(StepPlanTest, RunsLocalToolsOfABatchBeforeTheClientIsAsked) {
  tools = {theirs(), ToolDefinition{.name = "t", .description = "", .parameters = "{}"}};
  const StepPlan plan = ordinary(Finish::ToolUse, {call("a", "theirs"), call("b")});
  EXPECT_EQ(plan.rows.size(), 1u);
  EXPECT_TRUE(goes_on(plan));
}

TEST_F(StepPlanTest, HandsNothingToTheClientBesideTheFinalizer) {
  tools = {theirs()};
  const StepPlan plan = structured_step(Finish::ToolUse, {call("a", "theirs"), finalizer(), call("b", "theirs")});
  ASSERT_EQ(plan.rows.size(), 4u);
  for (std::size_t row = 1; row < 4; ++row) EXPECT_TRUE(result_at(plan, row).is_error);
  EXPECT_EQ(control_of(plan)->kind, structured::ControlKind::Rejection);
  EXPECT_TRUE(goes_on(plan));
}

TEST_F(StepPlanTest, HandsNothingToTheClientFromAStepThatEndsTheRequest) {
  tools = {theirs()};
  const StepPlan plan = structured_step(Finish::Refusal, {text("no"), call("a", "theirs")});
  EXPECT_TRUE(std::holds_alternative<FailTurn>(plan.then));
  EXPECT_TRUE(result_at(plan, 1).is_error);
}

TEST_F(StepPlanTest, GivesNoCallTheIdOfAnEarlierStep) {
  tools = {theirs()};
  chat.last_message_id = 7;
  Message& earlier = history.emplace_back();
  earlier.role = Role::Assistant;
  ToolCallPart& used = std::get<ToolCallPart>(earlier.content.emplace_back(ToolCallPart()));
  used.id = "a";
  const StepPlan plan = ordinary(Finish::ToolUse, {call("a", "theirs"), call("", "theirs"), call("b", "theirs")});
  EXPECT_EQ(call_at(plan, 0).id, "a-8-0") << "a late result of the earlier call finds no call";
  EXPECT_EQ(call_at(plan, 1).id, "call-8-1");
  EXPECT_EQ(call_at(plan, 2).id, "b") << "an id of its own stays the provider's";
}

TEST_F(StepPlanTest, RunsNoCallOfAnAnswerThatIsNotComplete) {
  tools = {ToolDefinition{.name = "t", .description = "", .parameters = "{}", .strict_off = false}};
  for (const Finish finish : {Finish::Length, Finish::Unknown, Finish::Complete, Finish::Pause}) {
    const StepPlan plan = ordinary(finish, {call("a"), call("b")});
    ASSERT_EQ(plan.rows.size(), 3u);
    EXPECT_TRUE(call_at(plan, 0).rejected_arguments);
    EXPECT_THAT(result_at(plan, 1).result, HasSubstr("Not executed"));
    EXPECT_TRUE(goes_on(plan));
  }
}

TEST_F(StepPlanTest, StoresOrdinaryArgumentsExactlyAndOnlySafeOnes) {
  const StepPlan plan =
      ordinary(Finish::ToolUse, {call("a", "x", "{ \"n\": 1e25 }"), call("b", "x", ""), call("c", "x", "[1]"),
                                 call("d", "x", "{\"a\":1,\"a\":2}"), call("e", "x", "{\"a\":\"\\u0000\"}")});
  EXPECT_EQ(call_at(plan, 0).arguments, "{ \"n\": 1e25 }");
  EXPECT_EQ(call_at(plan, 1).arguments, "{}");
  EXPECT_FALSE(call_at(plan, 1).rejected_arguments) << "no arguments is an empty object";
  for (std::size_t i = 2; i < 5; ++i) {
    EXPECT_TRUE(call_at(plan, i).rejected_arguments) << i;
    EXPECT_EQ(call_at(plan, i).arguments, "{}");
  }
  GeneratedToolCall over = call("f", "x", "{}");
  over.over_cap = true;
  EXPECT_TRUE(call_at(ordinary(Finish::ToolUse, {over}), 0).rejected_arguments);
}

TEST_F(StepPlanTest, MakesIdsUniqueAndNamesReplayable) {
  const StepPlan plan = ordinary(Finish::ToolUse, {call(""), call("a"), call("a"), call("b", "bad name\n")});
  std::set<std::string> ids;
  for (std::size_t i = 0; i < 4; ++i) {
    ids.insert(call_at(plan, i).id);
    EXPECT_FALSE(call_at(plan, i).id.empty());
    EXPECT_EQ(result_at(plan, i + 1).call_id, call_at(plan, i).id);
  }
  EXPECT_EQ(ids.size(), 4u);
  EXPECT_EQ(call_at(plan, 3).name, "invalid_tool_name");
}

TEST_F(StepPlanTest, KeepsResultsOfTheProviderAsJson) {
  const auto executed = [](std::string result) {
    return ToolResultPart{.call_id = "p",
                          .name = "search",
                          .result = std::move(result),
                          .is_error = false,
                          .provider_executed = false,
                          .provider_state = ""};
  };
  const StepPlan plan = ordinary(Finish::Complete, {executed(R"([{"n":1.0}])"), executed("not \"JSON\"")});
  const Content& content = plan.rows.at(0).content;
  EXPECT_EQ(std::get<ToolResultPart>(content.at(0)).result, R"([{"n":1.0}])");
  EXPECT_EQ(std::get<ToolResultPart>(content.at(1)).result, R"("not \"JSON\"")");
  EXPECT_TRUE(std::get<ToolResultPart>(content.at(1)).provider_executed);
}

TEST_F(StepPlanTest, PublishesAnAcceptedValueInOneTransaction) {
  const StepPlan plan = structured_step(Finish::ToolUse, {text("done"), finalizer()});
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(call_at(plan, 1).arguments, R"({"output": 7})") << "exact text";
  EXPECT_FALSE(result_at(plan, 1).is_error);
  ASSERT_NE(control_of(plan), nullptr);
  EXPECT_EQ(control_of(plan)->kind, structured::ControlKind::Candidate);
  EXPECT_EQ(control_of(plan)->value, "7");
  const auto* end = std::get_if<EndTurn>(&plan.then);
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(end->receipt, structured::succeeded(kId, "7"));
}

TEST_F(StepPlanTest, RejectsTextAloneWithACorrectiveRow) {
  const StepPlan plan = structured_step(Finish::Complete, {text("the answer is 7")});
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(control_of(plan)->kind, structured::ControlKind::Rejection);
  EXPECT_EQ(plan.rows[1].role, Role::User);
  EXPECT_EQ(plan.rows[1].visibility, Visibility::Model);
  EXPECT_TRUE(goes_on(plan));
}

TEST_F(StepPlanTest, CountsAnEmptyAnswerAsAStep) {
  const StepPlan plan = structured_step(Finish::Complete, {});
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.rows[0].role, Role::Assistant);
  EXPECT_NE(control_of(plan), nullptr);
}

TEST_F(StepPlanTest, KeepsUnsafeArgumentsOutOfTheRow) {
  const StepPlan plan = structured_step(Finish::ToolUse, {finalizer(R"({"output":1,"output":2})")});
  EXPECT_EQ(call_at(plan, 0).arguments, "{}");
  EXPECT_TRUE(call_at(plan, 0).rejected_arguments);
  EXPECT_THAT(result_at(plan, 1).result, HasSubstr("duplicate_key"));
  EXPECT_TRUE(control_of(plan)->answers_finalizer);
}

TEST_F(StepPlanTest, AnswersTheWholeBatchWhereTheFinalizerIsNotAlone) {
  tools = {ToolDefinition{.name = "t", .description = "", .parameters = "{}", .strict_off = false}};
  const StepPlan plan = structured_step(Finish::ToolUse, {call("a"), finalizer()});
  ASSERT_EQ(plan.rows.size(), 3u);
  EXPECT_THAT(result_at(plan, 1).result, HasSubstr("Not executed"));
  EXPECT_TRUE(goes_on(plan));
}

TEST_F(StepPlanTest, GoesOnAfterOrdinaryToolsOfAStructuredTurn) {
  const StepPlan plan = structured_step(Finish::ToolUse, {call("a", "nope")});
  EXPECT_EQ(control_of(plan), nullptr);
  EXPECT_TRUE(result_at(plan, 1).is_error);
  EXPECT_TRUE(goes_on(plan));
}

TEST_F(StepPlanTest, FailsWithTheThirdRejectionInTheSameTransaction) {
  const StepPlan plan = structured_step(Finish::ToolUse, {finalizer(R"({"output":"x"})")}, 2);
  EXPECT_EQ(plan.rows.size(), 2u);
  EXPECT_NE(control_of(plan), nullptr);
  const auto* failed = std::get_if<FailTurn>(&plan.then);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->receipt->error->code, structured::OutcomeCode::ValidationExhausted);
}

TEST_F(StepPlanTest, FailsAtOnceOnARefusalWhateverItCalled) {
  const StepPlan plan = structured_step(Finish::Refusal, {text("no"), finalizer()});
  EXPECT_EQ(control_of(plan), nullptr);
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_TRUE(call_at(plan, 1).rejected_arguments);
  const auto* failed = std::get_if<FailTurn>(&plan.then);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->receipt->error->code, structured::OutcomeCode::GenerationFailed);
  EXPECT_THAT(failed->receipt->error->message, HasSubstr("refused"));
}

TEST_F(StepPlanTest, LetsAnOrdinaryTurnUseTheReservedNameAsAnyOther) {
  const StepPlan plan = ordinary(Finish::ToolUse, {finalizer()});
  EXPECT_EQ(control_of(plan), nullptr);
  EXPECT_TRUE(result_at(plan, 1).is_error);
}

TEST_F(StepPlanTest, FailedGenerationsOweAReceiptOnlyWhereARequestGoverns) {
  ChatError error;
  error.message = "The provider\nis overloaded.";
  EXPECT_EQ(fail_generation(Generate{}, error).receipt, std::nullopt);
  const FailTurn failed = fail_generation(governed(), error);
  EXPECT_EQ(failed.receipt->error->code, structured::OutcomeCode::GenerationFailed);
  EXPECT_EQ(failed.receipt->error->message, "The provider is overloaded.");
  EXPECT_EQ(failed.error, error);
}

TEST_F(StepPlanTest, RefusesAnAnswerThatCouldNotBeReadBack) {
  const std::size_t overhead = encode_content({text("")}).size();
  const std::string longest(kStoredContentBytesMax - overhead, 'x');
  const StepPlan kept = ordinary(Finish::Complete, {text(longest)});
  EXPECT_TRUE(std::holds_alternative<EndTurn>(kept.then));
  EXPECT_EQ(kept.rows.size(), 1U);

  const StepPlan refused = ordinary(Finish::Complete, {text(longest + "x")});
  EXPECT_TRUE(std::holds_alternative<FailTurn>(refused.then));
  EXPECT_TRUE(refused.rows.empty());
  // Escaped, a control character takes six bytes.
  const StepPlan escaped = ordinary(Finish::Complete, {text(std::string(kStoredContentBytesMax / 6 + 1, '\1'))});
  EXPECT_TRUE(std::holds_alternative<FailTurn>(escaped.then));
}

TEST_F(StepPlanTest, EndsARequestWhoseAnswerCouldNotBeReadBack) {
  const StepPlan plan = structured_step(Finish::ToolUse, {text(std::string(kStoredContentBytesMax, 'x')), finalizer()});
  const auto* failure = std::get_if<FailTurn>(&plan.then);
  ASSERT_NE(failure, nullptr);
  ASSERT_TRUE(failure->receipt);
  EXPECT_EQ(failure->receipt->error->code, structured::OutcomeCode::GenerationFailed);
  EXPECT_TRUE(plan.rows.empty());
}

}  // namespace
}  // namespace assay::chat

#include "chat/turn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "structured/finalizer.h"
#include "structured/outcome.h"

namespace assay::chat {
namespace {

using ::testing::HasSubstr;

const RequestId kId = *RequestId::parse("11111111-1111-4111-8111-111111111111");
constexpr const char* kSchemaText = R"({"type":"integer"})";

ToolCallPart call(std::string id, std::string name = "t", bool provider_executed = false) {
  return {.id = std::move(id),
          .name = std::move(name),
          .arguments = "{}",
          .rejected_arguments = false,
          .provider_executed = provider_executed,
          .provider_state = ""};
}

class TurnTest : public ::testing::Test {
 protected:
  TurnTest() {
    chat.status = Status::Running;
    model.provider = "sim";
  }

  Message& add(Role role, Content content, Visibility visibility = Visibility::Both) {
    Message& message = history.emplace_back();
    message.id = static_cast<std::int64_t>(history.size());
    message.role = role;
    message.visibility = visibility;
    message.content = std::move(content);
    return message;
  }
  Message& add(const NewMessage& row) { return add(row.role, row.content, row.visibility); }
  void user() { add(Role::User, {TextPart{.text = "ask"}}); }
  void asks(std::string schema = kSchemaText) {
    add(Role::User, {TextPart{.text = "ask"},
                     structured::RequestPart{
                         .request_id = kId, .name = "n", .description = std::nullopt, .schema = std::move(schema)}});
  }
  void answer(std::string text = "x") { add(Role::Assistant, {TextPart{.text = std::move(text)}}); }
  void judged(structured::ControlKind kind, std::string value = "", bool answers_finalizer = false) {
    add(Role::Assistant, {structured::ControlPart{.request_id = kId,
                                                  .kind = kind,
                                                  .value = std::move(value),
                                                  .finish = structured::Finish::ToolUse,
                                                  .answers_finalizer = answers_finalizer}});
  }

  [[nodiscard]] TurnDecision decide() const {
    return decide_turn(TurnView{.chat = chat,
                                .history = history,
                                .tools = tools,
                                .tools_corruption = tools_corruption,
                                .model = model,
                                .strict_forced = strict_forced,
                                .steps_max = steps_max});
  }
  template <class Wanted>
  Wanted expect() const {
    TurnDecision decision = decide();
    EXPECT_TRUE(std::holds_alternative<Wanted>(decision)) << decision.index();
    return std::holds_alternative<Wanted>(decision) ? std::get<Wanted>(std::move(decision)) : Wanted{};
  }
  void expect_failed(structured::OutcomeCode code) const {
    const auto failed = expect<FailTurn>();
    ASSERT_TRUE(failed.receipt.has_value());
    EXPECT_EQ(failed.receipt->request_id, kId);
    EXPECT_EQ(failed.receipt->error->code, code);
    EXPECT_FALSE(failed.error.message.empty());
    EXPECT_EQ(failed.error.provider, "sim");
  }

  Chat chat;
  std::vector<Message> history;
  std::vector<ToolDefinition> tools;
  const structured::Corruption* tools_corruption = nullptr;
  ModelDescription model;
  bool strict_forced = false;
  std::int64_t steps_max = kStepsMax;
};

TEST_F(TurnTest, GeneratesForAUsersMessage) {
  user();
  EXPECT_EQ(expect<Generate>().governing, std::nullopt);
}

TEST_F(TurnTest, EndsWhereNothingIsAsked) {
  expect<EndTurn>();
  add(Role::System, {TextPart{.text = "s"}}, Visibility::Model);
  expect<EndTurn>();
}

TEST_F(TurnTest, EndsAfterAnAnswerWithoutOpenCalls) {
  user();
  answer();
  EXPECT_EQ(expect<EndTurn>().receipt, std::nullopt);
  add(receipt_row(structured::ended({}, structured::OutcomeCode::QueueDeleted)));
  expect<EndTurn>();
}

TEST_F(TurnTest, GoesOnAfterToolResultsAndCorrectiveRows) {
  user();
  add(Role::Assistant, {call("a")});
  add(result_row(call("a"), "r", false));
  expect<Generate>();
  answer();
  add(text_row(Role::User, Visibility::Model, "go on"));
  expect<Generate>();
}

TEST_F(TurnTest, GoesOnWhereTheProviderHasNotFinishedItsOwnCall) {
  user();
  add(Role::Assistant, {call("a", "search", true)});
  expect<Generate>();
  history.back().content.emplace_back(ToolResultPart{.call_id = "a",
                                                     .name = "search",
                                                     .result = "1",
                                                     .is_error = false,
                                                     .provider_executed = true,
                                                     .provider_state = ""});
  expect<EndTurn>();
}

TEST_F(TurnTest, AnswersCallsThatNobodyAnswersAnyMore) {
  tools = {ToolDefinition{.name = "known", .description = "", .parameters = "{}", .strict_off = false}};
  user();
  add(Role::Assistant, {call("a", "known"), call("b", "unknown"), call("c", "known")});
  add(result_row(call("c", "known"), "r", false));
  const auto answers = expect<AnswerCalls>();
  ASSERT_EQ(answers.rows.size(), 2u);
  EXPECT_THAT(std::get<ToolResultPart>(answers.rows[0].content[0]).result, HasSubstr("unknown"));
  EXPECT_THAT(std::get<ToolResultPart>(answers.rows[1].content[0]).result, HasSubstr("no tool"));
  for (const NewMessage& row : answers.rows) add(row);
  expect<Generate>();
}

TEST_F(TurnTest, WaitsForTheClientWhereOneOfItsCallsIsOpen) {
  tools = {ToolDefinition{.name = "local", .description = "", .parameters = "{}"},
           ToolDefinition{.name = "theirs", .description = "", .parameters = "{}", .client_executed = true}};
  user();
  add(Role::Assistant, {call("a", "theirs"), call("b", "local"), call("c", "nope"), call("d", "theirs")});
  add(result_row(call("d", "theirs"), "r", false));
  auto answers = expect<AnswerCalls>();
  EXPECT_TRUE(answers.awaits_client);
  ASSERT_EQ(answers.rows.size(), 2u) << "what nobody answers any more is answered in the same transaction";
  for (const NewMessage& row : answers.rows) add(row);
  answers = expect<AnswerCalls>();
  EXPECT_TRUE(answers.awaits_client);
  EXPECT_TRUE(answers.rows.empty());
  add(result_row(call("a", "theirs"), "r", false));
  expect<Generate>();
}

TEST_F(TurnTest, KeepsAStructuredRequestPendingOverTheClientsCalls) {
  tools = {ToolDefinition{.name = "theirs", .description = "", .parameters = "{}", .client_executed = true}};
  asks();
  add(Role::Assistant, {call("a", "theirs")});
  EXPECT_TRUE(expect<AnswerCalls>().awaits_client);
  add(result_row(call("a", "theirs"), "r", false));
  const auto generate = expect<Generate>();
  ASSERT_TRUE(generate.governing.has_value());
  EXPECT_EQ(generate.governing->request.request.request_id, kId);
  EXPECT_EQ(generate.governing->request.steps, 1);
  EXPECT_EQ(generate.governing->request.rejections, 0);
}

TEST_F(TurnTest, FailsClosedOnToolsThatCannotBeRead) {
  const structured::Corruption corruption{.what = "the tools cannot be read", .request_id = std::nullopt};
  tools_corruption = &corruption;
  user();
  EXPECT_THAT(expect<FailTurn>().error.message, HasSubstr("the tools cannot be read"));
  asks();
  expect_failed(structured::OutcomeCode::ConfigurationError);
}

TEST_F(TurnTest, CountsOrdinarySteps) {
  steps_max = 2;
  user();
  answer();
  user();
  for (int i = 0; i < 2; ++i) {
    expect<Generate>();
    add(Role::Assistant, {call("a")});
    add(result_row(call("a"), "r", false));
  }
  EXPECT_EQ(expect<FailTurn>().receipt, std::nullopt);
}

TEST_F(TurnTest, GovernsByTheLatestRequest) {
  asks();
  const auto generate = expect<Generate>();
  ASSERT_TRUE(generate.governing.has_value());
  EXPECT_EQ(generate.governing->request.request.request_id, kId);
  EXPECT_EQ(generate.governing->schema.text(), kSchemaText);
  answer();
  EXPECT_TRUE(expect<Generate>().governing.has_value()) << "text alone does not complete a structured request";
}

TEST_F(TurnTest, EndsWithTheCurrentCandidateWithoutAnotherCall) {
  asks();
  judged(structured::ControlKind::Candidate, "7");
  const auto end = expect<EndTurn>();
  EXPECT_EQ(end.receipt, structured::succeeded(kId, "7"));
}

TEST_F(TurnTest, NeverPublishesAnInvalidatedCandidate) {
  asks();
  judged(structured::ControlKind::Candidate, "7");
  judged(structured::ControlKind::Invalidation);
  history.back().visibility = Visibility::User;
  expect<Generate>();
}

TEST_F(TurnTest, ChecksAStoredCandidateOnceMore) {
  asks();
  judged(structured::ControlKind::Candidate, "\"no integer\"");
  expect_failed(structured::OutcomeCode::ConfigurationError);
}

TEST_F(TurnTest, EndsWithoutASecondReceiptWhereTheRequestIsClosed) {
  asks();
  add(receipt_row(structured::ended(kId, structured::OutcomeCode::NotProduced)));
  EXPECT_EQ(expect<EndTurn>().receipt, std::nullopt);
}

TEST_F(TurnTest, FailsWhereTheRepairsAreSpent) {
  asks();
  for (int i = 0; i < 3; ++i) {
    expect<Generate>();
    judged(structured::ControlKind::Rejection);
  }
  expect_failed(structured::OutcomeCode::NotProduced);
}

TEST_F(TurnTest, FailsAtTheStepLimitByWhatWasTried) {
  steps_max = 2;
  asks();
  judged(structured::ControlKind::Rejection, "", true);
  expect<Generate>();
  answer();
  expect_failed(structured::OutcomeCode::ValidationExhausted);
  history.clear();
  asks();
  answer();
  answer();
  expect_failed(structured::OutcomeCode::NotProduced);
}

TEST_F(TurnTest, ACandidateOfTheLastStepStillCounts) {
  steps_max = 1;
  asks();
  judged(structured::ControlKind::Candidate, "7");
  EXPECT_TRUE(expect<EndTurn>().receipt.has_value());
}

TEST_F(TurnTest, FailsWhereTheStoredSchemaIsNoLongerAccepted) {
  asks(R"({"$ref":"#"})");
  expect_failed(structured::OutcomeCode::ConfigurationError);
}

TEST_F(TurnTest, FailsWhereTheFinalizerCannotBeOffered) {
  asks();
  strict_forced = true;
  expect_failed(structured::OutcomeCode::ConfigurationError);
  strict_forced = false;
  tools = {ToolDefinition{
      .name = std::string(structured::kFinalizerName), .description = "", .parameters = "{}", .strict_off = false}};
  expect_failed(structured::OutcomeCode::ConfigurationError);
  history.clear();
  user();
  expect<Generate>();
}

TEST_F(TurnTest, FailsClosedOnCorruptControls) {
  asks();
  judged(structured::ControlKind::Candidate, "7");
  judged(structured::ControlKind::Candidate, "8");
  expect_failed(structured::OutcomeCode::ConfigurationError);
}

TEST_F(TurnTest, FailsClosedOnRowsThatCannotBeRead) {
  user();
  Message& old = add(Role::Assistant, {});
  old.corruption = structured::Corruption{.what = "bad", .request_id = std::nullopt};
  user();
  EXPECT_EQ(expect<FailTurn>().receipt, std::nullopt);
  add(Role::User, {}, Visibility::Model).compressed = true;
  user();
  expect<Generate>();
  history.resize(2);
  asks();
  expect_failed(structured::OutcomeCode::ConfigurationError);
}

TEST_F(TurnTest, FailsClosedOnARequestThatCannotBeRead) {
  add(Role::User, {}).corruption = structured::Corruption{.what = "bad", .request_id = kId};
  expect_failed(structured::OutcomeCode::ConfigurationError);
}

}  // namespace
}  // namespace assay::chat

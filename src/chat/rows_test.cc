#include "chat/rows.h"

#include <gtest/gtest.h>

#include "structured/outcome.h"

namespace assay::chat {
namespace {

ToolCallPart call(std::string id, bool provider_executed = false) {
  return {.id = std::move(id),
          .name = "t",
          .arguments = "{}",
          .rejected_arguments = false,
          .provider_executed = provider_executed,
          .provider_state = ""};
}

Message message(Role role, Content content, Visibility visibility = Visibility::Both) {
  Message row;
  row.role = role;
  row.visibility = visibility;
  row.content = std::move(content);
  return row;
}

Message result(const std::string& id) { return message(Role::Tool, result_row(call(id), "r", false).content); }

std::vector<std::string> ids(const std::vector<ToolCallPart>& calls) {
  std::vector<std::string> found;
  for (const ToolCallPart& part : calls) found.push_back(part.id);
  return found;
}

using Ids = std::vector<std::string>;

TEST(OutstandingCalls, AreThoseOfTheLastStepWithoutAResult) {
  const std::vector<Message> history{message(Role::Assistant, {call("a"), TextPart{.text = "x"}, call("b"), call("c")}),
                                     result("b")};
  EXPECT_EQ(ids(outstanding_calls(history)), (Ids{"a", "c"}));
  const std::vector<NewMessage> rows{result_row(call("a"), "r", true)};
  EXPECT_EQ(ids(outstanding_calls(history, rows)), (Ids{"c"}));
}

TEST(OutstandingCalls, LeaveOutWhatTheProviderExecuted) {
  const std::vector<Message> history{message(Role::Assistant, {call("a", true), call("b")})};
  EXPECT_EQ(ids(outstanding_calls(history)), (Ids{"b"}));
}

TEST(OutstandingCalls, ReuseOfAnIdBelongsToTheLaterStep) {
  const std::vector<Message> history{message(Role::Assistant, {call("a")}), result("a"),
                                     message(Role::Assistant, {call("a")})};
  EXPECT_EQ(ids(outstanding_calls(history)), (Ids{"a"}));
}

TEST(OutstandingCalls, DoNotComeFromRowsForClientsOrModelsAlone) {
  const std::vector<Message> history{message(Role::Assistant, {call("a")}, Visibility::User),
                                     message(Role::Assistant, {call("b")}, Visibility::Model)};
  EXPECT_TRUE(outstanding_calls(history).empty());
}

TEST(Rows, ResultsCarryTheTextAsJson) {
  const NewMessage row = result_row(call("a"), "say \"no\"", true);
  EXPECT_EQ(row.role, Role::Tool);
  EXPECT_EQ(row.visibility, Visibility::Both);
  const auto& part = std::get<ToolResultPart>(row.content.at(0));
  EXPECT_EQ(part.result, R"("say \"no\"")");
  EXPECT_EQ(part.call_id, "a");
  EXPECT_TRUE(part.is_error);
}

TEST(Rows, ReceiptsHaveTheExactShape) {
  const structured::OutcomePart outcome = structured::succeeded({}, "[1]");
  const NewMessage row = receipt_row(outcome);
  EXPECT_EQ(row.role, Role::Assistant);
  EXPECT_EQ(row.visibility, Visibility::User);
  EXPECT_TRUE(row.usage.empty());
  EXPECT_EQ(row.model_config, std::nullopt);
  EXPECT_EQ(row.content, (Content{TextPart{.text = "[1]"}, outcome}));
}

TEST(Rows, FindTheRequestOfAMessage) {
  const structured::RequestPart request{.request_id = {}, .name = "n", .description = std::nullopt, .schema = "{}"};
  const Content content{TextPart{.text = "x"}, request};
  ASSERT_NE(request_of(content), nullptr);
  EXPECT_EQ(*request_of(content), request);
  const Content plain{TextPart{.text = "x"}};
  EXPECT_EQ(request_of(plain), nullptr);
}

}  // namespace
}  // namespace assay::chat

#include "chat/prompt_assembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "structured/finalizer.h"
#include "structured/outcome.h"

namespace assay::chat {
namespace {

using ::testing::HasSubstr;

const ModelConfigId kModel = *ModelConfigId::parse("00000000-0000-4000-8000-000000000003");
const ModelConfigId kOtherModel = *ModelConfigId::parse("00000000-0000-4000-8000-000000000004");
const RequestId kId = *RequestId::parse("11111111-1111-4111-8111-111111111111");

ToolCallPart call(std::string id) {
  return {.id = std::move(id),
          .name = "t",
          .arguments = "{}",
          .rejected_arguments = false,
          .provider_executed = false,
          .provider_state = ""};
}

Message row(Role role, Content content, Visibility visibility = Visibility::Both) {
  Message message;
  message.role = role;
  message.visibility = visibility;
  message.content = std::move(content);
  message.model_config = kModel;
  return message;
}

Message user(std::string text) { return row(Role::User, {TextPart{.text = std::move(text)}}); }
Message answer(std::string text) { return row(Role::Assistant, {TextPart{.text = std::move(text)}}); }
Message result(const std::string& id) { return row(Role::Tool, result_row(call(id), "r", false).content); }

structured::RequestPart request() {
  return {.request_id = kId, .name = "report", .description = "What was found.", .schema = R"({"type":"object"})"};
}

TEST(PromptRows, LeaveOutWhatIsNotForModels) {
  Message boundary = row(Role::User, {TextPart{.text = "summary"}}, Visibility::Model);
  boundary.compressed = true;
  Message receipt = row(Role::Assistant, receipt_row(structured::succeeded(kId, "1")).content, Visibility::User);
  Message misplaced_receipt = receipt;
  misplaced_receipt.visibility = Visibility::Both;
  const std::vector<Message> history{
      row(Role::System, {TextPart{.text = "be brief"}}, Visibility::Model),
      user("old"),
      boundary,
      row(Role::User, {TextPart{.text = "ask"}, request()}),
      row(Role::Assistant, {structured::ControlPart{}}),
      row(Role::User, {TextPart{.text = "call the tool"}}, Visibility::Model),
      row(Role::User, {TextPart{.text = "notice"}}, Visibility::User),
      receipt,
      misplaced_receipt,
  };
  EXPECT_EQ(prompt_rows(history, kModel),
            (std::vector<PromptRow>{{.role = Role::User, .content = {TextPart{.text = "summary"}}},
                                    {.role = Role::User, .content = {TextPart{.text = "ask"}}},
                                    {.role = Role::User, .content = {TextPart{.text = "call the tool"}}}}));
}

TEST(PromptRows, ShowThatArgumentsWereNotKept) {
  ToolCallPart refused = call("a");
  refused.rejected_arguments = true;
  const auto rows = prompt_rows(std::vector{row(Role::Assistant, {refused}), result("a")}, kModel);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(std::get<ToolCallPart>(rows[0].content[0]).arguments, HasSubstr("not kept"));
}

TEST(PromptRows, GiveEveryCallItsResultBeforeTheNextRow) {
  const std::vector<Message> history{row(Role::Assistant, {call("a"), call("b")}), result("b"), user("next"),
                                     row(Role::Assistant, {call("c")})};
  const auto rows = prompt_rows(history, kModel);
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(std::get<ToolResultPart>(rows[1].content[0]).call_id, "a");
  EXPECT_TRUE(std::get<ToolResultPart>(rows[1].content[0]).is_error);
  EXPECT_EQ(std::get<ToolResultPart>(rows[2].content[0]).call_id, "b");
  EXPECT_EQ(rows[3].role, Role::User);
  EXPECT_EQ(std::get<ToolResultPart>(rows[5].content[0]).call_id, "c");
}

TEST(PromptRows, ShowResultsInTheOrderOfTheirCallsWhoeverAnsweredFirst) {
  const std::vector<Message> history{row(Role::Assistant, {call("a"), call("b"), call("c")}), result("c"), result("a"),
                                     result("b")};
  const auto rows = prompt_rows(history, kModel);
  ASSERT_EQ(rows.size(), 4u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(std::get<ToolResultPart>(rows[i + 1].content[0]).call_id, std::string(1, static_cast<char>('a' + i)));
  }
}

TEST(PromptRows, DropAResultWithoutItsCall) {
  const std::vector<Message> history{result("x"), row(Role::Assistant, {call("a")}), result("a"), result("a")};
  EXPECT_EQ(prompt_rows(history, kModel).size(), 2u);
}

TEST(PromptRows, ReplayProviderStateToItsOwnModelAlone) {
  ToolCallPart own_call = call("a");
  own_call.provider_state = "1";
  ToolCallPart provider_call = call("p");
  provider_call.provider_executed = true;
  ToolResultPart provider_result{
      .call_id = "p", .name = "t", .result = "1", .is_error = false, .provider_executed = true, .provider_state = "2"};
  const std::vector<Message> history{
      row(Role::Assistant,
          {TextPart{.text = "found", .provider_state = "5"}, ProviderItemPart{.provider_state = "6"},
           ReasoningPart{.text = "hm", .provider_state = "0"}, provider_call, provider_result, own_call, PausePart{}}),
      result("a")};
  const auto same = prompt_rows(history, kModel);
  EXPECT_EQ(
      same.at(0).content,
      (PromptContent{TextPart{.text = "found", .provider_state = "5"}, ProviderItemPart{.provider_state = "6"},
                     ReasoningPart{.text = "hm", .provider_state = "0"}, provider_call, provider_result, own_call}));
  const auto other = prompt_rows(history, kOtherModel);
  own_call.provider_state.clear();
  EXPECT_EQ(other.at(0).content,
            (PromptContent{TextPart{.text = "found"}, ReasoningPart{.text = "hm", .provider_state = ""}, own_call}));
}

TEST(PromptRows, SpellFileReferencesAsText) {
  const auto rows = prompt_rows(
      std::vector{
          row(Role::User, {FileReferencePart{.file_name = "a.cc", .start_line = 2, .end_line = 4, .content = "int x;"},
                           SourcePart{.id = "s", .url = "u", .title = ""}})},
      kModel);
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_EQ(rows[0].content.size(), 1u);
  EXPECT_EQ(std::get<TextPart>(rows[0].content[0]).text, "a.cc (lines 2 to 4):\nint x;");
}

class BuildPrompt : public ::testing::Test {
 protected:
  BuildPrompt() {
    model.id = kModel;
    history = {row(Role::System, {TextPart{.text = "be brief"}}, Visibility::Model), user("ask"), answer("x"),
               user("more")};
    tools = {ToolDefinition{.name = "t", .description = "d", .parameters = "{}", .strict_off = false}};
  }
  [[nodiscard]] Prompt build(const Generate& generate) const {
    return build_prompt(TurnView{.chat = chat, .history = history, .tools = tools, .model = model}, generate);
  }
  Chat chat;
  std::vector<Message> history;
  std::vector<ToolDefinition> tools;
  ModelDescription model;
};

TEST_F(BuildPrompt, KeepsAnOrdinaryTurnFreeOfStructuredOutput) {
  const Prompt prompt = build(Generate{});
  EXPECT_EQ(prompt.system, (std::vector<std::string>{"be brief"}));
  EXPECT_EQ(prompt.rows.size(), 3u);
  EXPECT_EQ(prompt.tools, tools);
  EXPECT_EQ(prompt.cache_key, chat.id.to_string());
}

TEST_F(BuildPrompt, AppendsTheFinalizerAndOneInstruction) {
  structured::ActiveRequest active;
  active.request = request();
  const Prompt prompt = build(
      Generate{.governing = Governing{.request = active, .schema = *schema::Schema::compile(active.request.schema)}});
  ASSERT_EQ(prompt.system.size(), 2u);
  EXPECT_EQ(prompt.system[1], structured::finalizer_instruction());
  ASSERT_EQ(prompt.tools.size(), 2u) << "appended, never in place of others";
  EXPECT_EQ(prompt.tools[0], tools[0]);
  EXPECT_EQ(prompt.tools[1].name, structured::kFinalizerName);
  EXPECT_EQ(prompt.tools[1].parameters, structured::finalizer_parameters(active.request.schema));
  EXPECT_EQ(prompt.tools[1].parameters_2020_12, structured::finalizer_parameters_2020_12(active.request.schema));
  EXPECT_TRUE(prompt.tools[1].strict_off);
  EXPECT_FALSE(prompt.tools[0].strict_off);
  EXPECT_THAT(prompt.tools[1].description, HasSubstr("What was found."));
}

}  // namespace
}  // namespace assay::chat

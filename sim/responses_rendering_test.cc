// The Responses wire, both ends over a real socket: providers' client against the simulator.
#include "sim/responses_rendering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "providers/client.h"
#include "sim/loopback_simulator.h"

namespace assay::sim {
namespace {

using structured::Finish;
using ::testing::HasSubstr;
using Outcome = Result<chat::GeneratedStep, providers::Failure>;

const char* const kWhole =
    R"({"reply":{"reasoning":"hmm hm","text":"h\u00e9llo","tool_calls":[{"name":"f","arguments":"{\"a\": 1.0}","id":"c"},{"name":"g","arguments":{}}]},)"
    R"("delivery":{"chunk_characters":2,"split_bytes":7,"comments":true}})";

net::Task<> generate_into(LoopbackSimulator& sim, chat::Prompt prompt, std::optional<Outcome>* outcome) {
  providers::ModelClient client(sim.http());
  providers::ProviderConfig provider;
  provider.name = "sim";
  provider.wire = providers::Wire::OpenAiResponses;
  provider.base_url = sim.url();
  providers::ModelSettings model;
  model.model = "assay-sim";
  providers::EventCallback ignore = [](const providers::Event&) {};
  *outcome = co_await client.generate(provider, std::move(model), std::move(prompt), std::move(ignore));
}

chat::PromptRow row(chat::Role role, chat::PromptContent content) {
  return chat::PromptRow{.role = role, .content = std::move(content)};
}
chat::PromptRow user(std::string text) { return row(chat::Role::User, {chat::TextPart{std::move(text)}}); }

Outcome generate(LoopbackSimulator& sim, std::vector<chat::PromptRow> rows = {user("hello")}) {
  chat::Prompt prompt;
  prompt.rows = std::move(rows);
  std::optional<Outcome> outcome;
  sim.loop().run(generate_into(sim, std::move(prompt), &outcome));
  return std::move(*outcome);
}
std::string rules(const std::string& rule) { return R"({"rules":[)" + rule + "]}"; }

TEST(ResponsesRendering, IsReadByTheClient) {
  LoopbackSimulator sim(rules(kWhole));
  const Outcome step = generate(sim);
  ASSERT_TRUE(step) << step.error().error.message;
  EXPECT_EQ(step->finish, Finish::ToolUse);
  ASSERT_EQ(step->parts.size(), 4U);
  EXPECT_EQ(std::get<chat::ReasoningPart>(step->parts[0]).text, "hmm hm");
  EXPECT_EQ(std::get<chat::TextPart>(step->parts[1]).text, "h\xC3\xA9llo");
  EXPECT_EQ(std::get<chat::GeneratedToolCall>(step->parts[2]).arguments, R"({"a": 1.0})");
  EXPECT_EQ(std::get<chat::GeneratedToolCall>(step->parts[2]).id, "c");
  EXPECT_EQ(std::get<chat::GeneratedToolCall>(step->parts[3]).name, "g");
  EXPECT_GT(step->usage.total_tokens, 0);
}

// The simulator refuses what the vendor refuses: reasoning that is not its own or leads nowhere, calls without results.
TEST(ResponsesRendering, TakesItsOwnItemsBack) {
  LoopbackSimulator sim(rules(kWhole));
  const Outcome step = generate(sim);
  ASSERT_TRUE(step);
  chat::PromptRow answer = row(chat::Role::Assistant, {});
  chat::PromptRow results = row(chat::Role::Tool, {});
  for (const chat::GeneratedPart& part : step->parts) {
    if (const auto* text = std::get_if<chat::TextPart>(&part)) answer.content.emplace_back(*text);
    if (const auto* reasoning = std::get_if<chat::ReasoningPart>(&part)) answer.content.emplace_back(*reasoning);
    const auto* made = std::get_if<chat::GeneratedToolCall>(&part);
    if (made == nullptr) continue;
    chat::ToolCallPart call;
    call.id = made->id;
    call.name = made->name;
    call.arguments = made->arguments;
    call.provider_state = made->provider_state;
    answer.content.emplace_back(std::move(call));
    chat::ToolResultPart result;
    result.call_id = made->id;
    result.result = "1";
    results.content.emplace_back(std::move(result));
  }
  const Outcome next = generate(sim, {user("hello"), answer, results});
  ASSERT_TRUE(next) << next.error().error.detail;
  EXPECT_THAT(sim.journal(), HasSubstr("encrypted_content"));
}

TEST(ResponsesRendering, RefusesWhatTheVendorRefuses) {
  LoopbackSimulator sim;
  const auto answer = [&](const std::string& input) {
    return sim.fetch("POST", "/v1/responses", R"({"model":"m","input":[)" + input + "]}").body;
  };
  const std::string call = R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"})";
  EXPECT_THAT(answer(""), HasSubstr("missing or empty"));
  EXPECT_THAT(answer(call), HasSubstr("No tool output found"));
  EXPECT_THAT(answer(R"({"type":"function_call_output","call_id":"c","output":"1"})"), HasSubstr("No tool call found"));
  EXPECT_THAT(answer(R"({"type":"reasoning","id":"rs","summary":[]})"), HasSubstr("not persisted"));
  const std::string reasoning = R"({"type":"reasoning","id":"rs","summary":[],"encrypted_content":"x"})";
  EXPECT_THAT(answer(reasoning), HasSubstr("required following item"));
  EXPECT_THAT(answer(reasoning + R"(,{"role":"user","content":"x"})"), HasSubstr("required following item"));
  EXPECT_THAT(answer(reasoning + "," + call + R"(,{"type":"function_call_output","call_id":"c","output":"1"})"),
              HasSubstr(R"("status":"completed")"));
}

struct EndCase {
  const char* name;
  const char* rule;
  Finish finish;
};
class ResponsesEnds : public ::testing::TestWithParam<EndCase> {};

TEST_P(ResponsesEnds, AreWhatTheScriptSays) {
  LoopbackSimulator sim(rules(GetParam().rule));
  const Outcome step = generate(sim);
  ASSERT_TRUE(step) << step.error().error.message;
  EXPECT_EQ(step->finish, GetParam().finish);
}
INSTANTIATE_TEST_SUITE_P(
    Reasons, ResponsesEnds,
    ::testing::Values(
        EndCase{"Text", R"({"reply":{"text":"a"}})", Finish::Complete},
        EndCase{"Length", R"({"reply":{"text":"a","finish_reason":"length"}})", Finish::Length},
        EndCase{"CutCall", R"({"reply":{"tool_calls":[{"name":"f","arguments":"{\"a"}],"finish_reason":"length"}})",
                Finish::Length},
        EndCase{"ContentFilter", R"({"reply":{"text":"a","finish_reason":"content_filter"}})", Finish::ContentFilter},
        EndCase{"Refusal", R"({"reply":{"text":"a","refusal":"no"}})", Finish::Refusal},
        EndCase{"Unknown", R"({"reply":{"text":"a","finish_reason":"eos"}})", Finish::Unknown}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(ResponsesRendering, LeavesTheTerminalEventOutWhereTheScriptDoes) {
  LoopbackSimulator sim(rules(R"({"reply":{"text":"a","finish_reason":null}})"));
  const Outcome step = generate(sim);
  ASSERT_FALSE(step);
  EXPECT_TRUE(step.error().retryable);
}

}  // namespace
}  // namespace assay::sim

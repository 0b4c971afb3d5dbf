// Messages: what the simulator answers, what it refuses, and that providers' client gets along with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "providers/client.h"
#include "sim/loopback_simulator.h"
#include "structured/finalizer.h"

namespace assay::sim {
namespace {

using structured::Finish;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string body(const std::string& messages, const std::string& more = "") {
  return R"({"model":"m","max_tokens":100,"messages":)" + messages + more + "}";
}
const std::string kHello = R"([{"role":"user","content":"hello"}])";

TEST(Messages, AreStreamedByNamedEvents) {
  LoopbackSimulator sim(
      R"({"rules":[{"reply":{"reasoning":"hm","text":"Hi","tool_calls":[{"id":"c","name":"f","arguments":"{\"a\":1}"}]}}]})");
  const std::string answer = sim.fetch("POST", "/v1/messages", body(kHello, R"(,"stream":true)")).body;
  EXPECT_THAT(answer,
              AllOf(HasSubstr("event: message_start\ndata: {\"type\":\"message_start\""), HasSubstr("event: ping\n"),
                    HasSubstr(R"("delta":{"type":"thinking_delta","thinking":"hm"})"),
                    HasSubstr(R"("delta":{"type":"signature_delta","signature":"sim-)"),
                    HasSubstr(R"("content_block":{"type":"tool_use","id":"c","name":"f","input":{}})"),
                    HasSubstr(R"("delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"})"),
                    HasSubstr(R"("stop_reason":"tool_use")")));
  EXPECT_THAT(answer, HasSubstr("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
  EXPECT_THAT(answer, Not(HasSubstr("DONE")));
}

TEST(Messages, ComeWholeToWhoAsksForNoStream) {
  LoopbackSimulator sim(R"({"rules":[{"reply":{"text":"Hi","finish_reason":"length","usage":{"prompt_tokens":7}}}]})");
  EXPECT_THAT(sim.fetch("POST", "/v1/messages", body(kHello)).body,
              AllOf(HasSubstr(R"("content":[{"type":"text","text":"Hi"}])"), HasSubstr(R"("stop_reason":"max_tokens")"),
                    HasSubstr(R"("usage":{"input_tokens":7,"output_tokens":0})")));
}

TEST(Messages, AreRefusedAsTheVendorRefusesThem) {
  LoopbackSimulator sim;
  const std::string call =
      R"([{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]})";
  const std::pair<std::string, const char*> cases[] = {
      {R"({"model":"m","messages":)" + kHello + "}", "max_tokens"},
      {body("[]"), "empty"},
      {body(R"([{"role":"assistant","content":"x"}])"), "first message"},
      {body(R"([{"role":"user","content":[{"type":"text","text":" "}]}])"), "blank"},
      {body(call + "]"), "no tool_result"},
      {body(call + R"(,{"role":"user","content":"x"}])"), "no tool_result"},
      {body(call + R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"}]}])"), "answers no"},
      {body(call +
            R"(,{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"a"}]}])"),
       "first"},
      {body(
           R"([{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"y"}]}])"),
       "signature"},
      {body(
           R"([{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"server_tool_use","id":"s"}]},{"role":"user","content":"v"}])"),
       "no result"},
      {body(kHello, R"(,"tools":[{"name":"f","input_schema":{}}])"), "type object"},
  };
  for (const auto& [request, part] : cases) {
    const auto response = sim.fetch("POST", "/v1/messages", request);
    EXPECT_EQ(response.head.status, 400) << request;
    EXPECT_THAT(response.body,
                AllOf(HasSubstr(R"({"type":"error","error":{)"), HasSubstr("invalid_request_error"), HasSubstr(part)));
  }
}

struct Call {
  std::optional<Result<chat::GeneratedStep, providers::Failure>> outcome;
};

net::Task<> generate_into(net::HttpClient& http, std::string url, chat::Prompt prompt, Call* call) {
  providers::ModelClient client(http);
  providers::ProviderConfig provider;
  provider.name = "sim";
  provider.wire = providers::Wire::Anthropic;
  provider.base_url = std::move(url);
  provider.key = providers::Secret("sk-hunter2");
  providers::ModelSettings model;
  model.model = "assay-sim";
  providers::EventCallback ignore = [](const providers::Event&) {};
  call->outcome = co_await client.generate(provider, std::move(model), std::move(prompt), std::move(ignore));
}

Call generate(LoopbackSimulator& sim, chat::Prompt prompt) {
  Call call;
  sim.loop().run(generate_into(sim.http(), sim.url(), std::move(prompt), &call));
  return call;
}

chat::Prompt asking() {
  chat::Prompt prompt;
  prompt.rows.push_back({.role = chat::Role::User, .content = {chat::TextPart{"hello"}}});
  return prompt;
}

TEST(Messages, BringAValueThatFitsToTheClient) {
  LoopbackSimulator sim;
  chat::Prompt prompt = asking();
  chat::ToolDefinition tool;
  tool.name = structured::kFinalizerName;
  tool.parameters = structured::finalizer_parameters(R"({"const":{"n":3}})");
  tool.strict_off = true;
  prompt.tools.push_back(tool);
  const Call call = generate(sim, std::move(prompt));
  ASSERT_TRUE(call.outcome->has_value()) << call.outcome->error().error.message;
  EXPECT_EQ((*call.outcome)->finish, Finish::ToolUse);
  EXPECT_EQ(std::get<chat::GeneratedToolCall>((*call.outcome)->parts.at(0)).arguments, R"({"output":{"n":3}})");
  EXPECT_THAT(sim.journal(), AllOf(HasSubstr(R"x("x-api-key":"(10 bytes)")x"), Not(HasSubstr("hunter2")),
                                   HasSubstr(R"("anthropic-version":"2026-10-21")"), Not(HasSubstr("strict"))));
}

// The simulator refuses thinking that was altered: its answer to the second call is the proof.
TEST(Messages, TakeBackWhatTheyGave) {
  LoopbackSimulator sim(
      R"({"rules":[{"times":1,"reply":{"reasoning":"first\nthought \"é\"","redacted_reasoning":"eA==",)"
      R"("searches":[{"query":"q","results":{"https://x.example":"X"}}],"tool_calls":[{"name":"f","arguments":"{}"}]},)"
      R"("delivery":{"chunk_characters":3,"split_bytes":5}},{"when":{"has_tool_result":true},"reply":{"text":"done"}}]})");
  chat::Prompt prompt = asking();
  const Call first = generate(sim, prompt);
  ASSERT_TRUE(first.outcome->has_value()) << first.outcome->error().error.message;
  chat::PromptRow answer{.role = chat::Role::Assistant, .content = {}};
  std::string id;
  for (const chat::GeneratedPart& part : (*first.outcome)->parts) {
    if (const auto* thought = std::get_if<chat::ReasoningPart>(&part)) answer.content.emplace_back(*thought);
    if (const auto* item = std::get_if<chat::ProviderItemPart>(&part)) answer.content.emplace_back(*item);
    if (const auto* result = std::get_if<chat::ToolResultPart>(&part)) answer.content.emplace_back(*result);
    const auto* call = std::get_if<chat::GeneratedToolCall>(&part);
    if (call == nullptr) continue;
    if (!call->provider_executed) id = call->id;
    answer.content.emplace_back(chat::ToolCallPart{.id = call->id,
                                                   .name = call->name,
                                                   .arguments = call->arguments,
                                                   .rejected_arguments = false,
                                                   .provider_executed = call->provider_executed,
                                                   .provider_state = call->provider_state});
  }
  EXPECT_EQ(answer.content.size(), 5U);
  prompt.rows.push_back(answer);
  chat::ToolResultPart result;
  result.call_id = id;
  result.result = "1";
  prompt.rows.push_back({.role = chat::Role::Tool, .content = {result}});
  const Call second = generate(sim, prompt);
  ASSERT_TRUE(second.outcome->has_value()) << second.outcome->error().error.message;
  EXPECT_EQ((*second.outcome)->parts.at(0), chat::GeneratedPart(chat::TextPart{"done"}));
  const std::string journal = sim.journal();
  for (const char* type : {"redacted_thinking", "server_tool_use", "web_search_tool_result"}) {
    EXPECT_THAT(journal, HasSubstr(std::string(R"({"type":")") + type)) << type;
  }
  std::get<chat::ReasoningPart>(prompt.rows[1].content[0]).text += "!";
  const Call altered = generate(sim, prompt);
  ASSERT_FALSE(altered.outcome->has_value());
  EXPECT_EQ(altered.outcome->error().error.status_code, 400);
}

}  // namespace
}  // namespace assay::sim

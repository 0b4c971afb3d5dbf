// What must hold on every wire, from the socket to the receipt: real processes, real bytes, a real database.
#include <gmock/gmock.h>

#include "tests/harness/deployment.h"
#include "tests/harness/script.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

struct WireCase {
  const char* name;
  const char* setting;      // `wire` in the configuration
  const char* tool_result;  // how a request says that it brings one
  const char* error_event;  // an error inside a stream
};
void PrintTo(const WireCase& wire, std::ostream* out) { *out << wire.name; }

class WireScenario : public testing::TestWithParam<WireCase> {
 protected:
  static ChildProcess::Environment environment() {
    return {{"ASSAY_PROVIDER_WIRE", GetParam().setting}, {"ASSAY_ATTEMPTS_MAX", "2"}};
  }
  // The code of the receipt that the one rule leads to, after so many model calls.
  static std::string code_after(const std::string& rule, std::size_t calls) {
    Deployment deployment(script({rule}), environment());
    const std::string receipt = deployment.ask("go", json_schema_format(kProjectSchema));
    EXPECT_EQ(deployment.simulator().request_bodies().size(), calls);
    EXPECT_THAT(receipt, Not(HasSubstr("provider-body-text")));
    return code_of(receipt);
  }
};

INSTANTIATE_TEST_SUITE_P(
    Wires, WireScenario,
    testing::Values(WireCase{"OpenAiChat", "openai_chat", R"("role":"tool")",
                             R"("{\"error\":{\"message\":\"provider-body-text\",\"code\":500}}")"},
                    WireCase{"OpenAiResponses", "openai_responses", R"("type":"function_call_output")",
                             R"({"type":"error","code":"server_error","message":"provider-body-text"})"},
                    WireCase{"Anthropic", "anthropic", R"("type":"tool_result")",
                             R"({"type":"error","error":{"type":"overloaded_error","message":"provider-body-text"}})"}),
    [](const auto& tested) { return tested.param.name; });

TEST_P(WireScenario, BringsAValueAsItWasSubmitted) {
  const std::string value = R"({"b":[10.00,1e25,-0,9007199254740993],"a":"\u00e9"})";
  Deployment deployment(script({finalizer_rule("{ \"output\" : " + value + "}")}), environment());
  const std::string schema = R"({"type":"object","properties":{"b":{"items":{"maximum":1e30}}}})";
  EXPECT_EQ(value_of(deployment.ask("go", json_schema_format(schema))), value);
  EXPECT_THAT(deployment.simulator().request_bodies().at(0), HasSubstr(R"("output":)" + schema));
}

TEST_P(WireScenario, GoesOnAfterToolsAndThinking) {
  Deployment deployment(
      script({once(R"({"reply":{"reasoning":"look it up","tool_calls":[{"name":"lookup","arguments":{"q":1}}]}})"),
              R"({"when":{"has_tool_result":true},"reply":{"fits_schema":true}})"}),
      environment());
  EXPECT_THAT(deployment.ask("go", json_schema_format(kProjectSchema)), HasSubstr("succeeded"));
  EXPECT_THAT(deployment.simulator().request_bodies().at(1), HasSubstr(GetParam().tool_result));
}

TEST_P(WireScenario, RepairsAnInvalidValue) {
  Deployment deployment(script({once(finalizer_rule(R"({"output":{"command":7}})")),
                                once(finalizer_rule(R"({"output":{"command":"a","command":"b"}})")),
                                finalizer_rule(R"({"output":{"command":"fixed"}})")}),
                        environment());
  EXPECT_EQ(value_of(deployment.ask("go", json_schema_format(kProjectSchema))), R"({"command":"fixed"})");
  EXPECT_THAT(deployment.simulator().request_bodies().at(1), HasSubstr("/command"))
      << "the model is told which path broke a rule";
}

TEST_P(WireScenario, FailsOnARefusalEvenBehindAFullCall) {
  const std::string refusal = R"(,"refusal":"provider-body-text")";
  EXPECT_EQ(code_after(finalizer_rule(R"({"output":{"command":"x"}})", refusal), 1), "generation_failed");
}

TEST_P(WireScenario, TakesATruncatedCallForNoValueThoughItParses) {
  Deployment deployment(script({once(finalizer_rule(R"({"output":{"command":"cut"}})", R"(,"finish_reason":"length")")),
                                finalizer_rule(R"({"output":{"command":"whole"}})")}),
                        environment());
  EXPECT_EQ(value_of(deployment.ask("go", json_schema_format(kProjectSchema))), R"({"command":"whole"})");
  const std::string second = deployment.simulator().request_bodies().at(1);
  EXPECT_THAT(second, HasSubstr("must be shorter"));
  for (const char* spelling : {R"(:"cut")", R"(:\"cut\")"}) EXPECT_THAT(second, Not(HasSubstr(spelling)));
}

TEST_P(WireScenario, FailsOnAnEndThatNobodyKnows) {
  EXPECT_EQ(code_after(finalizer_rule(R"({"output":{"command":"x"}})", R"(,"finish_reason":"perhaps")"), 3),
            "validation_exhausted");
}

TEST_P(WireScenario, GivesUpOnASilentStream) {
  const Deployment::Config config(R"(
attempts_max = 1
[[provider]]
name = "sim"
url = "PROVIDER_URL"
idle_timeout_ms = 200
wire = ")" + std::string(GetParam().setting) +
                                  "\"\n");
  Deployment deployment(
      config,
      script({R"({"reply":{"text":"thinking about it"},"delivery":{"chunk_characters":4,"stall_after_bytes":300}})"}));
  EXPECT_EQ(code_of(deployment.ask("go", json_schema_format(kProjectSchema))), "generation_failed");
}

TEST_P(WireScenario, RetriesAfterARateLimitAndTellsTheClient) {
  Deployment deployment(script({R"({"times":1,"http":{"status":429,"body":{"error":{"message":"slow"}}},)"
                                R"("delivery":{"headers":{"retry-after-ms":"1500"}}})",
                                finalizer_rule(R"({"output":{"command":"x"}})")}),
                        environment());
  const std::string chat = deployment.create_chat("go", json_schema_format(kProjectSchema));
  bool saw_retry = false;
  EXPECT_TRUE(deployment.http().follow("/api/v2/chats/" + chat + "/stream", [&](const std::string& data) {
    saw_retry = saw_retry || data.find(R"("type":"retry")") != std::string::npos;
    return data.find(R"("status":"waiting")") == std::string::npos;
  }));
  EXPECT_TRUE(saw_retry);
  EXPECT_EQ(value_of(deployment.receipt(chat)), R"({"command":"x"})");
}

TEST_P(WireScenario, FailsOnGarbageBeyondItsAttempts) {
  EXPECT_EQ(code_after(R"({"body":"provider-body-text <html>"})", 2), "generation_failed");
}

TEST_P(WireScenario, FailsOnErrorsInsideTheStream) {
  EXPECT_EQ(code_after(R"({"events":[)" + std::string(GetParam().error_event) + "]}", 2), "generation_failed");
}

TEST_P(WireScenario, FailsOnAnAnswerThatIsCutInsideItsArguments) {
  std::string rule = finalizer_rule(R"({"output":{"command":"provider-body-text"}})");
  rule.pop_back();
  EXPECT_EQ(code_after(rule + R"(,"delivery":{"chunk_characters":1,"cut_after_bytes":1500}})", 2), "generation_failed");
}

// What only this wire has: the simulator refuses thinking that comes back altered.
TEST(AnthropicTurn, ShowsStoresAndSendsBackWhatTheProviderDid) {
  Deployment deployment(
      script({once(R"({"reply":{"reasoning":"search first","redacted_reasoning":"b3BhcXVl","text":"Found it.",)"
                   R"("searches":[{"query":"test command","results":{"https://docs.example/":"Docs"}}],)"
                   R"("tool_calls":[{"name":"lookup","arguments":{}}]}})"),
              R"({"when":{"has_tool_result":true},"reply":{"fits_schema":true}})"}),
      {{"ASSAY_PROVIDER_WIRE", "anthropic"}});
  const std::string chat = deployment.create_chat("go", json_schema_format(kProjectSchema));
  ASSERT_TRUE(deployment.await_end(chat));
  EXPECT_THAT(deployment.receipt(chat), HasSubstr("succeeded"));
  const std::string second = deployment.simulator().request_bodies().at(1);
  for (const char* sent : {R"({"type":"thinking","thinking":"search first","signature":"sim-)",
                           R"({"type":"redacted_thinking","data":"b3BhcXVl"})", R"("type":"server_tool_use")",
                           R"("type":"web_search_tool_result")", R"("cache_control":{"type":"ephemeral"})"}) {
    EXPECT_THAT(second, HasSubstr(sent));
  }
  const std::string page(deployment.messages(chat).text());
  for (const char* shown : {R"("text":"search first")", R"("tool_name":"web_search")", R"("provider_executed":true)",
                            R"("url":"https://docs.example/")", R"("title":"Docs")"}) {
    EXPECT_THAT(page, HasSubstr(shown));
  }
  for (const char* hidden : {"signature", "b3BhcXVl", "provider_state", "provider-item"}) {
    EXPECT_THAT(page, Not(HasSubstr(hidden)));
  }
}

}  // namespace
}  // namespace assay::tests

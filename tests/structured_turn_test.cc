// Structured turns from the socket to the receipt: real processes, the real wire, a real database.
#include <gmock/gmock.h>

#include "tests/harness/deployment.h"
#include "tests/harness/script.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

struct ValueCase {
  const char* name;
  const char* schema;
  const char* output;
};

class StructuredValue : public testing::TestWithParam<ValueCase> {};

TEST_P(StructuredValue, ArrivesAsItWasSubmitted) {
  const ValueCase& value = GetParam();
  Deployment deployment(script({finalizer_rule(std::string("{ \"output\" : ") + value.output + "}")}));
  const std::string receipt = deployment.ask("go", json_schema_format(value.schema));
  EXPECT_THAT(receipt, HasSubstr(R"("status":"succeeded")"));
  EXPECT_THAT(receipt, HasSubstr(std::string(R"("value":)") + value.output));
}

INSTANTIATE_TEST_SUITE_P(
    Values, StructuredValue,
    testing::Values(ValueCase{"Object", kProjectSchema, R"({"command":"make test"})"},
                    ValueCase{"Array", R"({"type":"array","items":{"type":"integer"}})", "[1,2,3]"},
                    ValueCase{"NullableUnion", R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "null"},
                    ValueCase{"Null", R"({"type":"null"})", "null"},
                    ValueCase{"BigInteger", R"({"type":"object"})",
                              R"({"id":2512292042121000001,"near":9007199254740993})"},
                    ValueCase{"NumberSpelling", "{}", "[10.00,1e25,1E2,-0,0.10]"},
                    ValueCase{"KeyOrderAndEscapes", "{}", R"({"b":"\u00e9\/","a":"é"})"}),
    [](const auto& tested) { return tested.param.name; });

TEST(StructuredTurn, ShowsTheRequestIdOnTheMessageThatAsked) {
  Deployment deployment(script({finalizer_rule(R"({"output":{"command":"x"}})")}));
  const std::string chat = deployment.create_chat("go", json_schema_format(kProjectSchema));
  ASSERT_TRUE(deployment.await_end(chat));
  const std::string receipt = deployment.receipt(chat);
  const json::Document page = deployment.messages(chat);
  std::string asked;
  for (const json::Value message : page.root().find("messages")->elements()) {
    if (text(message, "role") == "user") asked = text(message, "structured_output_request_id");
  }
  EXPECT_EQ(asked.size(), 36U);
  EXPECT_THAT(receipt, HasSubstr(asked));
  EXPECT_THAT(std::string(page.text()), Not(HasSubstr("structured-output-")))
      << "internal parts never leave the server";
}

TEST(StructuredTurn, OffersTheSchemaAsWrittenAndNotStrict) {
  Deployment deployment(script({finalizer_rule(R"({"output":{"n":12345678901234567890.10}})")}));
  const std::string schema =
      R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"n":{"maximum":1e30,"default":1.50}}})";
  EXPECT_EQ(value_of(deployment.ask("go", json_schema_format(schema))), R"({"n":12345678901234567890.10})");
  const std::string body = deployment.simulator().request_bodies().at(0);
  EXPECT_THAT(body, HasSubstr(R"("output":{"type":"object","properties":{"n":{"maximum":1e30,"default":1.50}}})"));
  EXPECT_THAT(body, HasSubstr(R"("strict":false)"));
  EXPECT_THAT(body, Not(HasSubstr("response_format")));
}

struct RejectionCase {
  const char* name;
  std::string rule;
};

class ExhaustedRepairs : public testing::TestWithParam<RejectionCase> {};

TEST_P(ExhaustedRepairs, FailAfterTheThirdRejection) {
  Deployment deployment(script({GetParam().rule}));
  EXPECT_EQ(code_of(deployment.ask("go", json_schema_format(kProjectSchema))), "validation_exhausted");
  EXPECT_EQ(deployment.simulator().request_bodies().size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ExhaustedRepairs,
    testing::Values(
        RejectionCase{"InvalidValue", finalizer_rule(R"({"output":{}})")},
        RejectionCase{"NoJson", finalizer_rule("certainly! {")},
        RejectionCase{"NoEnvelope", finalizer_rule(R"({"command":"x"})")},
        RejectionCase{"SecondMember", finalizer_rule(R"({"output":{"command":"x"},"note":1})")},
        RejectionCase{"DuplicateKey", finalizer_rule(R"({"output":{"command":"x","command":"y"}})")},
        RejectionCase{"HugeExponent", finalizer_rule(R"({"output":{"command":1e99999}})")},
        RejectionCase{"NulCharacter", finalizer_rule(R"({"output":{"command":"\u0000"}})")},
        RejectionCase{"LoneSurrogate", finalizer_rule(R"({"output":{"command":"\ud800"}})")},
        RejectionCase{"Oversized", finalizer_rule(R"({"output":{"command":")" + std::string(90'000, 'x') + R"("}})")},
        RejectionCase{"Truncated", finalizer_rule(R"({"output":{"command":"x"}})", R"(,"finish_reason":"length")")},
        RejectionCase{
            "TwoFinalizers",
            R"({"reply":{"tool_calls":[{"name":"coder_structured_output","arguments":{"output":{"command":"a"}}},)"
            R"({"name":"coder_structured_output","arguments":{"output":{"command":"b"}}}]}})"},
        RejectionCase{
            "BesideAnotherCall",
            R"({"reply":{"tool_calls":[{"name":"coder_structured_output","arguments":{"output":{"command":"a"}}},)"
            R"({"name":"lookup","arguments":{}}]}})"}),
    [](const auto& tested) { return tested.param.name; });

TEST(StructuredTurn, FailsAsNotProducedWhenTheModelOnlyTalks) {
  Deployment deployment(script({R"({"reply":{"text":"It is make test."}})"}));
  EXPECT_EQ(code_of(deployment.ask("go", json_schema_format(kProjectSchema))), "not_produced");
  EXPECT_EQ(deployment.simulator().request_bodies().size(), 3U);
}

struct EndCase {
  const char* name;
  const char* rule;
  std::size_t calls;
};

class FailedGeneration : public testing::TestWithParam<EndCase> {};

TEST_P(FailedGeneration, EndsInOneFailedReceipt) {
  Deployment deployment(script({GetParam().rule}), {{"ASSAY_ATTEMPTS_MAX", "2"}});
  const std::string receipt = deployment.ask("go", json_schema_format(kProjectSchema));
  EXPECT_EQ(code_of(receipt), "generation_failed") << receipt;
  EXPECT_THAT(receipt, Not(HasSubstr("provider-body-text")));
  EXPECT_EQ(deployment.simulator().request_bodies().size(), GetParam().calls);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, FailedGeneration,
    testing::Values(
        EndCase{"Refusal", R"({"reply":{"refusal":"I will not."}})", 1},
        EndCase{"ContentFilter", R"({"reply":{"text":"a","finish_reason":"content_filter"}})", 1},
        EndCase{
            "SchemaRefusedByTheProvider",
            R"({"http":{"status":400,"body":{"error":{"message":"provider-body-text","type":"invalid_request_error"}}}})",
            1},
        EndCase{"BadKey", R"({"http":{"status":401,"body":{"error":{"message":"provider-body-text"}}}})", 1},
        EndCase{
            "QuotaIsFinal",
            R"({"http":{"status":429,"body":{"error":{"message":"provider-body-text","code":"insufficient_quota"}}}})",
            1},
        EndCase{"ServerErrorsBeyondTheBudget", R"({"http":{"status":500,"body":"provider-body-text"}})", 2},
        EndCase{
            "NoTerminalSignal",
            R"({"events":["{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}"],"delivery":{"done":false}})",
            2}),
    [](const auto& tested) { return tested.param.name; });

TEST(StructuredTurn, EndsAtTheStepBudget) {
  Deployment deployment(script({R"({"reply":{"tool_calls":[{"name":"lookup","arguments":{}}]}})"}),
                        {{"ASSAY_STEPS_MAX", "4"}});
  EXPECT_EQ(code_of(deployment.ask("go", json_schema_format(kProjectSchema))), "not_produced");
  EXPECT_EQ(deployment.simulator().request_bodies().size(), 4U);
}

TEST(StructuredTurn, OldSchemaDoesNotGovernTheNextOrdinaryMessage) {
  Deployment deployment(script({R"({"when":{"has_tool":"coder_structured_output"},"reply":{"fits_schema":true}})",
                                R"({"reply":{"text":"plain"}})"}));
  const std::string chat = deployment.create_chat("go", json_schema_format(kProjectSchema));
  ASSERT_TRUE(deployment.await_end(chat));
  EXPECT_THAT(deployment.receipt(chat), HasSubstr("succeeded"));
  const Reply sent = deployment.http().post("/api/v2/chats/" + chat + "/messages",
                                            R"({"content":[{"type":"text","text":"and now?"}]})");
  ASSERT_EQ(sent.status, 200) << sent.body;
  ASSERT_TRUE(deployment.await_end(chat));
  EXPECT_THAT(std::string(deployment.messages(chat).text()), HasSubstr("plain"));
  EXPECT_THAT(deployment.simulator().request_bodies().back(), Not(HasSubstr(R"("tools":)")));
  EXPECT_THAT(deployment.receipt(chat), HasSubstr("succeeded"));
}

TEST(StructuredTurn, PrintsNoSecretAnywhere) {
  Deployment deployment(
      script({R"({"http":{"status":401,"body":{"error":{"message":"key sk-test-key-that-nobody-may-see is bad"}}}})"}));
  const std::string chat = deployment.create_chat("go", json_schema_format(kProjectSchema));
  ASSERT_TRUE(deployment.await_end(chat));
  const std::string receipt = deployment.receipt(chat);
  const std::string seen = receipt + std::string(deployment.messages(chat).text()) +
                           deployment.http().get("/api/v2/chats/" + chat).body + deployment.http().get("/metrics").body;
  EXPECT_EQ(deployment.server().stop(), 0);
  for (const std::string& text : {seen, deployment.log()}) {
    EXPECT_THAT(text, Not(HasSubstr("sk-test-key")));
    EXPECT_THAT(text, Not(HasSubstr(deployment.token())));
  }
}

TEST(OrdinaryTurn, AnswersInTextAndKeepsUsage) {
  Deployment deployment(script(
      {R"({"reply":{"text":"Hello there.","usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}})"}));
  const std::string chat = deployment.create_chat("hi");
  ASSERT_TRUE(deployment.await_end(chat));
  const std::string page(deployment.messages(chat).text());
  EXPECT_THAT(page, HasSubstr("Hello there."));
  EXPECT_THAT(page, HasSubstr(R"("output_tokens":3)"));
  EXPECT_THAT(page, Not(HasSubstr("structured_output")));
}

}  // namespace
}  // namespace assay::tests

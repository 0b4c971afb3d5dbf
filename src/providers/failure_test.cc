#include "providers/failure.h"

#include <gtest/gtest.h>

#include <vector>

#include "json/limits.h"

namespace assay::providers {
namespace {

// Sun, 06 Nov 1994 08:49:37 GMT
constexpr WallTime kNow{std::chrono::seconds(784111777)};

Failure respond(int status, std::string_view body = "", const std::vector<Header>& headers = {}) {
  return failure_from_response("p", status, headers, body, kNow);
}

Failure from_error(std::string text) {
  const auto document = json::Document::parse(std::move(text), json::kEnvelopeCaps, json::Dialect::Lenient);
  return failure_from_error_value("p", document->root());
}

struct Case {
  const char* name;
  int status;
  const char* body;
  const char* kind;
  bool retryable;
  bool context_overflow = false;
  const char* detail = nullptr;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Classification : public ::testing::TestWithParam<Case> {};

TEST_P(Classification, SortsTheAnswer) {
  const Case& c = GetParam();
  const Failure failure = respond(c.status, c.body);
  EXPECT_EQ(failure.error.kind, c.kind);
  EXPECT_EQ(failure.retryable, c.retryable);
  EXPECT_EQ(failure.error.retryable, c.retryable);
  EXPECT_EQ(failure.context_overflow, c.context_overflow);
  EXPECT_EQ(failure.error.status_code, c.status);
  EXPECT_EQ(failure.error.provider, "p");
  if (c.detail != nullptr) EXPECT_EQ(failure.error.detail, c.detail);
}

INSTANTIATE_TEST_SUITE_P(
    Answers, Classification,
    ::testing::Values(
        Case{"bad_request", 400,
             R"({"error":{"message":"no","type":"invalid_request_error","param":null,"code":null}})", "config", false,
             false, "HTTP 400, invalid_request_error"},
        Case{"openai_overflow", 400,
             R"({"error":{"message":"x","type":"invalid_request_error","code":"context_length_exceeded"}})", "config",
             false, true, "HTTP 400, context_length_exceeded"},
        Case{
            "vllm_overflow", 400,
            R"({"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000","type":"BadRequestError","code":400})",
            "config", false, true, "HTTP 400, badrequesterror"},
        Case{
            "llama_overflow", 400,
            R"({"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":8}})",
            "config", false, true},
        Case{"old_llama_overflow", 500,
             R"({"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}})", "config",
             false, true},
        Case{
            "anthropic_overflow", 400,
            R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"},"request_id":"r"})",
            "config", false, true},
        Case{"ollama_overflow", 500, R"({"error":"no user query found in messages"})", "config", false, true},
        Case{
            "schema", 400,
            R"({"error":{"message":"Invalid schema for function","type":"invalid_request_error","code":"invalid_function_parameters"}})",
            "config", false, false, "HTTP 400, invalid_function_parameters"},
        Case{
            "grammar", 400,
            R"({"error":{"code":400,"message":"Failed to initialize samplers: failed to parse grammar","type":"invalid_request_error"}})",
            "config", false},
        Case{"key", 401, R"({"error":{"message":"Incorrect API key provided: sk-abc","code":"invalid_api_key"}})",
             "auth", false, false, "HTTP 401, invalid_api_key"},
        Case{"forbidden", 403, "<html>no</html>", "auth", false},
        Case{"credit", 402, R"({"error":{"code":402,"message":"Insufficient credits"}})", "usage_limit", false},
        Case{"model", 404, R"({"error":{"message":"The model `x` does not exist","code":"model_not_found"}})", "config",
             false},
        Case{"timeout", 408, "", "timeout", true}, Case{"conflict", 409, "", "generic", true},
        Case{"large", 413, "<html>413</html>", "config", false, false, "HTTP 413"},
        Case{"unprocessable", 422, R"({"detail":[{"loc":["body"],"msg":"bad"}]})", "config", false},
        Case{"rate", 429, R"({"error":{"message":"slow","type":"rate_limit_error"}})", "rate_limit", true, false,
             "HTTP 429, rate_limit_error"},
        Case{"rate_about_the_context", 429, R"({"error":{"message":"Too many requests for this context window"}})",
             "rate_limit", true},
        Case{
            "quota", 429,
            R"({"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}})",
            "usage_limit", false, false, "HTTP 429, insufficient_quota"},
        Case{
            "spend", 429,
            R"({"type":"error","error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}})",
            "usage_limit", false},
        Case{"server", 500, "", "generic", true, false, "HTTP 500"}, Case{"gateway", 502, "<html>", "timeout", true},
        Case{"loading", 503, R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})",
             "timeout", true},
        Case{"gateway_timeout", 504, "", "timeout", true},
        Case{"overloaded", 529, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
             "overloaded", true},
        Case{"filter", 400, R"({"error":{"message":"x","code":"content_filter"}})", "content_filter", false},
        Case{"redirect", 301, "", "config", false},
        Case{"google", 400, R"([{"error":{"code":400,"message":"bad"}}])", "config", false},
        Case{"cut_json", 500, R"({"error":{"message":"x)", "generic", true}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Failure, TellsSilenceFromUnavailability) {
  EXPECT_EQ(respond(504).error.message, "The model provider did not answer in time.");
  EXPECT_EQ(respond(503).error.message, "The model provider is not available at the moment.");
}

TEST(Failure, TellsNothingThatTheProviderSaid) {
  const Failure failure = respond(
      401,
      R"({"error":{"message":"Incorrect API key sk-hunter2","type":"hunter2","code":"hunter2"},"detail":"hunter2"})");
  EXPECT_EQ(failure.error.message.find("hunter2"), std::string::npos);
  EXPECT_EQ(failure.error.detail, "HTTP 401");
}

TEST(Failure, ReadsTheErrorInsideAGoodAnswer) {
  EXPECT_EQ(from_error(R"({"code":429,"message":"slow down"})").error.kind, "rate_limit");
  EXPECT_EQ(from_error(R"({"code":"rate_limit_exceeded"})").error.kind, "rate_limit");
  EXPECT_EQ(from_error(R"({"type":"overloaded_error","message":"Overloaded"})").error.kind, "overloaded");
  EXPECT_EQ(from_error(R"({"code":502,"message":"Upstream"})").error.kind, "timeout");
  EXPECT_TRUE(from_error(R"("Internal error")").retryable);
  EXPECT_FALSE(from_error(R"({"message":"Invalid API key"})").retryable);
  EXPECT_FALSE(from_error(R"({"code":400,"message":"bad"})").retryable);
  EXPECT_TRUE(from_error(R"({"code":null,"message":"?"})").retryable)
      << "no reason known: the next attempt may succeed";
  EXPECT_TRUE(from_error(R"({"message":"maximum context length is 5"})").context_overflow);
  EXPECT_TRUE(from_error("7").retryable);
}

TEST(Failure, SurvivesDeepAndHugeBodies) {
  std::string deep;
  for (int i = 0; i < 50; ++i) deep += R"({"error":)";
  EXPECT_EQ(respond(500, deep + "1").error.kind, "generic");
  EXPECT_EQ(respond(500, std::string(10 * kErrorBodyBytesMax, '[')).error.kind, "generic");
  const std::string padded = R"({"error":{"message":")" + std::string(2 * kErrorBodyBytesMax, 'x') + R"("}})";
  EXPECT_EQ(respond(429, padded).error.kind, "rate_limit");
}

TEST(RetryAfter, ReadsEveryForm) {
  EXPECT_EQ(respond(429, "", {{"Retry-After", "2"}}).retry_after, Milliseconds(2000));
  EXPECT_EQ(respond(429, "", {{"retry-after", " 0.25 "}}).retry_after, Milliseconds(250));
  EXPECT_EQ(respond(429, "", {{"retry-after-ms", "12.5"}, {"retry-after", "9"}}).retry_after, Milliseconds(13));
  EXPECT_EQ(respond(503, "", {{"Retry-After", "Sun, 06 Nov 1994 08:49:40 GMT"}}).retry_after, Milliseconds(3000));
}

TEST(RetryAfter, IgnoresNonsenseAndCapsTheRest) {
  for (const char* text :
       {"", "soon", "0", "-1", "nan", "inf", "1e9", "86401", "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:30 GMT", "Sun, 99 Nov 1994 08:49:40 GMT", "Sunday, 06-Nov-94 08:49:40 GMT"}) {
    EXPECT_EQ(respond(429, "", {{"Retry-After", text}}).retry_after, std::nullopt) << text;
  }
  EXPECT_EQ(respond(429, "", {{"Retry-After", "600"}}).retry_after, kRetryAfterMax);
  EXPECT_EQ(respond(429, "", {{"Retry-After", "601"}}).retry_after, kRetryAfterMax);
  EXPECT_EQ(respond(429, "", {{"Retry-After", "86400"}}).retry_after, kRetryAfterMax);
  EXPECT_EQ(respond(429, "", {{"retry-after-ms", "x"}, {"retry-after", "9"}}).retry_after, Milliseconds(9000));
}

TEST(RetryAfter, ProvidersAdviceWins) {
  EXPECT_FALSE(respond(500, "", {{"X-Should-Retry", "false"}}).retryable);
  EXPECT_TRUE(respond(400, "", {{"x-should-retry", "true"}}).retryable);
  EXPECT_TRUE(respond(500, "", {{"x-should-retry", "perhaps"}}).retryable);
}

TEST(Backoff, DoublesUpToItsCap) {
  SeededRandom random(1);
  std::int64_t full_ms = 1000;
  for (std::int64_t attempt = 1; attempt < 70; ++attempt) {
    const std::int64_t wait_ms = backoff(attempt, std::nullopt, random).count();
    EXPECT_LE(wait_ms, full_ms);
    EXPECT_GE(wait_ms, full_ms * 3 / 4);
    full_ms = std::min<std::int64_t>(full_ms * 2, kBackoffMax.count());
  }
}

TEST(Backoff, LetsALongerRequestWin) {
  SeededRandom random(2);
  const Milliseconds asked = backoff(1, Milliseconds(10'000), random);
  EXPECT_GE(asked, Milliseconds(10'000));
  EXPECT_LE(asked, Milliseconds(11'000));
  EXPECT_GE(backoff(6, Milliseconds(5), random), Milliseconds(24'000));
}

TEST(Backoff, WaitsLongerForAnOverloadedProvider) {
  SeededRandom random(3);
  EXPECT_GE(backoff(1, respond(529), random), Milliseconds(3'000));
  EXPECT_LE(backoff(1, respond(500), random), Milliseconds(1'000));
}

TEST(Failure, TransportFaultsKnowWhetherToRetry) {
  EXPECT_TRUE(failure_from_transport("p", TransportFault::Cut).retryable);
  EXPECT_TRUE(failure_from_transport("p", TransportFault::Idle).retryable);
  EXPECT_FALSE(failure_from_transport("p", TransportFault::Tls).retryable);
  EXPECT_FALSE(failure_from_transport("p", TransportFault::Canceled).retryable);
  EXPECT_FALSE(failure_from_protocol("p", ProtocolFault::TooLarge).retryable);
  EXPECT_TRUE(failure_from_protocol("p", ProtocolFault::Malformed).retryable);
}

}  // namespace
}  // namespace assay::providers

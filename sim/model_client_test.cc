// providers' client against the simulator: the two ends of the wire, written by the same hands but over a real socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/task_group.h"
#include "providers/client.h"
#include "sim/loopback_simulator.h"
#include "structured/finalizer.h"

namespace assay::sim {
namespace {

using providers::Failure;
using structured::Finish;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Outcome = Result<chat::GeneratedStep, Failure>;

providers::ProviderConfig provider_at(const std::string& url) {
  providers::ProviderConfig provider;
  provider.name = "sim";
  provider.base_url = url;
  provider.key = providers::Secret("sk-hunter2");
  return provider;
}

chat::Prompt prompt(std::string text, bool offers_finalizer = false) {
  chat::Prompt prompt;
  prompt.rows.push_back(chat::PromptRow{.role = chat::Role::User, .content = {chat::TextPart{std::move(text)}}});
  if (offers_finalizer) {
    chat::ToolDefinition tool;
    tool.name = structured::kFinalizerName;
    tool.parameters = structured::finalizer_parameters(
        R"({"type":"object","properties":{"n":{"type":"integer","minimum":3}},"required":["n"]})");
    tool.strict_off = true;
    prompt.tools.push_back(tool);
  }
  return prompt;
}

struct Call {
  std::optional<Outcome> outcome;
  std::vector<providers::Event> events;
};

net::Task<> generate_into(net::HttpClient& http, providers::ProviderConfig provider, chat::Prompt prompt,
                          net::StopToken stop, Call* call) {
  providers::ModelClient client(http);
  providers::ModelSettings model;
  model.model = "assay-sim";
  providers::EventCallback on_event = [call](const providers::Event& event) { call->events.push_back(event); };
  call->outcome = co_await client.generate(provider, std::move(model), std::move(prompt), std::move(on_event), stop);
}

Call generate(LoopbackSimulator& sim, chat::Prompt asked = prompt("hello"),
              providers::Timeouts timeouts = providers::Timeouts()) {
  providers::ProviderConfig provider = provider_at(sim.url());
  provider.timeouts = timeouts;
  Call call;
  sim.loop().run(generate_into(sim.http(), std::move(provider), std::move(asked), net::StopToken(), &call));
  return call;
}

Failure failure_of(const std::string& rule, providers::Timeouts timeouts = providers::Timeouts()) {
  LoopbackSimulator sim(R"({"rules":[)" + rule + "]}");
  const Call call = generate(sim, prompt("hello"), timeouts);
  if (!call.outcome || call.outcome->has_value()) {
    ADD_FAILURE() << "the call succeeded";
    return Failure{};
  }
  return call.outcome->error();
}

TEST(ModelClient, StreamsText) {
  LoopbackSimulator sim(
      R"({"rules":[{"reply":{"text":"Hello there","reasoning":"hm"},"delivery":{"chunk_characters":6,"split_bytes":7}}]})");
  const Call call = generate(sim);
  ASSERT_TRUE(call.outcome->has_value()) << call.outcome->error().error.message;
  EXPECT_EQ((*call.outcome)->finish, Finish::Complete);
  EXPECT_THAT((*call.outcome)->parts,
              ElementsAre(chat::GeneratedPart(chat::ReasoningPart{.text = "hm", .provider_state = ""}),
                          chat::GeneratedPart(chat::TextPart{"Hello there"})));
  EXPECT_GT((*call.outcome)->usage.total_tokens, 0);
  EXPECT_EQ(call.events[0], providers::Event(providers::ReasoningDelta{"hm"}));
  EXPECT_EQ(call.events[1], providers::Event(providers::TextDelta{"Hello "}));
}

TEST(ModelClient, BringsBackAValueThatFits) {
  LoopbackSimulator sim;
  const Call call = generate(sim, prompt("hello", true));
  ASSERT_TRUE(call.outcome->has_value()) << call.outcome->error().error.message;
  EXPECT_EQ((*call.outcome)->finish, Finish::ToolUse);
  ASSERT_EQ((*call.outcome)->parts.size(), 1U);
  const auto& made = std::get<chat::GeneratedToolCall>((*call.outcome)->parts[0]);
  EXPECT_EQ(made.name, structured::kFinalizerName);
  EXPECT_EQ(made.arguments, R"({"output":{"n":3}})");
  EXPECT_THAT(sim.journal(), HasSubstr(R"("strict":false)"));
}

TEST(ModelClient, KeepsRawArgumentsOverTheWire) {
  LoopbackSimulator sim(
      R"({"rules":[{"reply":{"tool_calls":[{"id":"c1","name":"f","arguments":"{\"a\":1e400, \"a\":10.00} x"}]}}]})");
  const Call call = generate(sim);
  ASSERT_TRUE(call.outcome->has_value());
  EXPECT_EQ(std::get<chat::GeneratedToolCall>((*call.outcome)->parts[0]).arguments, R"({"a":1e400, "a":10.00} x)");
}

TEST(ModelClient, ReusesItsConnection) {
  LoopbackSimulator sim;
  generate(sim);
  generate(sim);
  const std::string journal = sim.journal();
  EXPECT_THAT(journal, HasSubstr(R"("number":2)"));
  EXPECT_THAT(journal, HasSubstr(R"("connection":1)"));
  EXPECT_THAT(journal, Not(HasSubstr(R"("connection":2)")));
}

TEST(ModelClient, SendsTheKeyAndShowsItNowhere) {
  LoopbackSimulator sim(
      R"({"rules":[{"http":{"status":401,"body":{"error":{"message":"bad key sk-hunter2","code":"invalid_api_key"}}}}]})");
  const Call call = generate(sim);
  ASSERT_FALSE(call.outcome->has_value());
  const Failure& failure = call.outcome->error();
  EXPECT_EQ(failure.error.kind, "auth");
  EXPECT_FALSE(failure.retryable);
  EXPECT_EQ(failure.error.message.find("hunter2"), std::string::npos);
  EXPECT_EQ(failure.error.detail, "HTTP 401, invalid_api_key");
  EXPECT_THAT(sim.journal(), HasSubstr(R"x("authorization":"Bearer (11 bytes)")x"));
}

TEST(ModelClient, ReportsARateLimitWithItsWait) {
  const Failure failure =
      failure_of(R"({"http":{"status":429,"headers":{"Retry-After":"2"},"body":{"error":{"message":"slow"}}}})");
  EXPECT_EQ(failure.error.kind, "rate_limit");
  EXPECT_TRUE(failure.retryable);
  EXPECT_EQ(failure.retry_after, Milliseconds(2000));
}

TEST(ModelClient, ReportsAServerError) {
  const Failure failure = failure_of(R"({"http":{"status":500,"body":"<html>oops</html>"}})");
  EXPECT_EQ(failure.error.kind, "generic");
  EXPECT_TRUE(failure.retryable);
  EXPECT_EQ(failure.error.status_code, 500);
}

TEST(ModelClient, ReportsAnErrorWhoseBodyIsCut) {
  const Failure failure = failure_of(R"({"http":{"status":503,"body":"wait"},"delivery":{"cut_after_bytes":2}})");
  EXPECT_EQ(failure.error.kind, "timeout");
  EXPECT_EQ(failure.error.status_code, 503);
}

TEST(ModelClient, FailsOnACutStreamEvenBehindItsFinishReason) {
  for (const char* reset : {"true", "false"}) {
    const Failure failure = failure_of(R"({"reply":{"text":"Hello"},"delivery":{"cut_after_bytes":300,"reset":)" +
                                       std::string(reset) + "}}");
    EXPECT_EQ(failure.error.kind, "timeout") << failure.error.message;
    EXPECT_TRUE(failure.retryable);
  }
}

TEST(ModelClient, GivesUpOnASilentStream) {
  providers::Timeouts timeouts;
  timeouts.idle = Milliseconds(50);
  const Failure failure = failure_of(R"({"reply":{"text":"Hello"},"delivery":{"stall_after_bytes":100}})", timeouts);
  EXPECT_EQ(failure.error.kind, "timeout");
  EXPECT_TRUE(failure.retryable);
  EXPECT_THAT(failure.error.message, HasSubstr("silent"));
}

TEST(ModelClient, GivesUpOnAnAnswerThatNeverBegins) {
  providers::Timeouts timeouts;
  timeouts.first_byte = Milliseconds(50);
  const Failure failure = failure_of(R"({"reply":{"text":"Hello"},"delivery":{"hold":"never"}})", timeouts);
  EXPECT_THAT(failure.error.message, HasSubstr("begin"));
}

TEST(ModelClient, CallsGarbageGarbage) {
  EXPECT_THAT(failure_of(R"({"body":"<html>hello</html>"})").error.message, HasSubstr("protocol"));
  EXPECT_THAT(failure_of(R"({"events":["nonsense"]})").error.message, HasSubstr("protocol"));
  EXPECT_THAT(failure_of(R"({"body_base64":"AP/+gIE="})").error.message, HasSubstr("protocol"));
  EXPECT_THAT(failure_of(R"({"body":""})").error.message, HasSubstr("empty"));
  EXPECT_TRUE(failure_of(R"({"response":"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ndata: {"})").retryable);
  EXPECT_TRUE(failure_of(R"({"response":"\u0001\u0002 nothing like HTTP\r\n\r\n"})").retryable);
  EXPECT_FALSE(
      failure_of(R"({"response":"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"})")
          .retryable);
}

TEST(ModelClient, ReportsAnErrorInsideTheStream) {
  const Failure failure = failure_of(
      R"({"events":[{"choices":[{"index":0,"delta":{"content":"x"}}]},{"error":{"code":429,"message":"slow"},"choices":[]}]})");
  EXPECT_EQ(failure.error.kind, "rate_limit");
}

TEST(ModelClient, ReadsACompressedAnswer) {
  // gzip of one text delta "zip", a stop and [DONE].
  LoopbackSimulator sim(
      R"({"rules":[{"body_base64":"H4sIAAAAAAACA43MMQqAMAxG4b2nkH92cM6sqx5ARIqNGJBUbAZRene7uTo/3he8eaoeLFuUhRNofCAa+AI1NQLv5kElRzVWA+GWAzlP2bnwa801VlFJ23yyT1ELkSwW4yPGdui7ybkXVDZ57owAAAA=","delivery":{"headers":{"Content-Encoding":"gzip"}}}]})");
  const Call call = generate(sim);
  ASSERT_TRUE(call.outcome->has_value()) << call.outcome->error().error.message;
  EXPECT_THAT((*call.outcome)->parts, ElementsAre(chat::GeneratedPart(chat::TextPart{"zip"})));
}

TEST(ModelClient, EndsWithTheWiresOwnEndThoughTheBodyGoesOn) {
  LoopbackSimulator sim(
      R"({"rules":[{"reply":{"text":"Hello"},"delivery":{"hold_after_events":{"count":5,"point":"never"}}}]})");
  const Call call = generate(sim);
  ASSERT_TRUE(call.outcome->has_value()) << call.outcome->error().error.message;
  EXPECT_EQ((*call.outcome)->finish, Finish::Complete);
}

net::Task<> cancel_in_the_middle(LoopbackSimulator* sim, Call* call, bool* was_waiting) {
  net::TaskGroup group(sim->loop());
  net::StopSource source;
  group.spawn("call", generate_into(sim->http(), provider_at(sim->url()), prompt("hello"), source.token(), call));
  *was_waiting = co_await sim->simulator().points().wait_for_waiters("middle", 1, Deadline::never(), net::StopToken());
  source.stop(net::StopReason::Interrupted);
  co_await group.join();
}

TEST(ModelClient, ClosesTheConnectionAtOnceWhenCanceled) {
  LoopbackSimulator sim(
      R"({"rules":[{"reply":{"text":"Hello"},"delivery":{"hold_after_events":{"count":2,"point":"middle"}}}]})");
  Call call;
  bool was_waiting = false;
  sim.loop().run(cancel_in_the_middle(&sim, &call, &was_waiting));
  EXPECT_TRUE(was_waiting);
  ASSERT_TRUE(call.outcome.has_value());
  ASSERT_FALSE(call.outcome->has_value());
  EXPECT_FALSE(call.outcome->error().retryable);
  sim.fetch("POST", "/sim/await", R"({"done":1})");
  EXPECT_THAT(sim.journal(), HasSubstr(R"("outcome":"client left")"));
}

net::Task<> list_into(LoopbackSimulator* sim, std::string url,
                      std::optional<Result<std::vector<std::string>, Failure>>* ids) {
  providers::ModelClient client(sim->http());
  const providers::ProviderConfig provider = provider_at(url);
  *ids = co_await client.list_models(provider);
}

TEST(ModelClient, ListsModels) {
  LoopbackSimulator sim(R"({"models":["b","a"]})");
  std::optional<Result<std::vector<std::string>, Failure>> ids;
  sim.loop().run(list_into(&sim, sim.url("/v1"), &ids));
  ASSERT_TRUE(ids->has_value());
  EXPECT_THAT(**ids, ElementsAre("b", "a"));
}

TEST(ModelClient, ReportsAnUnreachableProvider) {
  LoopbackSimulator sim;
  std::optional<Result<std::vector<std::string>, Failure>> ids;
  sim.loop().run(list_into(&sim, "http://127.0.0.1:1", &ids));
  ASSERT_FALSE(ids->has_value());
  EXPECT_TRUE(ids->error().retryable);
  sim.loop().run(list_into(&sim, "not a url", &ids));
  ASSERT_FALSE(ids->has_value());
  EXPECT_FALSE(ids->error().retryable);
}

}  // namespace
}  // namespace assay::sim

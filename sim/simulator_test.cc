#include "sim/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/task_group.h"
#include "sim/loopback_simulator.h"

namespace assay::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kHello = R"({"model":"assay-sim","messages":[{"role":"user","content":"hello"}]})";
const std::string kStreamedHello =
    R"({"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}]})";

std::string ask(LoopbackSimulator& sim, const std::string& body = kHello) {
  return sim.fetch("POST", "/v1/chat/completions", body).body;
}

std::string tool(std::string_view schema) {
  return R"({"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"coder_structured_output","parameters":)"
         R"({"type":"object","properties":{"output":)" +
         std::string(schema) + R"(},"required":["output"],"additionalProperties":false}}}]})";
}

TEST(Simulator, SaysThatItIsOneInEveryModelName) {
  LoopbackSimulator sim;
  EXPECT_THAT(ask(sim), HasSubstr(R"x("model":"assay-sim (simulator)")x"));
  EXPECT_THAT(ask(sim, kStreamedHello), HasSubstr(R"x("model":"m (assay-sim, a simulator)")x"));
}

TEST(Simulator, AnswersWithTextWithoutAScript) {
  LoopbackSimulator sim;
  EXPECT_THAT(ask(sim), AllOf(HasSubstr("simulator: no model has read"), HasSubstr("hello"),
                              HasSubstr(R"("finish_reason":"stop")")));
  EXPECT_THAT(ask(sim, kStreamedHello),
              AllOf(HasSubstr("data: {"), HasSubstr(R"("usage":{)"), HasSubstr("data: [DONE]\n\n")));
}

TEST(Simulator, AnswersAStructuredRequestWithAFittingValue) {
  LoopbackSimulator sim;
  EXPECT_THAT(ask(sim, tool(R"({"const":{"a":[1,null]}})")),
              HasSubstr(R"("arguments":"{\"output\":{\"a\":[1,null]}}")"));
  EXPECT_THAT(ask(sim, tool("false")), HasSubstr("found no value"));
}

TEST(Simulator, FollowsItsRulesInOrderAndCountsThem) {
  LoopbackSimulator sim(
      R"({"rules":[{"times":2,"reply":{"text":"first"}},{"when":{"user_contains":"nope"},"reply":{"text":"never"}},{"when":{"request":4},"reply":{"text":"fourth"}}]})");
  EXPECT_THAT(ask(sim), HasSubstr("first"));
  EXPECT_THAT(ask(sim), HasSubstr("first"));
  EXPECT_THAT(ask(sim), HasSubstr("simulator: no model"));
  EXPECT_THAT(ask(sim), HasSubstr("fourth"));
  sim.fetch("POST", "/sim/reset");
  EXPECT_THAT(ask(sim), HasSubstr("first"));
}

TEST(Simulator, TellsToolTurnsApart) {
  LoopbackSimulator sim(
      R"({"rules":[{"when":{"has_tool_result":true,"tool_result_contains":"warm"},"reply":{"text":"done"}},{"reply":{"tool_calls":[{"name":"f","arguments":"{}"}]}}]})");
  EXPECT_THAT(ask(sim), AllOf(HasSubstr("tool_calls"), HasSubstr(R"("finish_reason":"tool_calls")")));
  EXPECT_THAT(
      ask(sim,
          R"({"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"x"}]},{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","tool_call_id":"c","content":"warm"}]})"),
      HasSubstr("done"));
}

TEST(Simulator, RefusesWhatIsNoChatRequest) {
  LoopbackSimulator sim;
  for (const char* body : {"", "[]", "{}", R"({"model":"m"})", R"({"model":"m","messages":[]})",
                           R"({"model":"m","messages":[{}],"tools":[{}]})"}) {
    EXPECT_EQ(sim.fetch("POST", "/v1/chat/completions", body).head.status, 400) << body;
  }
  EXPECT_EQ(sim.fetch("POST", "/v1/other", "{}").head.status, 404);
  EXPECT_EQ(sim.fetch("GET", "/nothing").head.status, 404);
  EXPECT_EQ(sim.fetch("POST", "/sim/release", "{}").head.status, 400);
  EXPECT_EQ(sim.fetch("POST", "/sim/await", "{}").head.status, 400);
  EXPECT_EQ(sim.fetch("POST", "/sim/await", R"({"point":"x","timeout_ms":1})").head.status, 408);
}

TEST(Simulator, ListsItsModels) {
  LoopbackSimulator plain;
  EXPECT_THAT(plain.fetch("GET", "/v1/models").body, HasSubstr(R"("id":"assay-sim")"));
  LoopbackSimulator scripted(R"({"models":["a","b"]})");
  EXPECT_THAT(scripted.fetch("GET", "/v1/models").body,
              AllOf(HasSubstr(R"("id":"a")"), HasSubstr(R"("id":"b")"), Not(HasSubstr(R"("id":"assay-sim")"))));
}

TEST(Simulator, KeepsAJournalOfRequests) {
  LoopbackSimulator sim(R"({"rules":[{"name":"n","reply":{"text":"x"}}]})");
  ask(sim);
  EXPECT_THAT(sim.journal(), AllOf(HasSubstr(R"("rule":"n")"), HasSubstr(R"("outcome":"answered")"),
                                   HasSubstr(R"("content":"hello")")));
  sim.fetch("POST", "/sim/reset");
  EXPECT_EQ(sim.journal(), R"({"requests":[]})");
}

net::Task<> fetch_into(LoopbackSimulator* sim, std::string path, std::string body, std::string* answer) {
  net::OutgoingRequest request;
  request.method = "POST";
  request.url = sim->url(path);
  request.body = std::move(body);
  auto response = co_await sim->http().fetch(std::move(request));
  if (response) *answer = std::move(response->body);
}

net::Task<> hold_and_release(LoopbackSimulator* sim, std::string* before, std::string* answer) {
  net::TaskGroup group(sim->loop());
  group.spawn("held", fetch_into(sim, "/v1/chat/completions", kHello, answer));
  std::string awaited;
  co_await fetch_into(sim, "/sim/await", R"({"point":"p"})", &awaited);
  *before = *answer;
  std::string released;
  co_await fetch_into(sim, "/sim/release", R"({"point":"p"})", &released);
  co_await group.join();
}

TEST(Simulator, HoldsAnAnswerUntilItIsReleased) {
  LoopbackSimulator sim(R"({"rules":[{"reply":{"text":"held"},"delivery":{"hold":"p"}}]})");
  std::string before;
  std::string answer;
  sim.loop().run(hold_and_release(&sim, &before, &answer));
  EXPECT_EQ(before, "");
  EXPECT_THAT(answer, HasSubstr("held"));
}

TEST(Simulator, KeepsAReleaseForTheNextAnswer) {
  LoopbackSimulator sim(R"({"rules":[{"reply":{"text":"held"},"delivery":{"hold":"p"}}]})");
  sim.fetch("POST", "/sim/release", R"({"point":"p"})");
  EXPECT_THAT(ask(sim), HasSubstr("held"));
  sim.fetch("POST", "/sim/release", R"({"point":"p","all":true})");
  EXPECT_THAT(ask(sim), HasSubstr("held"));
  EXPECT_THAT(ask(sim), HasSubstr("held"));
}

}  // namespace
}  // namespace assay::sim

#include "providers/anthropic_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "providers/decoder_fixture.h"
#include "providers/replay_state.h"

namespace assay::providers {
namespace {

using structured::Finish;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Answer decode(std::string_view body, std::optional<std::int64_t> cap = std::nullopt, BodyEnd end = BodyEnd::Clean) {
  return decode_pieces<AnthropicDecoder>({body}, cap, end);
}

// With the `event` line that the vendor sends.
std::string event(const std::string& type, const std::string& members = "") {
  return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + (members.empty() ? "" : "," + members) + "}\n\n";
}
std::string start(int index, const std::string& block) {
  return event("content_block_start", R"("index":)" + std::to_string(index) + R"(,"content_block":)" + block);
}
std::string delta(int index, const std::string& type, const std::string& members) {
  return event("content_block_delta",
               R"("index":)" + std::to_string(index) + R"(,"delta":{"type":")" + type + R"(",)" + members + "}");
}
std::string stop(int index) { return event("content_block_stop", R"("index":)" + std::to_string(index)); }
std::string begin() {
  return event("message_start",
               R"("message":{"type":"message","content":[],"usage":{"input_tokens":9,"output_tokens":1}})");
}
std::string end(const std::string& reason, int tokens = 4, const std::string& more = "") {
  return event("message_delta", R"("delta":{"stop_reason":")" + reason + R"(","stop_sequence":null)" + more +
                                    R"(},"usage":{"output_tokens":)" + std::to_string(tokens) + "}") +
         event("message_stop");
}
std::string text_block(int index, const std::string& text) {
  return start(index, R"({"type":"text","text":""})") + delta(index, "text_delta", R"("text":")" + text + "\"") +
         stop(index);
}
std::string open_call(int index, const std::string& id = "c1", const std::string& name = "submit") {
  return start(index, R"({"type":"tool_use","id":")" + id + R"(","name":")" + name + R"(","input":{}})");
}
std::string arguments(int index, const std::string& literal) {
  return delta(index, "input_json_delta", R"("partial_json":)" + literal);
}
std::string submit(int index = 0) {
  return open_call(index) + arguments(index, R"("")") + arguments(index, R"("{\"output\":")") +
         arguments(index, R"("1}")") + stop(index);
}

chat::GeneratedToolCall made(std::string id, std::string name, std::string bytes) {
  chat::GeneratedToolCall call;
  call.id = std::move(id);
  call.name = std::move(name);
  call.arguments = std::move(bytes);
  return call;
}
std::vector<chat::GeneratedToolCall> calls_of(const Answer& answer) {
  std::vector<chat::GeneratedToolCall> calls;
  if (!answer.step) return calls;
  for (const auto& part : answer.step->parts) {
    if (const auto* call = std::get_if<chat::GeneratedToolCall>(&part)) calls.push_back(*call);
  }
  return calls;
}
std::string item_of(const std::string& state) {
  const auto item = replayed_item(Wire::Anthropic, state);
  return item ? std::string(item->root().raw()) : "none";
}

TEST(AnthropicDecoder, ReadsAStreamedCall) {
  const Answer answer = decode(begin() + event("ping") + submit() + end("tool_use"));
  ASSERT_TRUE(answer.step) << answer.failure->error.message;
  EXPECT_EQ(answer.step->finish, Finish::ToolUse);
  EXPECT_THAT(calls_of(answer), ElementsAre(made("c1", "submit", R"({"output":1})")));
  EXPECT_EQ(answer.step->usage.input_tokens, 9);
  EXPECT_EQ(answer.step->usage.output_tokens, 4);
  EXPECT_EQ(answer.step->usage.total_tokens, 13);
  ASSERT_EQ(answer.events.size(), 6U);
  EXPECT_EQ(answer.events[1], Event(KeepAlive{}));
  EXPECT_EQ(answer.events[2], Event(ToolCallStarted{.call = 0, .id = "c1", .name = "submit"}));
  EXPECT_EQ(answer.events[3], Event(ToolArgumentsDelta{.call = 0, .text = R"({"output":)"}));
  EXPECT_EQ(answer.events[4], Event(ToolArgumentsDelta{.call = 0, .text = "1}"}));
  EXPECT_EQ(answer.events[5], Event(UsageSeen{answer.step->usage}));
}

TEST(AnthropicDecoder, KeepsWhatThinkingNeedsToBeSentBack) {
  const Answer answer =
      decode(begin() + start(0, R"({"type":"thinking","thinking":"","signature":""})") +
             delta(0, "thinking_delta", R"("thinking":"h")") + delta(0, "thinking_delta", R"("thinking":"m")") +
             delta(0, "signature_delta", R"("signature":"c2ln/+=")") + stop(0) +
             start(1, R"({"type":"redacted_thinking","data":"eA=="})") + stop(1) +
             start(2, R"({"type":"thinking","thinking":"","signature":"e"})") + stop(2) + text_block(3, "Hello") +
             end("end_turn"));
  ASSERT_TRUE(answer.step);
  EXPECT_EQ(answer.step->finish, Finish::Complete);
  ASSERT_EQ(answer.step->parts.size(), 4U);
  const auto& thought = std::get<chat::ReasoningPart>(answer.step->parts[0]);
  EXPECT_EQ(thought.text, "hm");
  EXPECT_EQ(item_of(thought.provider_state), R"({"signature":"c2ln/+="})");
  EXPECT_EQ(item_of(std::get<chat::ProviderItemPart>(answer.step->parts[1]).provider_state),
            R"({"type":"redacted_thinking","data":"eA=="})");
  const auto& omitted = std::get<chat::ReasoningPart>(answer.step->parts[2]);
  EXPECT_EQ(omitted.text, "");
  EXPECT_EQ(item_of(omitted.provider_state), R"({"signature":"e"})");
  EXPECT_EQ(answer.step->parts[3], chat::GeneratedPart(chat::TextPart{"Hello"}));
}

TEST(AnthropicDecoder, KeepsNoStateOfThinkingThatWasCut) {
  const Answer answer = decode(begin() + start(0, R"({"type":"thinking","thinking":"","signature":""})") +
                               delta(0, "thinking_delta", R"("thinking":"hm")") +
                               delta(0, "signature_delta", R"("signature":"half")") + end("max_tokens"));
  ASSERT_TRUE(answer.step);
  EXPECT_EQ(answer.step->finish, Finish::Length);
  EXPECT_THAT(answer.step->parts,
              ElementsAre(chat::GeneratedPart(chat::ReasoningPart{.text = "hm", .provider_state = ""})));
}

const std::string kResultBlock =
    R"({"type":"web_search_tool_result","tool_use_id":"srv1","content":[)"
    R"({"type":"web_search_result","url":"https://a.example","title":"A","encrypted_content":"x","page_age":null},)"
    R"({"type":"web_search_result","url":"https://a.example","title":"again","encrypted_content":"y"}]})";

TEST(AnthropicDecoder, ShowsAndKeepsWhatTheProviderExecuted) {
  const std::string citation =
      R"({"type":"web_search_result_location","url":"https://b.example","title":null,"encrypted_index":"i"})";
  const Answer answer = decode(
      begin() +
      start(0, R"({"type":"server_tool_use","id":"srv1","name":"web_search","input":{},"caller":{"type":"direct"}})") +
      arguments(0, R"("{\"query\":")") + arguments(0, R"("\"x\"}")") + stop(0) + start(1, kResultBlock) + stop(1) +
      start(2, R"({"type":"text","text":"","citations":[]})") + delta(2, "text_delta", R"("text":"It is.")") +
      delta(2, "citations_delta", R"("citation":)" + citation) + stop(2) + end("end_turn"));
  ASSERT_TRUE(answer.step) << answer.failure->error.message;
  EXPECT_EQ(answer.step->finish, Finish::Complete) << "hosted calls are none of ours";
  ASSERT_EQ(answer.step->parts.size(), 5U);
  const auto& call = std::get<chat::GeneratedToolCall>(answer.step->parts[0]);
  EXPECT_TRUE(call.provider_executed);
  EXPECT_EQ(call.arguments, R"({"query":"x"})");
  EXPECT_EQ(
      item_of(call.provider_state),
      R"({"type":"server_tool_use","id":"srv1","name":"web_search","caller":{"type":"direct"},"input":{"query":"x"}})");
  const auto& result = std::get<chat::ToolResultPart>(answer.step->parts[1]);
  EXPECT_EQ(result.call_id, "srv1");
  EXPECT_EQ(result.name, "web_search");
  EXPECT_FALSE(result.is_error);
  EXPECT_THAT(result.result, HasSubstr(R"([{"type":"web_search_result","url":"https://a.example")"));
  EXPECT_EQ(item_of(result.provider_state), kResultBlock);
  const chat::SourcePart found{.id = "source-1", .url = "https://a.example", .title = "A"};
  const chat::SourcePart cited{.id = "source-2", .url = "https://b.example", .title = ""};
  EXPECT_EQ(answer.step->parts[2], chat::GeneratedPart(found));
  const auto& text = std::get<chat::TextPart>(answer.step->parts[3]);
  EXPECT_EQ(text.text, "It is.");
  EXPECT_EQ(item_of(text.provider_state), "[" + citation + "]");
  EXPECT_EQ(answer.step->parts[4], chat::GeneratedPart(cited));

  chat::ToolCallPart shown_call;
  shown_call.id = "srv1";
  shown_call.name = "web_search";
  shown_call.arguments = R"({"query":"x"})";
  shown_call.provider_executed = true;
  chat::ToolResultPart shown_result = result;
  shown_result.provider_state.clear();
  EXPECT_THAT(answer.events,
              ElementsAre(testing::VariantWith<UsageSeen>(testing::_), Event(HostedCall{shown_call}),
                          Event(HostedResult{shown_result}), Event(SourceSeen{found}), Event(TextDelta{"It is."}),
                          Event(SourceSeen{cited}), testing::VariantWith<UsageSeen>(testing::_)));
}

TEST(AnthropicDecoder, TellsAFailedHostedCall) {
  const Answer answer = decode(
      begin() + start(0, R"({"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"q"}})") + stop(0) +
      start(
          1,
          R"({"type":"web_search_tool_result","tool_use_id":"s","content":{"type":"web_search_tool_result_error","error_code":"unavailable"}})") +
      stop(1) + end("end_turn"));
  ASSERT_TRUE(answer.step);
  EXPECT_EQ(calls_of(answer).at(0).arguments, R"({"query":"q"})") << "some calls come whole";
  EXPECT_TRUE(std::get<chat::ToolResultPart>(answer.step->parts.at(1)).is_error);
}

TEST(AnthropicDecoder, KeepsUnknownBlocksUnlessTheyChangeUnseen) {
  const Answer answer =
      decode(begin() + start(0, R"({"type":"new_thing","x":1.0})") + stop(0) + start(1, R"({"type":"new_thing"})") +
             delta(1, "new_delta", R"("x":1)") + stop(1) + event("new_event") + text_block(2, "a") + end("end_turn"));
  ASSERT_TRUE(answer.step);
  ASSERT_EQ(answer.step->parts.size(), 2U);
  EXPECT_EQ(item_of(std::get<chat::ProviderItemPart>(answer.step->parts[0]).provider_state),
            R"({"type":"new_thing","x":1.0})");
}

TEST(AnthropicDecoder, TakesArgumentsThatComeAtOnceOrNotAtAll) {
  EXPECT_THAT(calls_of(decode(begin() + open_call(0) + stop(0) + end("tool_use"))),
              ElementsAre(made("c1", "submit", "{}")));
  const std::string whole = start(0, R"({"type":"tool_use","id":"c1","name":"submit","input":{"a":1e2}})");
  EXPECT_THAT(calls_of(decode(begin() + whole + stop(0) + end("tool_use"))),
              ElementsAre(made("c1", "submit", R"({"a":1e2})")));
  EXPECT_THAT(calls_of(decode(begin() + whole + arguments(0, R"("{}")") + stop(0) + end("tool_use"))),
              ElementsAre(made("c1", "submit", "{}")))
      << "deltas win";
}

TEST(AnthropicDecoder, KeepsBlocksApartThatInterleave) {
  const Answer answer =
      decode(begin() + open_call(0, "a", "f") + open_call(1, "a", "f") + arguments(1, R"("{\"n\":1")") +
             arguments(0, R"("{}")") + arguments(1, R"("}")") + stop(1) + stop(0) + end("tool_use"));
  EXPECT_THAT(calls_of(answer), ElementsAre(made("a", "f", "{}"), made("a", "f", R"({"n":1})")));
}

TEST(AnthropicDecoder, HandsOnArgumentBytesUnchanged) {
  const std::string bytes = R"({"a":1e400, "a":10.00, "s":"\ud800"} x)";
  const Answer answer =
      decode(begin() + open_call(0) + arguments(0, R"("{\"a\":1e400, \"a\":10.00, \"s\":\"\\ud800\"} x")") + stop(0) +
             end("tool_use"));
  EXPECT_THAT(calls_of(answer), ElementsAre(made("c1", "submit", bytes)));
  EXPECT_EQ(answer.step->finish, Finish::ToolUse);
}

TEST(AnthropicDecoder, DropsTheFinalizersArgumentsOverItsCap) {
  for (const std::size_t size : {kFinalizerBytesMax - 1, kFinalizerBytesMax, kFinalizerBytesMax + 1}) {
    const std::string value(size, '1');
    const Answer answer =
        decode(begin() + open_call(0) + arguments(0, "\"" + value + "\"") + stop(0) + end("tool_use"));
    const auto calls = calls_of(answer);
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(calls[0].over_cap, size > kFinalizerBytesMax);
    EXPECT_EQ(calls[0].arguments, size > kFinalizerBytesMax ? "" : value);
  }
}

// --- How answers end.

struct FinishCase {
  const char* name;
  std::string body;
  Finish finish;
  std::optional<std::int64_t> cap = std::nullopt;
};
void PrintTo(const FinishCase& c, std::ostream* out) { *out << c.name; }

class AnthropicFinish : public ::testing::TestWithParam<FinishCase> {};

TEST_P(AnthropicFinish, IsJudgedByThePositiveList) {
  const Answer answer = decode(begin() + GetParam().body, GetParam().cap);
  ASSERT_TRUE(answer.step) << answer.failure->error.message;
  EXPECT_EQ(answer.step->finish, GetParam().finish);
}

const std::string kCut = open_call(0) + arguments(0, R"("{\"output\":")");
INSTANTIATE_TEST_SUITE_P(
    Reasons, AnthropicFinish,
    ::testing::Values(FinishCase{"tool_use", submit() + end("tool_use"), Finish::ToolUse},
                      FinishCase{"tool_use_whose_block_never_stopped", kCut + end("tool_use"), Finish::Unknown},
                      FinishCase{"tool_use_without_a_call", text_block(0, "x") + end("tool_use"), Finish::Unknown},
                      FinishCase{"tool_use_with_details",
                                 submit() + end("tool_use", 4, R"(,"stop_details":{"type":"refusal","category":null})"),
                                 Finish::Unknown},
                      FinishCase{"end_turn", text_block(0, "x") + end("end_turn"), Finish::Complete},
                      FinishCase{"end_turn_with_a_call", submit() + end("end_turn"), Finish::Unknown},
                      FinishCase{"stop_sequence", text_block(0, "x") + end("stop_sequence"), Finish::Complete},
                      FinishCase{"max_tokens", submit() + end("max_tokens"), Finish::Length},
                      FinishCase{"max_tokens_inside_arguments", kCut + end("max_tokens"), Finish::Length},
                      FinishCase{"context_window", submit() + end("model_context_window_exceeded"), Finish::Length},
                      FinishCase{"pause_turn", text_block(0, "x") + end("pause_turn"), Finish::Pause},
                      FinishCase{"refusal", text_block(0, "x") + end("refusal"), Finish::Refusal},
                      FinishCase{"refusal_after_a_full_call", submit() + end("refusal"), Finish::Refusal},
                      FinishCase{"guardrail", submit() + end("guardrail_intervened"), Finish::ContentFilter},
                      FinishCase{"compaction", text_block(0, "x") + end("compaction"), Finish::Unknown},
                      FinishCase{"unheard_of", submit() + end("tool_use_maybe"), Finish::Unknown},
                      FinishCase{"below_cap", submit() + end("tool_use", 19), Finish::ToolUse, 20},
                      FinishCase{"at_cap", submit() + end("tool_use", 20), Finish::Length, 20},
                      FinishCase{"the_worse_of_two_reasons",
                                 submit() +
                                     event("message_delta",
                                           R"("delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":4})") +
                                     end("tool_use"),
                                 Finish::Length}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(AnthropicDecoder, KeepsOfARefusalTheExplanationAlone) {
  const Answer answer =
      decode(begin() + text_block(0, "partly") + submit(1) +
             end("refusal", 4, R"(,"stop_details":{"type":"refusal","category":"bio","explanation":"Not this."})"));
  ASSERT_TRUE(answer.step);
  EXPECT_THAT(answer.step->parts, ElementsAre(chat::GeneratedPart(chat::TextPart{"Not this."})));
  EXPECT_TRUE(decode(begin() + submit() + end("refusal")).step->parts.empty());
}

TEST(AnthropicDecoder, CountsTheWholePrompt) {
  const Answer answer = decode(
      event(
          "message_start",
          R"("message":{"usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1}})") +
      text_block(0, "x") +
      event(
          "message_delta",
          R"("delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":null,"output_tokens":30,"output_tokens_details":{"thinking_tokens":12}})") +
      event("message_stop"));
  ASSERT_TRUE(answer.step);
  const chat::Usage& usage = answer.step->usage;
  EXPECT_EQ(usage.input_tokens, 5);
  EXPECT_EQ(usage.cache_creation_tokens, 20);
  EXPECT_EQ(usage.cache_read_tokens, 100);
  EXPECT_EQ(usage.output_tokens, 30);
  EXPECT_EQ(usage.reasoning_tokens, 12);
  EXPECT_EQ(usage.total_tokens, 155);
}

TEST(AnthropicDecoder, ReadsAnAnswerThatIsNotStreamed) {
  const Answer answer = decode(
      R"({"type":"message","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"a"},)"
      R"({"type":"tool_use","id":"c1","name":"submit","input":{"output": 1.0}}],"stop_reason":"tool_use",)"
      R"("usage":{"input_tokens":1,"output_tokens":2}})");
  ASSERT_TRUE(answer.step) << answer.failure->error.message;
  EXPECT_EQ(answer.step->finish, Finish::ToolUse);
  EXPECT_EQ(item_of(std::get<chat::ReasoningPart>(answer.step->parts.at(0)).provider_state), R"({"signature":"s"})");
  EXPECT_THAT(calls_of(answer), ElementsAre(made("c1", "submit", R"({"output": 1.0})")));
}

// --- What is no answer.

struct FaultCase {
  const char* name;
  std::string body;
  std::string kind;
  bool retryable;
  BodyEnd end = BodyEnd::Clean;
};
void PrintTo(const FaultCase& c, std::ostream* out) { *out << c.name; }

class AnthropicFault : public ::testing::TestWithParam<FaultCase> {};

TEST_P(AnthropicFault, EndsTheAttempt) {
  const Answer answer = decode(GetParam().body, std::nullopt, GetParam().end);
  ASSERT_TRUE(answer.failure);
  EXPECT_EQ(answer.failure->error.kind, GetParam().kind) << answer.failure->error.message;
  EXPECT_EQ(answer.failure->retryable, GetParam().retryable);
  EXPECT_THAT(answer.failure->error.message + answer.failure->error.detail, testing::Not(HasSubstr("secret")));
}

std::string error_event(const std::string& type) {
  return event("error", R"("error":{"type":")" + type + R"(","message":"secret"})");
}
std::string without_stop(std::string body) { return body.substr(0, body.find("event: message_stop")); }

INSTANTIATE_TEST_SUITE_P(
    Faults, AnthropicFault,
    ::testing::Values(
        FaultCase{"overloaded_at_once", error_event("overloaded_error"), "overloaded", true},
        FaultCase{"overloaded_later", begin() + text_block(0, "x") + error_event("overloaded_error"), "overloaded",
                  true},
        FaultCase{"internal", begin() + error_event("api_error"), "generic", true},
        FaultCase{"rate_limit", begin() + error_event("rate_limit_error"), "rate_limit", true},
        FaultCase{"key", error_event("authentication_error"), "auth", false},
        FaultCase{"error_without_streaming",
                  R"({"type":"error","error":{"type":"overloaded_error","message":"secret"},"request_id":"r"})",
                  "overloaded", true},
        FaultCase{
            "too_long_inside",
            event("error",
                  R"("error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"})"),
            "config", false},
        FaultCase{"no_message_stop", without_stop(begin() + submit() + end("tool_use")), "timeout", true},
        FaultCase{"no_stop_reason", begin() + submit() + event("message_stop"), "timeout", true},
        FaultCase{"cut", begin() + text_block(0, "x"), "timeout", true, BodyEnd::Cut},
        FaultCase{"nothing", "", "generic", true}, FaultCase{"pings_alone", event("ping"), "generic", true},
        FaultCase{"html", "<html>secret</html>", "generic", true},
        FaultCase{"no_json", "data: {secret\n\n", "generic", true},
        FaultCase{"delta_of_no_block", begin() + delta(3, "text_delta", R"("text":"x")"), "generic", true},
        FaultCase{"delta_behind_the_stop", begin() + text_block(0, "x") + delta(0, "text_delta", R"("text":"x")"),
                  "generic", true},
        FaultCase{"one_index_twice", begin() + text_block(0, "x") + text_block(0, "x"), "generic", true},
        FaultCase{"call_without_a_name", begin() + open_call(0, "c", ""), "generic", true}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(AnthropicDecoder, RefusesWhatGoesOverItsLimits) {
  std::string blocks = begin();
  for (std::size_t i = 0; i <= kContentBlocksMax; ++i) blocks += start(static_cast<int>(i), R"({"type":"x"})");
  EXPECT_THAT(decode(blocks).failure->error.message, HasSubstr("larger"));
  const std::string piece(1024 * 1024, 'x');
  std::string text = begin() + start(0, R"({"type":"text","text":""})");
  for (int i = 0; i < 5; ++i) text += delta(0, "text_delta", R"("text":")" + piece + "\"");
  EXPECT_THAT(decode(text).failure->error.message, HasSubstr("larger"));
}

TEST(AnthropicDecoder, SeesTheSameHoweverTheBytesAreCut) {
  const std::string body = begin() + event("ping") + start(0, R"({"type":"thinking","thinking":"","signature":""})") +
                           delta(0, "thinking_delta", "\"thinking\":\"\xe4\xbd\xa0\\ud83d\"") +
                           delta(0, "thinking_delta", R"("thinking":"\ude00")") +
                           delta(0, "signature_delta", R"("signature":"s")") + stop(0) +
                           start(1, R"({"type":"server_tool_use","id":"srv1","name":"web_search","input":{}})") +
                           arguments(1, R"("{\"query\":\"x\"}")") + stop(1) + ": comment\r\n\r\n" +
                           start(2, kResultBlock) + stop(2) + text_block(3, "\\u00e9") + submit(4) + end("tool_use");
  const Answer whole = decode(body);
  ASSERT_TRUE(whole.step);
  ASSERT_EQ(whole.step->finish, Finish::ToolUse);
  SeededRandom random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string_view> pieces;
    std::string_view rest = body;
    while (!rest.empty()) {
      const std::size_t size = std::min<std::size_t>(rest.size(), round == 0 ? 1 : 1 + random.below(90));
      pieces.push_back(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    const Answer cut = decode_pieces<AnthropicDecoder>(pieces);
    ASSERT_EQ(cut.events, whole.events);
    ASSERT_EQ(cut.step, whole.step);
  }
}

}  // namespace
}  // namespace assay::providers

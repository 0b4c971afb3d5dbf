#include "providers/openai_chat_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "json/limits.h"
#include "providers/decoder_fixture.h"

namespace assay::providers {
namespace {

using structured::Finish;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

OpenAiChatDecoder::Options options() {
  return {.provider = "p", .output_tokens_max = std::nullopt, .capped_tools = {{"submit", kFinalizerBytesMax}}};
}

Answer decode(std::string_view body, std::optional<std::int64_t> cap = std::nullopt, BodyEnd end = BodyEnd::Clean) {
  return decode_pieces<OpenAiChatDecoder>({body}, cap, end);
}

std::string event(std::string_view json) { return "data: " + std::string(json) + "\n\n"; }
std::string delta(std::string_view members) {
  return event(R"({"choices":[{"index":0,"delta":{)" + std::string(members) + R"(},"finish_reason":null}]})");
}
std::string call(std::string_view members) { return delta(R"("tool_calls":[{)" + std::string(members) + "}]"); }
std::string end(std::string_view reason) {
  return event(R"({"choices":[{"index":0,"delta":{},"finish_reason":")" + std::string(reason) + R"("}]})");
}
std::string usage(int completion) {
  return event(R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":)" + std::to_string(completion) +
               R"(,"total_tokens":13}})");
}
const std::string kDone = event("[DONE]");
const std::string kSubmit =
    call(R"("index":0,"id":"c1","type":"function","function":{"name":"submit","arguments":""})") +
    call(R"("index":0,"function":{"arguments":"{\"output\":"})") + call(R"("index":0,"function":{"arguments":"1}"})");

chat::GeneratedToolCall made(std::string id, std::string name, std::string arguments) {
  chat::GeneratedToolCall result;
  result.id = std::move(id);
  result.name = std::move(name);
  result.arguments = std::move(arguments);
  return result;
}
const chat::GeneratedToolCall kSubmitted = made("c1", "submit", R"({"output":1})");

std::vector<chat::GeneratedToolCall> calls_of(const Answer& answer) {
  std::vector<chat::GeneratedToolCall> calls;
  if (!answer.step) return calls;
  for (const auto& part : answer.step->parts) {
    if (const auto* found = std::get_if<chat::GeneratedToolCall>(&part)) calls.push_back(*found);
  }
  return calls;
}

std::string text_of(const Answer& answer) {
  std::string text;
  if (!answer.step) return text;
  for (const auto& part : answer.step->parts) {
    if (const auto* found = std::get_if<chat::TextPart>(&part)) text += found->text;
  }
  return text;
}

std::string reasoning_of(const Answer& answer) {
  std::string text;
  if (!answer.step) return text;
  for (const auto& part : answer.step->parts) {
    if (const auto* found = std::get_if<chat::ReasoningPart>(&part)) text += found->text;
  }
  return text;
}

Finish finish_of(const Answer& answer) { return answer.step ? answer.step->finish : Finish::Error; }

// What a call turn that everything else permits becomes.
TEST(OpenAiChatDecoder, ReadsAStreamedCall) {
  const Answer answer = decode(kSubmit + end("tool_calls") + usage(4) + kDone);
  ASSERT_TRUE(answer.step);
  EXPECT_EQ(answer.step->finish, Finish::ToolUse);
  EXPECT_THAT(calls_of(answer), ElementsAre(kSubmitted));
  EXPECT_EQ(answer.step->usage.input_tokens, 9);
  EXPECT_EQ(answer.step->usage.output_tokens, 4);
  EXPECT_EQ(answer.step->usage.total_tokens, 13);
  EXPECT_THAT(answer.events,
              ElementsAre(Event(ToolCallStarted{.call = 0, .id = "c1", .name = "submit"}),
                          Event(ToolArgumentsDelta{.call = 0, .text = R"({"output":)"}),
                          Event(ToolArgumentsDelta{.call = 0, .text = "1}"}), Event(UsageSeen{answer.step->usage})));
}

TEST(OpenAiChatDecoder, ReadsTextAndReasoningInTheirOrder) {
  const Answer answer =
      decode(delta(R"("role":"assistant","content":"","refusal":null)") + delta(R"("reasoning_content":"hm")") +
             delta(R"("reasoning_content":"m","content":null)") + delta(R"("content":"Hel")") +
             delta(R"("content":"lo")") + end("stop") + kDone);
  ASSERT_TRUE(answer.step);
  EXPECT_EQ(answer.step->finish, Finish::Complete);
  EXPECT_THAT(answer.step->parts,
              ElementsAre(chat::GeneratedPart(chat::ReasoningPart{.text = "hmm", .provider_state = ""}),
                          chat::GeneratedPart(chat::TextPart{"Hello"})));
  EXPECT_THAT(answer.events, ElementsAre(Event(ReasoningDelta{"hm"}), Event(ReasoningDelta{"m"}),
                                         Event(TextDelta{"Hel"}), Event(TextDelta{"lo"})));
}

TEST(OpenAiChatDecoder, KeepsTextAroundACallApart) {
  const Answer answer =
      decode(delta(R"("content":"a")") + kSubmit + delta(R"("content":"b")") + end("tool_calls") + kDone);
  ASSERT_TRUE(answer.step);
  EXPECT_THAT(answer.step->parts, ElementsAre(chat::GeneratedPart(chat::TextPart{"a"}), chat::GeneratedPart(kSubmitted),
                                              chat::GeneratedPart(chat::TextPart{"b"})));
}

// --- The acceptance rule: what may carry a value, and what may not.

struct FinishCase {
  const char* name;
  std::string body;
  Finish finish;
  std::optional<std::int64_t> cap = std::nullopt;
};
void PrintTo(const FinishCase& c, std::ostream* out) { *out << c.name; }

class FinishProvenance : public ::testing::TestWithParam<FinishCase> {};

TEST_P(FinishProvenance, IsJudgedByThePositiveList) {
  const Answer answer = decode(GetParam().body, GetParam().cap);
  ASSERT_TRUE(answer.step) << answer.failure->error.message;
  EXPECT_EQ(answer.step->finish, GetParam().finish);
}

const std::string kText = delta(R"("content":"x")");
const std::string kCutCall = call(R"("index":0,"id":"c1","function":{"name":"submit","arguments":"{\"output\":"})");
const std::string kRefusal = delta(R"("refusal":"I can't")");

INSTANTIATE_TEST_SUITE_P(
    Reasons, FinishProvenance,
    ::testing::Values(
        FinishCase{"tool_calls", kSubmit + end("tool_calls") + kDone, Finish::ToolUse},
        FinishCase{"function_call", kSubmit + end("function_call") + kDone, Finish::ToolUse},
        FinishCase{"stop", kText + end("stop") + kDone, Finish::Complete},
        FinishCase{"stop_with_complete_call", kSubmit + end("stop") + kDone, Finish::ToolUse},
        FinishCase{"stop_with_cut_call", kCutCall + end("stop") + kDone, Finish::Unknown},
        FinishCase{
            "stop_with_one_cut_call_of_two",
            kSubmit + call(R"("index":1,"id":"c2","function":{"name":"f","arguments":"{"})") + end("stop") + kDone,
            Finish::Unknown},
        FinishCase{"length", kSubmit + end("length") + kDone, Finish::Length},
        FinishCase{"content_filter", kSubmit + end("content_filter") + kDone, Finish::ContentFilter},
        FinishCase{"repetition", kSubmit + end("repetition") + kDone, Finish::Unknown},
        FinishCase{"unheard_of", kSubmit + end("tool_calls_maybe") + kDone, Finish::Unknown},
        FinishCase{"tool_calls_without_calls", kText + end("tool_calls") + kDone, Finish::Unknown},
        FinishCase{"refusal", kRefusal + end("stop") + kDone, Finish::Refusal},
        FinishCase{"refusal_after_full_call", kSubmit + kRefusal + end("tool_calls") + kDone, Finish::Refusal},
        FinishCase{"refusal_that_is_cut", kRefusal + end("length") + kDone, Finish::Refusal},
        FinishCase{"empty_refusal", kSubmit + delta(R"("refusal":"")") + end("tool_calls") + kDone, Finish::ToolUse},
        FinishCase{"tool_calls_then_stop", kSubmit + end("tool_calls") + end("stop") + kDone, Finish::ToolUse},
        FinishCase{"stop_then_tool_calls", kSubmit + end("stop") + end("tool_calls") + kDone, Finish::ToolUse},
        FinishCase{"tool_calls_then_length", kSubmit + end("tool_calls") + end("length") + kDone, Finish::Length},
        FinishCase{"length_then_tool_calls", kSubmit + end("length") + end("tool_calls") + kDone, Finish::Length},
        FinishCase{"filter_then_stop", kSubmit + end("content_filter") + end("stop") + kDone, Finish::ContentFilter},
        FinishCase{"unknown_then_tool_calls", kSubmit + end("eos?") + end("tool_calls") + kDone, Finish::Unknown},
        FinishCase{"below_cap", kSubmit + end("tool_calls") + usage(19) + kDone, Finish::ToolUse, 20},
        FinishCase{"at_cap", kSubmit + end("tool_calls") + usage(20) + kDone, Finish::Length, 20},
        FinishCase{"over_cap", kSubmit + end("tool_calls") + usage(21) + kDone, Finish::Length, 20},
        FinishCase{"stop_at_cap", kSubmit + end("stop") + usage(20) + kDone, Finish::Length, 20},
        FinishCase{"cap_without_usage", kSubmit + end("tool_calls") + kDone, Finish::Unknown, 20},
        FinishCase{"cap_without_usage_text", kText + end("stop") + kDone, Finish::Complete, 20},
        FinishCase{"no_done_but_clean_end", kSubmit + end("tool_calls"), Finish::ToolUse},
        FinishCase{"done_without_blank_line", kSubmit + end("tool_calls") + "data: [DONE]", Finish::ToolUse}),
    [](const auto& test) { return std::string(test.param.name); });

struct FailureCase {
  const char* name;
  std::string body;
  const char* kind;
  bool retryable;
  BodyEnd end = BodyEnd::Clean;
};
void PrintTo(const FailureCase& c, std::ostream* out) { *out << c.name; }

class BrokenAnswer : public ::testing::TestWithParam<FailureCase> {};

TEST_P(BrokenAnswer, IsAFailure) {
  const FailureCase& c = GetParam();
  const Answer answer = decode(c.body, std::nullopt, c.end);
  ASSERT_TRUE(answer.failure);
  EXPECT_EQ(answer.failure->error.kind, c.kind);
  EXPECT_EQ(answer.failure->retryable, c.retryable);
  EXPECT_EQ(answer.failure->error.message.find("secret"), std::string::npos);
  EXPECT_EQ(answer.failure->error.detail.find("secret"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, BrokenAnswer,
    ::testing::Values(
        FailureCase{"nothing", "", "generic", true}, FailureCase{"only_done", kDone, "generic", true},
        FailureCase{"only_white_space", " \r\n\r\n", "generic", true},
        FailureCase{"only_comments", ": a\n\n: b\n\n", "generic", true},
        FailureCase{"empty_chunks", event(R"({"choices":[]})") + kDone, "generic", true},
        FailureCase{"html", "<html><body>secret</body></html>", "generic", true},
        FailureCase{"words", "data: secret\n\n", "generic", true},
        FailureCase{"malformed_event", kText + event(R"({"choices":[{)") + end("stop") + kDone, "generic", true},
        FailureCase{"invalid_utf8", delta("\"content\":\"\xff\"") + end("stop") + kDone, "generic", true},
        FailureCase{"choices_no_array", event(R"({"choices":{}})"), "generic", true},
        FailureCase{"choice_no_object", event(R"({"choices":[1]})"), "generic", true},
        FailureCase{"array_event", event("[1]"), "generic", true},
        FailureCase{"no_finish_reason", kSubmit + kDone, "timeout", true},
        FailureCase{"no_finish_reason_no_done", kSubmit, "timeout", true},
        FailureCase{"cut_body", kSubmit + end("tool_calls"), "timeout", true, BodyEnd::Cut},
        FailureCase{"cut_event", kSubmit + end("tool_calls") + R"(data: {"choices":[)", "timeout", true},
        FailureCase{"aborted", kSubmit + end("abort") + kDone, "generic", true},
        FailureCase{"finish_error", kSubmit + end("error") + kDone, "generic", true},
        FailureCase{"error_event", kSubmit + event(R"({"error":{"message":"secret","code":502}})") + end("stop"),
                    "timeout", true},
        FailureCase{
            "error_beside_choices",
            event(
                R"({"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}],"error":{"code":429,"message":"secret"}})"),
            "rate_limit", true},
        FailureCase{"error_with_text_code",
                    event(R"({"error":{"code":"insufficient_quota","message":"secret"},"choices":[]})"), "usage_limit",
                    false},
        FailureCase{"error_text", event(R"({"error":"secret"})"), "generic", true},
        FailureCase{
            "error_in_choice",
            event(
                R"({"choices":[{"index":0,"delta":{},"error":{"code":401,"message":"secret"},"finish_reason":"error"}]})"),
            "auth", false},
        FailureCase{"error_by_event_type",
                    "event: error\ndata: {\"message\":\"Overloaded\",\"type\":\"overloaded_error\"}\n\n", "overloaded",
                    true},
        FailureCase{"error_event_in_words", "event: error\ndata: secret\n\n", "generic", true},
        FailureCase{"object_error", event(R"({"object":"error","message":"maximum context length is 8","code":400})"),
                    "config", false},
        FailureCase{"whole_error_body", R"({"error":{"message":"secret","type":"server_error"}})", "generic", true},
        FailureCase{"whole_detail", R"({"detail":"secret"})", "generic", true},
        FailureCase{"whole_cut", R"({"choices":[{"index":0,"message":{"content":"x"},"finish_re)", "generic", true},
        FailureCase{"whole_cut_by_transport", R"({"choices":[)", "timeout", true, BodyEnd::Cut},
        FailureCase{"whole_empty", "{}", "generic", true},
        FailureCase{"nameless_call",
                    call(R"("index":0,"id":"c","function":{"arguments":"{}"})") + end("tool_calls") + kDone, "generic",
                    true}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(OpenAiChatDecoder, IgnoresAnErrorMemberThatSaysNothing) {
  EXPECT_EQ(finish_of(decode(event(R"({"error":null,"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]})"))),
            Finish::Complete);
}

TEST(OpenAiChatDecoder, AnEndAfterDoneNeedsNoCleanBody) {
  EXPECT_EQ(finish_of(decode(kSubmit + end("tool_calls") + kDone, std::nullopt, BodyEnd::Cut)), Finish::ToolUse);
}

TEST(OpenAiChatDecoder, SaysWhenNothingMoreIsOfUse) {
  OpenAiChatDecoder decoder(options());
  const EventCallback ignore = [](const Event&) {};
  EXPECT_TRUE(decoder.feed(kText + end("stop"), ignore));
  EXPECT_FALSE(decoder.feed(kDone, ignore));
  EXPECT_FALSE(decoder.feed(event("garbage"), ignore));
  EXPECT_TRUE(decoder.finish(BodyEnd::Clean, ignore).has_value());
}

// --- Quirks of servers in the wild.

struct CallCase {
  const char* name;
  std::string body;  // without the end
  std::vector<chat::GeneratedToolCall> calls;
};
void PrintTo(const CallCase& c, std::ostream* out) { *out << c.name; }

class CallQuirk : public ::testing::TestWithParam<CallCase> {};

TEST_P(CallQuirk, IsPutTogether) {
  const Answer answer = decode(GetParam().body + end("tool_calls") + kDone);
  ASSERT_TRUE(answer.step) << answer.failure->error.message;
  EXPECT_EQ(calls_of(answer), GetParam().calls);
}

INSTANTIATE_TEST_SUITE_P(
    Servers, CallQuirk,
    ::testing::Values(
        CallCase{"parallel_by_index",
                 call(R"("index":0,"id":"a","function":{"name":"f","arguments":"{\"x"})") +
                     call(R"("index":1,"id":"b","function":{"name":"g","arguments":"{"})") +
                     call(R"("index":0,"function":{"arguments":"\":1}"})") +
                     call(R"("index":1,"function":{"arguments":"}"})"),
                 {made("a", "f", R"({"x":1})"), made("b", "g", "{}")}},
        CallCase{
            "both_calls_in_one_delta",
            delta(
                R"("tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"f","arguments":"{}"}}])"),
            {made("a", "f", "{}"), made("b", "f", "{}")}},
        CallCase{"all_at_index_zero_with_ids",
                 call(R"("index":0,"id":"a","function":{"name":"f","arguments":"{}"})") +
                     call(R"("index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":"})") +
                     call(R"("index":0,"function":{"arguments":"2}"})"),
                 {made("a", "f", "{}"), made("b", "f", R"({"x":2})")}},
        CallCase{"all_at_index_zero_without_ids",
                 call(R"("index":0,"function":{"name":"f","arguments":"{}"})") +
                     call(R"("index":0,"function":{"name":"f","arguments":"{\"x\":2}"})"),
                 {made("", "f", "{}"), made("", "f", R"({"x":2})")}},
        CallCase{"same_id_for_every_call",
                 call(R"("index":0,"id":"a","function":{"name":"f","arguments":"{}"})") +
                     call(R"("index":1,"id":"a","function":{"name":"g","arguments":"{"})") +
                     call(R"("index":1,"id":"a","function":{"arguments":"}"})"),
                 {made("a", "f", "{}"), made("a", "g", "{}")}},
        CallCase{"no_index_with_id",
                 call(R"("id":"a","function":{"name":"f","arguments":"{\"x\":"})") +
                     call(R"("id":"a","function":{"arguments":"1}"})") +
                     call(R"("id":"b","function":{"name":"g","arguments":"{}"})"),
                 {made("a", "f", R"({"x":1})"), made("b", "g", "{}")}},
        CallCase{"no_index_no_id",
                 call(R"("function":{"name":"f","arguments":"{\"x\":"})") + call(R"("function":{"arguments":"1}"})") +
                     call(R"("function":{"name":"g","arguments":"{}"})"),
                 {made("", "f", R"({"x":1})"), made("", "g", "{}")}},
        CallCase{"head_and_tail_at_different_indexes",
                 call(R"("index":0,"id":"a","function":{"name":"f","arguments":"{}"})") +
                     call(R"("index":0,"id":"b","function":{"name":"g","arguments":"{"})") +
                     call(R"("index":1,"function":{"arguments":"}"})"),
                 {made("a", "f", "{}"), made("b", "g", "{}")}},
        CallCase{"no_id", call(R"("index":0,"function":{"name":"f","arguments":"{}"})"), {made("", "f", "{}")}},
        CallCase{"late_id",
                 call(R"("index":0,"function":{"name":"f","arguments":"{"})") +
                     call(R"("index":0,"id":"a","function":{"arguments":"}"})"),
                 {made("a", "f", "{}")}},
        CallCase{"id_and_name_on_every_fragment",
                 call(R"("index":0,"id":"a","function":{"name":"terminal","arguments":"{\"x\""})") +
                     call(R"("index":0,"id":"a","function":{"name":"terminal","arguments":":1}"})"),
                 {made("a", "terminal", R"({"x":1})")}},
        CallCase{"blank_id_and_name_on_later_fragments",
                 call(R"("index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""})") +
                     call(R"("index":0,"id":"","function":{"name":"","arguments":":1}"})"),
                 {made("a", "f", R"({"x":1})")}},
        CallCase{"name_after_the_first_arguments",
                 call(R"("index":0,"id":"a","function":{"arguments":"{\"x\""})") +
                     call(R"("index":0,"function":{"name":"f","arguments":":1}"})"),
                 {made("a", "f", R"({"x":1})")}},
        CallCase{"arguments_as_an_object",
                 call(R"("index":0,"id":"a","function":{"name":"f","arguments":{"x": 1.0}})"),
                 {made("a", "f", R"({"x": 1.0})")}},
        CallCase{"arguments_null",
                 call(R"("index":0,"id":"a","function":{"name":"f","arguments":null})"),
                 {made("a", "f", "")}},
        CallCase{
            "empty_list_and_empty_call", delta(R"("tool_calls":[])") + call(R"("index":0)") + kSubmit, {kSubmitted}},
        CallCase{
            "a_call_that_never_says_anything", kSubmit + call(R"("index":1,"id":"z","type":"function")"), {kSubmitted}},
        CallCase{"tool_calls_null", delta(R"("tool_calls":null)") + kSubmit, {kSubmitted}},
        CallCase{
            "old_function_call",
            delta(R"("function_call":{"name":"f","arguments":"{"})") + delta(R"("function_call":{"arguments":"}"})"),
            {made("", "f", "{}")}},
        CallCase{"wrapped_parallel_call",
                 call(R"("index":0,"id":"a","function":{"name":"parallel","arguments":"{\"tool_uses\":[]}"})"),
                 {made("a", "parallel", R"({"tool_uses":[]})")}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(OpenAiChatDecoder, RefusesFragmentsThatFitTwoOpenCalls) {
  const Answer answer = decode(call(R"("id":"a","function":{"name":"f","arguments":"{"})") +
                               call(R"("id":"b","function":{"name":"g","arguments":"{"})") +
                               call(R"("function":{"arguments":"}"})") + end("tool_calls") + kDone);
  ASSERT_TRUE(answer.failure);
  EXPECT_TRUE(answer.failure->retryable);
}

TEST(OpenAiChatDecoder, KeepsArgumentBytesExactly) {
  const std::string arguments = R"({\"n\": 1e400, \"n\": 10.00, \"s\": \"\\u0000\\ud83d \ud83d\ude00\"} trailing)";
  const Answer answer =
      decode(call(R"("index":0,"id":"a","function":{"name":"f","arguments":")" + arguments + R"("})") +
             end("tool_calls") + kDone);
  EXPECT_THAT(
      calls_of(answer),
      ElementsAre(made("a", "f", "{\"n\": 1e400, \"n\": 10.00, \"s\": \"\\u0000\\ud83d \xF0\x9F\x98\x80\"} trailing")));
}

TEST(OpenAiChatDecoder, HandsUnencodableArgumentsToTheirJudge) {
  using namespace std::string_literals;
  const Answer answer = decode(call(R"("index":0,"id":"a","function":{"name":"f","arguments":"\"a\u0000b\ud83d"})") +
                               call(R"("index":0,"function":{"arguments":"c"})") + end("tool_calls") + kDone);
  EXPECT_THAT(calls_of(answer), ElementsAre(made("a", "f",
                                                 "\"a\0b\xED\xA0\xBD"
                                                 "c"s)));
}

TEST(OpenAiChatDecoder, JoinsAPairThatIsSplitOverDeltas) {
  const Answer answer = decode(delta(R"("content":"a\ud83d")") + delta(R"("content":"\ude00")") +
                               delta(R"("content":"\u0000\ud83d")") + end("stop") + kDone);
  EXPECT_EQ(text_of(answer), "a\xF0\x9F\x98\x80\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(OpenAiChatDecoder, ReadsReasoningFromWhereverItIs) {
  EXPECT_EQ(reasoning_of(decode(delta(R"("reasoning":"r")") + kText + end("stop"))), "r");
  EXPECT_EQ(reasoning_of(decode(delta(R"("reasoning_content":"r","reasoning":"r")") + kText + end("stop"))), "r");
  const Answer tagged = decode(delta(R"("content":"<thi")") + delta(R"("content":"nk>r</think>\n\nx")") + end("stop"));
  EXPECT_EQ(reasoning_of(tagged), "r");
  EXPECT_EQ(text_of(tagged), "x");
}

TEST(OpenAiChatDecoder, ReadsContentInParts) {
  const Answer answer =
      decode(delta(R"("role":"","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}])") +
             end("stop"));
  EXPECT_EQ(text_of(answer), "ab");
}

TEST(OpenAiChatDecoder, TakesOnlyTheFirstChoice) {
  const Answer answer = decode(event(R"({"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"}]})") +
                               kText + end("stop") + kDone);
  EXPECT_EQ(text_of(answer), "x");
  EXPECT_EQ(finish_of(answer), Finish::Complete);
}

TEST(OpenAiChatDecoder, SurvivesTheUsualDecorations) {
  const std::string body =
      "\xEF\xBB\xBF: OPENROUTER PROCESSING\r\n\r\nevent: message\r\ndata:" +
      std::string(R"({"id":null,"obfuscation":"x","choices":[{"index":0,"delta":{"content":"x"}}]})") +
      "\r\n\r\ndata: \r\n\r\n" +
      "data: {\"choices\":[{\"index\":0,\r\ndata: \"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\n" +
      "data: {\"usage\":null,\"choices\":[]}\r\rdata: [DONE]\r\r";
  const Answer answer = decode(body);
  EXPECT_EQ(text_of(answer), "x");
  EXPECT_EQ(finish_of(answer), Finish::Complete);
  EXPECT_THAT(answer.events, ElementsAre(Event(KeepAlive{}), Event(TextDelta{"x"}), Event(KeepAlive{})));
}

TEST(OpenAiChatDecoder, ReadsUsageFromAnyChunkAndKeepsTheLast) {
  const Answer answer = decode(
      event(
          R"({"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":10,"completion_tokens":1,"total_tokens":11}})") +
      event(
          R"({"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5.0,"total_tokens":15,)"
          R"("prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"completion_tokens_details":{"reasoning_tokens":9}}})") +
      kDone);
  ASSERT_TRUE(answer.step);
  const chat::Usage& seen = answer.step->usage;
  EXPECT_EQ(seen.input_tokens, 3);
  EXPECT_EQ(seen.output_tokens, 5);
  EXPECT_EQ(seen.total_tokens, 15);
  EXPECT_EQ(seen.cache_read_tokens, 4);
  EXPECT_EQ(seen.cache_creation_tokens, 3);
  EXPECT_EQ(seen.reasoning_tokens, 5) << "never more than the completion";
}

TEST(OpenAiChatDecoder, IgnoresNonsenseInUsage) {
  const Answer answer =
      decode(kText + end("stop") +
             event(R"({"choices":[],"usage":{"prompt_tokens":-1,"completion_tokens":1e99,"total_tokens":"7"}})") +
             event(R"({"choices":[],"usage":7})") + kDone);
  ASSERT_TRUE(answer.step);
  EXPECT_TRUE(answer.step->usage.empty());
}

TEST(OpenAiChatDecoder, ReadsAnAnswerThatIsNotStreamed) {
  const Answer answer = decode(
      R"( {"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"t","reasoning":"r","tool_calls":)"
      R"([{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},)"
      R"("finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}})");
  EXPECT_EQ(finish_of(answer), Finish::ToolUse);
  EXPECT_THAT(calls_of(answer), ElementsAre(made("a", "f", "{}"), made("b", "f", "{}")));
  EXPECT_EQ(text_of(answer), "t");
  EXPECT_EQ(reasoning_of(answer), "r");
}

// --- Limits.

Answer decode_arguments(std::string_view tool, std::size_t bytes, std::size_t piece_bytes) {
  const std::string head = call(R"("index":0,"id":"a","function":{"name":")" + std::string(tool) + R"("})");
  std::string body = head;
  for (std::size_t sent = 0; sent < bytes; sent += piece_bytes) {
    const std::size_t size = std::min(piece_bytes, bytes - sent);
    body += call(R"("index":0,"function":{"arguments":")" + std::string(size, '1') + R"("})");
  }
  return decode(body + end("tool_calls") + kDone);
}

TEST(OpenAiChatDecoder, HoldsTheFinalizersArgumentsToTheirCap) {
  for (const std::size_t bytes : {kFinalizerBytesMax - 1, kFinalizerBytesMax}) {
    const auto calls = calls_of(decode_arguments("submit", bytes, 10));
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_FALSE(calls[0].over_cap);
    EXPECT_EQ(calls[0].arguments.size(), bytes);
  }
  const Answer over = decode_arguments("submit", kFinalizerBytesMax + 1, 10);
  ASSERT_EQ(calls_of(over).size(), 1U);
  EXPECT_TRUE(calls_of(over)[0].over_cap);
  EXPECT_THAT(calls_of(over)[0].arguments, IsEmpty());
  EXPECT_EQ(finish_of(over), Finish::ToolUse);
  EXPECT_FALSE(calls_of(decode_arguments("other", kFinalizerBytesMax + 1, 10))[0].over_cap);
}

TEST(OpenAiChatDecoder, HoldsArgumentsThatCameBeforeTheNameToTheSameCap) {
  const std::string bytes(kFinalizerBytesMax + 1, '1');
  const Answer answer = decode(call(R"("index":0,"id":"a","function":{"arguments":")" + bytes + R"("})") +
                               call(R"("index":0,"function":{"name":"submit"})") + end("tool_calls") + kDone);
  ASSERT_EQ(calls_of(answer).size(), 1U);
  EXPECT_TRUE(calls_of(answer)[0].over_cap);
}

TEST(OpenAiChatDecoder, HoldsOtherArgumentsToTheGeneralCap) {
  EXPECT_FALSE(calls_of(decode_arguments("f", chat::kToolArgumentsBytesMax, 300'000))[0].over_cap);
  EXPECT_TRUE(calls_of(decode_arguments("f", chat::kToolArgumentsBytesMax + 1, 300'000))[0].over_cap);
}

TEST(OpenAiChatDecoder, HoldsAllArgumentsTogetherToTheirCap) {
  const auto decode_calls = [](std::size_t calls) {
    std::string body;
    for (std::size_t index = 0; index < calls; ++index) {
      body +=
          call(R"("index":)" + std::to_string(index) + R"(,"id":"c)" + std::to_string(index) +
               R"(","function":{"name":"f","arguments":")" + std::string(chat::kToolArgumentsBytesMax, '1') + R"("})");
    }
    return decode(body + end("tool_calls") + kDone);
  };
  constexpr std::size_t kFitting = kAllArgumentsBytesMax / chat::kToolArgumentsBytesMax;
  EXPECT_TRUE(decode_calls(kFitting).step);
  ASSERT_TRUE(decode_calls(kFitting + 1).failure);
  EXPECT_FALSE(decode_calls(kFitting + 1).failure->retryable);
}

TEST(OpenAiChatDecoder, BoundsTheNumberOfCalls) {
  const auto decode_calls = [](std::size_t calls) {
    std::string body;
    for (std::size_t index = 0; index < calls; ++index) {
      body += call(R"("index":)" + std::to_string(index) + R"(,"id":"c)" + std::to_string(index) +
                   R"(","function":{"name":"f","arguments":"{}"})");
    }
    return decode(body + end("tool_calls") + kDone);
  };
  EXPECT_EQ(calls_of(decode_calls(kToolCallsMax)).size(), kToolCallsMax);
  EXPECT_TRUE(decode_calls(kToolCallsMax + 1).failure);
}

TEST(OpenAiChatDecoder, BoundsTextNamesIdsAndEvents) {
  const auto decode_text = [](std::size_t bytes) {
    std::string body;
    constexpr std::size_t kPiece = 1'000'000;
    for (std::size_t sent = 0; sent < bytes; sent += kPiece) {
      const bool is_reasoning = sent == 0;
      body += delta((is_reasoning ? R"("reasoning":")" : R"("content":")") +
                    std::string(std::min(kPiece, bytes - sent), 'x') + "\"");
    }
    return decode(body + end("stop") + kDone);
  };
  EXPECT_TRUE(decode_text(kTextBytesMax).step);
  EXPECT_TRUE(decode_text(kTextBytesMax + 1).failure);

  const auto decode_name = [](std::size_t name_bytes, std::size_t id_bytes) {
    return decode(call(R"("index":0,"id":")" + std::string(id_bytes, 'i') + R"(","function":{"name":")" +
                       std::string(name_bytes, 'n') + R"(","arguments":"{}"})") +
                  end("tool_calls") + kDone);
  };
  EXPECT_TRUE(decode_name(kToolNameBytesMax, kToolCallIdBytesMax).step);
  EXPECT_TRUE(decode_name(kToolNameBytesMax + 1, 1).failure);
  EXPECT_TRUE(decode_name(1, kToolCallIdBytesMax + 1).failure);

  EXPECT_TRUE(decode("data: " + std::string(kEventBytesMax, 'x')).failure);
  EXPECT_TRUE(decode("{" + std::string(kEventBytesMax, ' ')).failure);
}

// --- The same bytes give the same events, however they are cut.

const std::string kCorpus[] = {
    kSubmit + end("tool_calls") + usage(4) + kDone,
    "\xEF\xBB\xBF: hi\r\n\r\n" + delta("\"reasoning\":\"\xe4\xbd\xa0\"") + delta(R"("content":"\ud83d")") +
        delta(R"("content":"\ude00!")") +
        "data: {\"choices\":[{\"delta\":{},\r\ndata: \"finish_reason\":\"stop\"}]}\r\rdata: [DONE]",
    delta(R"("content":"<think>a</think> b")") + end("stop"),
    kText + event(R"({"error":{"code":503,"message":"x"}})") + kDone,
    kText + event("{broken") + kDone,
    kSubmit + R"(data: {"choices":)",
    R"({"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]})",
    R"([{"error":{"code":400,"message":"bad"}}])",
    "<html>\n\ndata: no\n\n",
};

TEST(OpenAiChatDecoder, GivesTheSameForEverySplitOfTheSameBytes) {
  expect_the_same_for_every_split<OpenAiChatDecoder>(kCorpus);
}

TEST(OpenAiChatDecoder, GivesTheSameForRandomPiecesOfTheSameBytes) {
  expect_the_same_for_random_pieces<OpenAiChatDecoder>(kCorpus);
}

}  // namespace
}  // namespace assay::providers

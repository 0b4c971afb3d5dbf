#include "providers/openai_responses_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "providers/decoder_fixture.h"
#include "providers/replay_state.h"

namespace assay::providers {
namespace {

using structured::Finish;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Answer decode(std::string_view body, std::optional<std::int64_t> cap = std::nullopt, BodyEnd end = BodyEnd::Clean) {
  return decode_pieces<OpenAiResponsesDecoder>({body}, cap, end);
}

std::string event(std::string_view type, std::string_view members) {
  return "event: " + std::string(type) + "\ndata: {\"type\":\"" + std::string(type) + "\"" +
         (members.empty() ? "" : ",") + std::string(members) + "}\n\n";
}
std::string added(int index, std::string_view item) {
  return event("response.output_item.added",
               R"("output_index":)" + std::to_string(index) + R"(,"item":)" + std::string(item));
}
std::string done(int index, std::string_view item) {
  return event("response.output_item.done",
               R"("output_index":)" + std::to_string(index) + R"(,"item":)" + std::string(item));
}
std::string delta(std::string_view kind, int index, std::string_view item_id, std::string_view text) {
  return event("response." + std::string(kind) + ".delta", R"("item_id":")" + std::string(item_id) +
                                                               R"(","output_index":)" + std::to_string(index) +
                                                               R"(,"delta":")" + std::string(text) + "\"");
}
std::string terminal(std::string_view type, std::string_view status, std::string_view output,
                     std::string_view more = R"("error":null,"incomplete_details":null)") {
  return event("response." + std::string(type), R"("response":{"id":"r","object":"response","status":")" +
                                                    std::string(status) + R"(","output":[)" + std::string(output) +
                                                    "]," + std::string(more) + "}");
}
std::string completed(std::string_view output) { return terminal("completed", "completed", output); }
std::string usage_of(int output_tokens) {
  return R"("error":null,"incomplete_details":null,"usage":{"input_tokens":9,"output_tokens":)" +
         std::to_string(output_tokens) + R"(,"total_tokens":13}})";
}
std::string counted(std::string_view output, int output_tokens) {
  std::string more = usage_of(output_tokens);
  more.pop_back();
  return terminal("completed", "completed", output, more);
}

const std::string kCallItem =
    R"({"type":"function_call","id":"fc_1","call_id":"c1","name":"submit","arguments":"{\"output\":1}","status":"completed"})";
const std::string kCallBegins =
    added(
        0,
        R"({"type":"function_call","id":"fc_1","call_id":"c1","name":"submit","arguments":"","status":"in_progress"})") +
    delta("function_call_arguments", 0, "fc_1", R"({\"output\":)") + delta("function_call_arguments", 0, "fc_1", "1}");
const std::string kArgumentsDone =
    event("response.function_call_arguments.done", R"("item_id":"fc_1","output_index":0,"arguments":"{\"output\":1}")");
const std::string kCall = event("response.created", R"("response":{"id":"r","error":null})") + kCallBegins +
                          kArgumentsDone + done(0, kCallItem);
std::string message_item(std::string_view text, std::string_view more = "") {
  return R"({"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":")" +
         std::string(text) + R"(","annotations":[]})" + "]" + std::string(more) + "}";
}
const std::string kText = added(0, R"({"type":"message","id":"m","role":"assistant","content":[]})") +
                          delta("output_text", 0, "m", "Hel") + delta("output_text", 0, "m", "lo") +
                          done(0, message_item("Hello"));

chat::GeneratedToolCall made(std::string id, std::string name, std::string arguments) {
  chat::GeneratedToolCall result;
  result.id = std::move(id);
  result.name = std::move(name);
  result.arguments = std::move(arguments);
  return result;
}

std::vector<chat::GeneratedToolCall> calls_of(const Answer& answer) {
  std::vector<chat::GeneratedToolCall> calls;
  if (!answer.step) return calls;
  for (const auto& part : answer.step->parts) {
    const auto* found = std::get_if<chat::GeneratedToolCall>(&part);
    if (found == nullptr) continue;
    calls.push_back(*found);
    calls.back().provider_state.clear();
  }
  return calls;
}
template <class Part>
std::string text_of_all(const Answer& answer) {
  std::string text;
  if (!answer.step) return text;
  for (const auto& part : answer.step->parts) {
    if (const auto* found = std::get_if<Part>(&part)) text += found->text;
  }
  return text;
}
std::string text_of(const Answer& answer) { return text_of_all<chat::TextPart>(answer); }
std::string reasoning_of(const Answer& answer) { return text_of_all<chat::ReasoningPart>(answer); }
std::string item_in(const std::string& state) {
  const auto item = replayed_item(Wire::OpenAiResponses, state);
  return item ? std::string(item->root().raw()) : "";
}

TEST(OpenAiResponsesDecoder, ReadsAStreamedCall) {
  const Answer answer = decode(kCall + counted(kCallItem, 4));
  ASSERT_TRUE(answer.step) << answer.failure->error.message;
  EXPECT_EQ(answer.step->finish, Finish::ToolUse);
  EXPECT_THAT(calls_of(answer), ElementsAre(made("c1", "submit", R"({"output":1})")));
  EXPECT_EQ(answer.step->usage.input_tokens, 9);
  EXPECT_EQ(answer.step->usage.output_tokens, 4);
  EXPECT_EQ(answer.step->usage.total_tokens, 13);
  EXPECT_THAT(answer.events,
              ElementsAre(Event(KeepAlive{}), Event(ToolCallStarted{.call = 0, .id = "c1", .name = "submit"}),
                          Event(ToolArgumentsDelta{.call = 0, .text = R"({"output":)"}),
                          Event(ToolArgumentsDelta{.call = 0, .text = "1}"}), Event(UsageSeen{answer.step->usage})));
}

TEST(OpenAiResponsesDecoder, KeepsOfACallOnlyWhatItsPartDoesNotSay) {
  const std::string item =
      R"({"id":"fc_1","type":"function_call","status":"completed","arguments":"{}","call_id":"c1","name":"f","namespace":"n","caller":null})";
  const Answer answer = decode(done(0, item) + completed(item));
  ASSERT_TRUE(answer.step);
  const auto& call = std::get<chat::GeneratedToolCall>(answer.step->parts.at(0));
  EXPECT_EQ(item_in(call.provider_state), R"({"id":"fc_1","namespace":"n"})");
}

TEST(OpenAiResponsesDecoder, ReadsReasoningThenTextAndKeepsBothItems) {
  const std::string reasoning =
      R"({"type":"reasoning","id":"rs","encrypted_content":"ZW5j","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}]})";
  const Answer answer =
      decode(added(0, R"({"type":"reasoning","id":"rs","summary":[]})") +
             event("response.reasoning_summary_text.delta",
                   R"("item_id":"rs","output_index":0,"summary_index":0,"delta":"a")") +
             event("response.reasoning_summary_text.delta",
                   R"("item_id":"rs","output_index":0,"summary_index":1,"delta":"b")") +
             done(0, reasoning) + added(1, R"({"type":"message","id":"m","content":[]})") +
             delta("output_text", 1, "m", "Hello") + done(1, message_item("Hello", R"(,"phase":"final_answer")")) +
             completed(reasoning + "," + message_item("Hello", R"(,"phase":"final_answer")")));
  ASSERT_TRUE(answer.step);
  EXPECT_EQ(answer.step->finish, Finish::Complete);
  ASSERT_EQ(answer.step->parts.size(), 2U);
  const auto& thought = std::get<chat::ReasoningPart>(answer.step->parts[0]);
  EXPECT_EQ(thought.text, "a\n\nb");
  EXPECT_EQ(item_in(thought.provider_state), reasoning);
  const auto& text = std::get<chat::TextPart>(answer.step->parts[1]);
  EXPECT_EQ(text.text, "Hello");
  EXPECT_EQ(item_in(text.provider_state),
            R"({"type":"message","id":"m","role":"assistant","status":"completed","phase":"final_answer"})");
  EXPECT_THAT(answer.events, ElementsAre(Event(ReasoningDelta{"a"}), Event(ReasoningDelta{"\n\n"}),
                                         Event(ReasoningDelta{"b"}), Event(TextDelta{"Hello"})));
}

// One slot each: merged, the next request could not be decrypted.
TEST(OpenAiResponsesDecoder, KeepsEachOfManyReasoningItems) {
  std::string body;
  for (int i = 0; i < 10; ++i) {
    const std::string n = std::to_string(i);
    body +=
        done(2 * i, R"({"type":"reasoning","id":"rs)" + n + R"(","encrypted_content":"e)" + n + R"(","summary":[]})");
    body += done(2 * i + 1, R"({"type":"web_search_call","id":"ws)" + n + R"(","status":"completed"})");
  }
  const Answer answer = decode(body + completed(""));
  ASSERT_TRUE(answer.step);
  ASSERT_EQ(answer.step->parts.size(), 30U);
  for (int i = 0; i < 10; ++i) {
    const auto& part = std::get<chat::ReasoningPart>(answer.step->parts[static_cast<std::size_t>(3 * i)]);
    EXPECT_NE(part.provider_state.find("\"e" + std::to_string(i)), std::string::npos);
  }
}

TEST(OpenAiResponsesDecoder, ShowsAndKeepsWhatTheProviderExecuted) {
  const std::string search =
      R"({"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"q"}})";
  const std::string text =
      R"({"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"t","annotations":[)"
      R"({"type":"url_citation","url":"https://e.org","title":"E","start_index":0,"end_index":1},)"
      R"({"type":"url_citation","url":"https://e.org","title":"E"},{"type":"file_citation"}]}]})";
  const Answer answer = decode(added(0, R"({"type":"web_search_call","id":"ws","status":"in_progress"})") +
                               event("response.web_search_call.searching", R"("item_id":"ws","output_index":0)") +
                               done(0, search) + done(1, text) + completed(search + "," + text));
  ASSERT_TRUE(answer.step);
  EXPECT_EQ(answer.step->finish, Finish::Complete);
  ASSERT_EQ(answer.step->parts.size(), 4U);
  const auto& call = std::get<chat::GeneratedToolCall>(answer.step->parts[0]);
  EXPECT_TRUE(call.provider_executed);
  EXPECT_EQ(call.id, "ws");
  EXPECT_EQ(call.name, "web_search");
  EXPECT_EQ(call.arguments, R"({"action":{"type":"search","query":"q"}})");
  EXPECT_EQ(item_in(call.provider_state), search);
  const auto& result = std::get<chat::ToolResultPart>(answer.step->parts[1]);
  EXPECT_EQ(result.call_id, "ws");
  EXPECT_TRUE(result.provider_executed);
  EXPECT_FALSE(result.is_error);
  EXPECT_EQ(result.result, R"({"status":"completed"})");
  EXPECT_NE(std::get<chat::TextPart>(answer.step->parts[2]).provider_state.find("start_index"), std::string::npos);
  const chat::SourcePart source{.id = "source-0", .url = "https://e.org", .title = "E"};
  EXPECT_EQ(answer.step->parts[3], chat::GeneratedPart(source));
  chat::ToolCallPart shown;
  shown.id = "ws";
  shown.name = "web_search";
  shown.arguments = call.arguments;
  shown.provider_executed = true;
  EXPECT_THAT(answer.events, ElementsAre(Event(KeepAlive{}), Event(HostedCall{shown}), Event(HostedResult{result}),
                                         Event(SourceSeen{source}), Event(TextDelta{"t"})));
}

struct HostedCase {
  const char* name;
  std::string item;
  std::string arguments;
  std::string result;
  bool is_error;
};
void PrintTo(const HostedCase& c, std::ostream* out) { *out << c.name; }
class HostedItem : public ::testing::TestWithParam<HostedCase> {};

TEST_P(HostedItem, IsACallAndItsResult) {
  const Answer answer = decode(done(0, GetParam().item) + completed(""));
  ASSERT_TRUE(answer.step);
  ASSERT_EQ(answer.step->parts.size(), 2U);
  const auto& call = std::get<chat::GeneratedToolCall>(answer.step->parts[0]);
  EXPECT_EQ(call.arguments, GetParam().arguments);
  EXPECT_EQ(item_in(call.provider_state), GetParam().item);
  const auto& result = std::get<chat::ToolResultPart>(answer.step->parts[1]);
  EXPECT_EQ(result.result, GetParam().result);
  EXPECT_EQ(result.is_error, GetParam().is_error);
}
INSTANTIATE_TEST_SUITE_P(
    Kinds, HostedItem,
    ::testing::Values(
        HostedCase{"failed_search", R"({"type":"web_search_call","id":"x","status":"failed"})", "{}",
                   R"({"status":"failed"})", true},
        HostedCase{"unfinished_search", R"({"type":"web_search_call","id":"x","status":"searching"})", "{}",
                   R"({"status":"searching"})", true},
        HostedCase{"files", R"({"type":"file_search_call","id":"x","status":"completed","queries":["q"],"results":[]})",
                   R"({"queries":["q"]})", R"({"status":"completed","results":[]})", false},
        HostedCase{"code",
                   R"({"type":"code_interpreter_call","id":"x","status":"completed","code":"1","outputs":null})",
                   R"({"code":"1"})", R"({"status":"completed"})", false},
        HostedCase{"image", R"({"type":"image_generation_call","id":"x","status":"completed","result":"aGk="})", "{}",
                   R"({"status":"completed"})", false},
        HostedCase{"mcp", R"({"type":"mcp_call","id":"x","name":"n","server_label":"s","arguments":"{}","output":"o"})",
                   R"({"server_label":"s","name":"n","arguments":"{}"})", R"({"output":"o"})", false},
        HostedCase{"mcp_error", R"({"type":"mcp_call","id":"x","name":"n","server_label":"s","error":"e"})",
                   R"({"server_label":"s","name":"n"})", R"({"error":"e"})", true}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(OpenAiResponsesDecoder, KeepsItemsThatItDoesNotKnow) {
  const std::string item = R"({"type":"compaction","id":"cmp","encrypted_content":"x"})";
  const Answer answer = decode(done(0, item) + completed(item));
  ASSERT_TRUE(answer.step);
  ASSERT_EQ(answer.step->parts.size(), 1U);
  EXPECT_EQ(item_in(std::get<chat::ProviderItemPart>(answer.step->parts[0]).provider_state), item);
}

TEST(OpenAiResponsesDecoder, DropsAHostedCallThatNeverEnded) {
  const Answer answer = decode(added(0, R"({"type":"web_search_call","id":"ws","status":"in_progress"})") + kText +
                               terminal("incomplete", "incomplete", "", R"("incomplete_details":{"reason":"x"})"));
  ASSERT_TRUE(answer.step);
  EXPECT_EQ(answer.step->parts.size(), 1U);
}

// --- The acceptance rule: what may carry a value, and what may not.

struct FinishCase {
  const char* name;
  std::string body;
  Finish finish;
  std::optional<std::int64_t> cap = std::nullopt;
};
void PrintTo(const FinishCase& c, std::ostream* out) { *out << c.name; }
class ResponsesFinish : public ::testing::TestWithParam<FinishCase> {};

TEST_P(ResponsesFinish, IsJudgedByThePositiveList) {
  const Answer answer = decode(GetParam().body, GetParam().cap);
  ASSERT_TRUE(answer.step) << answer.failure->error.message;
  EXPECT_EQ(answer.step->finish, GetParam().finish);
}

std::string cut(std::string_view reason, std::string_view output = "") {
  return terminal("incomplete", "incomplete", output,
                  R"("incomplete_details":{"reason":")" + std::string(reason) + "\"}");
}
std::string call_item(std::string_view status) {
  return R"({"type":"function_call","id":"fc_1","call_id":"c1","name":"submit","arguments":"{\"output\":1}")" +
         (status.empty() ? std::string() : R"(,"status":")" + std::string(status) + "\"") + "}";
}
const std::string kRefusalItem =
    R"({"type":"message","id":"m2","role":"assistant","status":"completed","content":[{"type":"refusal","refusal":"no"}]})";

INSTANTIATE_TEST_SUITE_P(
    Ends, ResponsesFinish,
    ::testing::Values(
        FinishCase{"call", kCall + completed(kCallItem), Finish::ToolUse},
        FinishCase{"call_without_output_in_the_end", kCall + completed(""), Finish::ToolUse},
        FinishCase{"call_only_in_the_end", completed(kCallItem), Finish::ToolUse},
        FinishCase{"call_without_status", kCallBegins + done(0, call_item("")) + completed(""), Finish::ToolUse},
        FinishCase{"text", kText + completed(message_item("Hello")), Finish::Complete},
        FinishCase{"cut_in_the_middle_of_arguments", kCallBegins + cut("max_output_tokens"), Finish::Length},
        FinishCase{"cut_after_a_full_call", kCall + cut("max_output_tokens", kCallItem), Finish::Length},
        FinishCase{"content_filter", kCall + cut("content_filter", kCallItem), Finish::ContentFilter},
        FinishCase{"incomplete_for_unknown_reason", kCall + cut("boredom", kCallItem), Finish::Unknown},
        FinishCase{"incomplete_without_reason",
                   kCall + terminal("incomplete", "incomplete", kCallItem, R"("incomplete_details":null)"),
                   Finish::Unknown},
        FinishCase{"incomplete_that_says_completed", kCall + terminal("incomplete", "completed", kCallItem),
                   Finish::Unknown},
        FinishCase{"completed_that_says_incomplete",
                   kCall + terminal("completed", "incomplete", kCallItem,
                                    R"("incomplete_details":{"reason":"max_output_tokens"})"),
                   Finish::Length},
        FinishCase{"completed_with_details",
                   kCall + terminal("completed", "completed", kCallItem,
                                    R"("incomplete_details":{"reason":"max_output_tokens"})"),
                   Finish::Unknown},
        FinishCase{"completed_with_an_error",
                   kCall + terminal("completed", "completed", kCallItem, R"("error":{"code":"server_error"})"),
                   Finish::Unknown},
        FinishCase{"unheard_of_status", kCall + terminal("completed", "refusal", kCallItem), Finish::Unknown},
        FinishCase{"no_status", kCall + event("response.completed", R"("response":{"output":[]})"), Finish::Unknown},
        FinishCase{"item_never_done", kCallBegins + kArgumentsDone + completed(""), Finish::Unknown},
        FinishCase{"item_done_but_incomplete", kCallBegins + done(0, call_item("incomplete")) + completed(""),
                   Finish::Unknown},
        FinishCase{"item_incomplete_in_the_end", kCall + completed(call_item("incomplete")), Finish::Unknown},
        FinishCase{"item_incomplete_before_the_end",
                   kCallBegins + done(0, call_item("incomplete")) + completed(kCallItem), Finish::Unknown},
        FinishCase{"refusal", done(0, kRefusalItem) + completed(kRefusalItem), Finish::Refusal},
        FinishCase{"streamed_refusal",
                   added(0, R"({"type":"message","id":"m2"})") + delta("refusal", 0, "m2", "no") + completed(""),
                   Finish::Refusal},
        FinishCase{"refusal_after_a_full_call",
                   kCall + done(1, kRefusalItem) + completed(kCallItem + "," + kRefusalItem), Finish::Refusal},
        FinishCase{"refusal_only_in_the_end", kCall + completed(kCallItem + "," + kRefusalItem), Finish::Refusal},
        FinishCase{"below_cap", kCall + counted(kCallItem, 19), Finish::ToolUse, 20},
        FinishCase{"at_cap", kCall + counted(kCallItem, 20), Finish::Length, 20},
        FinishCase{"over_cap", kCall + counted(kCallItem, 21), Finish::Length, 20},
        FinishCase{"cap_without_usage", kCall + completed(kCallItem), Finish::Unknown, 20},
        FinishCase{"cap_without_usage_text", kText + completed(""), Finish::Complete, 20},
        FinishCase{"whole", R"({"object":"response","status":"completed","error":null,"output":[)" + kCallItem + "]}",
                   Finish::ToolUse},
        FinishCase{
            "whole_incomplete",
            R"( {"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[)" +
                kCallItem + "]}",
            Finish::Length},
        FinishCase{"whole_in_progress", R"({"object":"response","status":"in_progress","output":[]})",
                   Finish::Unknown}),
    [](const auto& test) { return std::string(test.param.name); });

struct FailureCase {
  const char* name;
  std::string body;
  const char* kind;
  bool retryable;
  BodyEnd end = BodyEnd::Clean;
};
void PrintTo(const FailureCase& c, std::ostream* out) { *out << c.name; }
class BrokenResponse : public ::testing::TestWithParam<FailureCase> {};

TEST_P(BrokenResponse, IsAFailure) {
  const FailureCase& c = GetParam();
  const Answer answer = decode(c.body, std::nullopt, c.end);
  ASSERT_TRUE(answer.failure);
  EXPECT_EQ(answer.failure->error.kind, c.kind);
  EXPECT_EQ(answer.failure->retryable, c.retryable);
  EXPECT_EQ(answer.failure->error.message.find("secret"), std::string::npos);
  EXPECT_EQ(answer.failure->error.detail.find("secret"), std::string::npos);
}

std::string failed(std::string_view code) {
  return terminal("failed", "failed", "", R"("error":{"message":"secret","code":")" + std::string(code) + "\"}");
}
std::string other_arguments(std::string_view arguments) {
  return R"({"type":"function_call","id":"fc_1","call_id":"c1","name":"submit","arguments":")" +
         std::string(arguments) + R"(","status":"completed"})";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, BrokenResponse,
    ::testing::Values(
        FailureCase{"nothing", "", "generic", true}, FailureCase{"only_done", "data: [DONE]\n\n", "generic", true},
        FailureCase{"only_comments", ": a\n\n: b\n\n", "generic", true},
        FailureCase{"html", "<html><body>secret</body></html>", "generic", true},
        FailureCase{"words", "data: secret\n\n", "generic", true},
        FailureCase{"malformed_event", kCall + "data: {\"type\"\n\n" + completed(kCallItem), "generic", true},
        FailureCase{"array_event", "data: [1]\n\n", "generic", true},
        FailureCase{"no_terminal_event", kCall, "timeout", true},
        FailureCase{"done_in_place_of_a_terminal_event", kCall + "data: [DONE]\n\n", "timeout", true},
        FailureCase{"cut_body", kCall, "timeout", true, BodyEnd::Cut},
        FailureCase{"cut_event", kCall + R"(data: {"type":"response.comp)", "timeout", true},
        FailureCase{"terminal_without_response", kCall + event("response.completed", ""), "generic", true},
        FailureCase{"failed", kCall + failed("server_error"), "generic", true},
        FailureCase{"failed_by_rate", failed("rate_limit_exceeded"), "rate_limit", true},
        FailureCase{"failed_by_prompt", failed("invalid_prompt"), "content_filter", false},
        FailureCase{"failed_by_policy", failed("bio_policy"), "content_filter", false},
        FailureCase{"failed_by_image", failed("image_parse_error"), "config", false},
        FailureCase{"failed_by_store", failed("vector_store_timeout"), "timeout", true},
        FailureCase{"failed_for_unknown_reason", failed("secret"), "generic", true},
        FailureCase{"failed_without_error", terminal("failed", "failed", ""), "generic", true},
        FailureCase{"completed_that_says_failed",
                    terminal("completed", "failed", "", R"("error":{"code":"server_error","message":"secret"})"),
                    "generic", true},
        FailureCase{"cancelled", kCall + terminal("cancelled", "cancelled", ""), "generic", true},
        FailureCase{"error_event",
                    kCall + event("error", R"("code":"rate_limit_exceeded","message":"secret","param":null)"),
                    "rate_limit", true},
        FailureCase{"nested_error_event",
                    event("error", R"("error":{"type":"overloaded_error","message":"secret","code":null})"),
                    "overloaded", true},
        FailureCase{"error_without_type",
                    R"(data: {"error":{"code":401,"message":"secret"}})"
                    "\n\n",
                    "auth", false},
        FailureCase{"error_by_event_name", "event: error\ndata: {\"code\":\"insufficient_quota\"}\n\n", "usage_limit",
                    false},
        FailureCase{"error_event_in_words", "event: error\ndata: secret\n\n", "generic", true},
        FailureCase{"overflow", event("error", R"("code":"context_length_exceeded","message":"secret")"), "config",
                    false},
        FailureCase{"arguments_done_differ",
                    kCallBegins + event("response.function_call_arguments.done",
                                        R"("item_id":"fc_1","output_index":0,"arguments":"{\"output\":2}")"),
                    "generic", true},
        FailureCase{"item_done_differs", kCallBegins + done(0, other_arguments("{}")) + completed(""), "generic", true},
        FailureCase{"end_differs", kCall + completed(other_arguments("{}")), "generic", true},
        FailureCase{"end_names_another_call",
                    kCall + completed(R"({"type":"function_call","call_id":"c2","name":"submit","arguments":"{}"})"),
                    "generic", true},
        FailureCase{
            "end_names_another_tool",
            kCall +
                completed(
                    R"({"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"output\":1}"})"),
            "generic", true},
        FailureCase{"end_has_lost_a_call", kCall + completed(message_item("x")), "generic", true},
        FailureCase{"deltas_after_their_end", kCall + delta("function_call_arguments", 0, "fc_1", "x"), "generic",
                    true},
        FailureCase{"deltas_of_no_call", delta("function_call_arguments", 0, "fc_1", "x"), "generic", true},
        FailureCase{"nameless_call",
                    done(0, R"({"type":"function_call","call_id":"c","arguments":"{}"})") + completed(""), "generic",
                    true},
        FailureCase{"whole_error", R"({"error":{"message":"secret","type":"server_error"}})", "generic", true},
        FailureCase{"whole_error_in_an_array", R"([{"error":{"message":"secret","code":401}}])", "auth", false},
        FailureCase{"whole_detail", R"({"detail":"secret"})", "generic", true},
        FailureCase{"whole_failed",
                    R"({"object":"response","status":"failed","error":{"code":"rate_limit_exceeded"},"output":[]})",
                    "rate_limit", true},
        FailureCase{"whole_of_another_wire", R"({"choices":[]})", "generic", true},
        FailureCase{"whole_cut", R"({"object":"response","output":[)", "generic", true},
        FailureCase{"whole_cut_by_transport", R"({"object":"response","output":[)", "timeout", true, BodyEnd::Cut}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(OpenAiResponsesDecoder, ReportsContextOverflowAsSuch) {
  EXPECT_TRUE(decode(event("error", R"("code":"context_length_exceeded","message":"x")")).failure->context_overflow);
}

TEST(OpenAiResponsesDecoder, SaysWhenNothingMoreIsOfUse) {
  OpenAiResponsesDecoder decoder({.provider = "p", .output_tokens_max = {}, .capped_tools = {}});
  const EventCallback ignore = [](const Event&) {};
  EXPECT_TRUE(decoder.feed(kCall, ignore));
  EXPECT_FALSE(decoder.feed(completed(kCallItem), ignore));
  EXPECT_FALSE(decoder.feed(event("error", ""), ignore));
  EXPECT_TRUE(decoder.finish(BodyEnd::Cut, ignore).has_value());
}

// --- Quirks of servers in the wild.

struct CallCase {
  const char* name;
  std::string body;
  std::vector<chat::GeneratedToolCall> calls;
};
void PrintTo(const CallCase& c, std::ostream* out) { *out << c.name; }
class ResponsesCallQuirk : public ::testing::TestWithParam<CallCase> {};

TEST_P(ResponsesCallQuirk, IsPutTogether) {
  const Answer answer = decode(GetParam().body);
  ASSERT_TRUE(answer.step) << answer.failure->error.message;
  EXPECT_EQ(answer.step->finish, Finish::ToolUse);
  EXPECT_EQ(calls_of(answer), GetParam().calls);
}

std::string call(std::string_view id, std::string_view call_id, std::string_view name, std::string_view arguments) {
  return R"({"type":"function_call","id":")" + std::string(id) + R"(","call_id":")" + std::string(call_id) +
         R"(","name":")" + std::string(name) + R"(","arguments":")" + std::string(arguments) + "\"}";
}

INSTANTIATE_TEST_SUITE_P(
    Servers, ResponsesCallQuirk,
    ::testing::Values(
        CallCase{"parallel_calls_interleaved",
                 added(0, call("x", "a", "f", "")) + added(1, call("y", "b", "g", "")) +
                     delta("function_call_arguments", 0, "x", "{") + delta("function_call_arguments", 1, "y", "{") +
                     delta("function_call_arguments", 0, "x", "}") + delta("function_call_arguments", 1, "y", "}") +
                     done(1, call("y", "b", "g", "{}")) + done(0, call("x", "a", "f", "{}")) +
                     completed(call("x", "a", "f", "{}") + "," + call("y", "b", "g", "{}")),
                 {made("a", "f", "{}"), made("b", "g", "{}")}},
        CallCase{"all_at_index_zero",
                 added(0, call("x", "a", "f", "")) + added(0, call("y", "b", "g", "")) +
                     delta("function_call_arguments", 0, "x", "{ }") + delta("function_call_arguments", 0, "y", "{}") +
                     done(0, call("x", "a", "f", "{ }")) + done(0, call("y", "b", "g", "{}")) +
                     completed(call("x", "a", "f", "{ }") + "," + call("y", "b", "g", "{}")),
                 {made("a", "f", "{ }"), made("b", "g", "{}")}},
        CallCase{"item_ids_that_change_from_event_to_event",
                 added(0, call("x1", "a", "f", "")) + delta("function_call_arguments", 0, "x2", "{}") +
                     done(0, call("x3", "a", "f", "{}")) + completed(call("x4", "a", "f", "{}")),
                 {made("a", "f", "{}")}},
        CallCase{"no_ids_and_no_indexes",
                 event("response.output_item.added", R"("item":{"type":"function_call","call_id":"a","name":"f"})") +
                     event("response.function_call_arguments.delta", R"("delta":"{}")") +
                     event("response.output_item.done",
                           R"("item":{"type":"function_call","call_id":"a","name":"f","arguments":"{}"})") +
                     completed(""),
                 {made("a", "f", "{}")}},
        CallCase{"no_deltas",
                 added(0, call("x", "a", "f", "")) + done(0, call("x", "a", "f", "{}")) + completed(""),
                 {made("a", "f", "{}")}},
        CallCase{"arguments_as_an_object",
                 done(0, R"({"type":"function_call","call_id":"a","name":"f","arguments":{"x": 1.0}})") + completed(""),
                 {made("a", "f", R"({"x": 1.0})")}},
        CallCase{"no_call_id", done(0, call("x", "", "f", "{}")) + completed(""), {made("x", "f", "{}")}},
        CallCase{"name_at_the_end_alone",
                 added(0, call("x", "a", "", "")) + delta("function_call_arguments", 0, "x", "{}") +
                     done(0, call("x", "a", "f", "{}")) + completed(""),
                 {made("a", "f", "{}")}},
        CallCase{"one_call_id_for_two_calls",
                 done(0, call("x", "a", "f", "{}")) + done(1, call("y", "a", "g", "{}")) +
                     completed(call("x", "a", "f", "{}") + "," + call("y", "a", "g", "{}")),
                 {made("a", "f", "{}"), made("a", "g", "{}")}},
        CallCase{"empty_arguments", done(0, call("x", "a", "f", "")) + completed(""), {made("a", "f", "")}},
        CallCase{"type_in_the_event_name_alone",
                 "event: response.output_item.done\ndata: {\"output_index\":0,\"item\":" + call("x", "a", "f", "{}") +
                     "}\n\n" + completed(""),
                 {made("a", "f", "{}")}},
        CallCase{"wrapped_parallel_call",
                 done(0, call("x", "a", "parallel", R"({\"tool_uses\":[]})")) + completed(""),
                 {made("a", "parallel", R"({"tool_uses":[]})")}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(OpenAiResponsesDecoder, KeepsArgumentBytesExactly) {
  using namespace std::string_literals;
  const std::string literal = R"({\"n\": 1e400, \"n\": 10.00, \"s\": \"\\u0000\ud83d)";
  const std::string rest = R"(\ude00\"} \u0000\ud83d x)";
  const Answer answer = decode(added(0, call("x", "a", "f", "")) + delta("function_call_arguments", 0, "x", literal) +
                               delta("function_call_arguments", 0, "x", rest) +
                               done(0, call("x", "a", "f", literal + rest)) + completed(""));
  EXPECT_THAT(calls_of(answer),
              ElementsAre(made("a", "f",
                               "{\"n\": 1e400, \"n\": 10.00, \"s\": \"\\u0000\xF0\x9F\x98\x80\"} \0\xED\xA0\xBD x"s)));
}

TEST(OpenAiResponsesDecoder, SurvivesTheUsualDecorations) {
  const std::string body = "\xEF\xBB\xBF: hi\r\n\r\ndata:{\"type\":\"keepalive\",\"sequence_number\":3}\r\n\r\n" +
                           event("response.brand_new", R"("x":1)") + "data: \r\n\r\n" +
                           event("response.output_text.delta",
                                 R"("output_index":0,"delta":"Hello","obfuscation":"zz","sequence_number":9)") +
                           "data: {\"type\":\"response.completed\",\r\ndata: \"response\":{\"status\":\"completed\"}}";
  const Answer answer = decode(body);
  ASSERT_TRUE(answer.step) << answer.failure->error.message;
  EXPECT_EQ(answer.step->finish, Finish::Complete);
  EXPECT_EQ(text_of(answer), "Hello");
}

TEST(OpenAiResponsesDecoder, TakesTheFinalTextWhereDeltasSaidLess) {
  EXPECT_EQ(text_of(decode(done(0, message_item("Hello")) + completed(""))), "Hello");
  const Answer more = decode(added(0, R"({"type":"message","id":"m"})") + delta("output_text", 0, "m", "Hel") +
                             done(0, message_item("Hello")) + completed(""));
  EXPECT_THAT(more.events, ElementsAre(Event(TextDelta{"Hel"}), Event(TextDelta{"lo"})));
  const Answer other = decode(added(0, R"({"type":"message","id":"m"})") + delta("output_text", 0, "m", "Hi") +
                              done(0, message_item("Hello")) + completed(""));
  EXPECT_EQ(text_of(other), "Hello");
  const Answer none = decode(added(0, R"({"type":"message","id":"m"})") + delta("output_text", 0, "m", "Hi") +
                             done(0, R"({"type":"message","id":"m","content":[]})") + completed(""));
  EXPECT_EQ(text_of(none), "Hi");
}

TEST(OpenAiResponsesDecoder, JoinsAPairThatIsSplitOverDeltas) {
  const Answer answer = decode(delta("output_text", 0, "m", R"(a\ud83d)") + delta("output_text", 0, "m", R"(\ude00)") +
                               delta("output_text", 0, "m", R"(\u0000\ud83d)") + completed(""));
  EXPECT_EQ(text_of(answer), "a\xF0\x9F\x98\x80\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(OpenAiResponsesDecoder, ReadsReasoningThatOpenModelsShow) {
  const std::string item =
      R"({"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]})";
  const Answer streamed = decode(added(0, R"({"type":"reasoning","id":"r"})") + delta("reasoning_text", 0, "r", "hm") +
                                 done(0, item) + kText + completed(""));
  EXPECT_EQ(reasoning_of(streamed), "hm");
  EXPECT_EQ(reasoning_of(decode(completed(item))), "hm");
}

TEST(OpenAiResponsesDecoder, CountsCachedAndReasoningTokensApart) {
  const Answer answer = decode(
      kText +
      terminal(
          "completed", "completed", "",
          R"("usage":{"input_tokens":10,"output_tokens":5.0,"total_tokens":15,)"
          R"("input_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"output_tokens_details":{"reasoning_tokens":9}})"));
  ASSERT_TRUE(answer.step);
  const chat::Usage& seen = answer.step->usage;
  EXPECT_EQ(seen.input_tokens, 3);
  EXPECT_EQ(seen.output_tokens, 5);
  EXPECT_EQ(seen.total_tokens, 15);
  EXPECT_EQ(seen.cache_read_tokens, 4);
  EXPECT_EQ(seen.cache_creation_tokens, 3);
  EXPECT_EQ(seen.reasoning_tokens, 5) << "never more than the output";
  EXPECT_TRUE(
      decode(kText + terminal("completed", "completed", "", R"("usage":{"input_tokens":-1,"output_tokens":"7"})"))
          .step->usage.empty());
}

// --- Limits.

TEST(OpenAiResponsesDecoder, HoldsTheFinalizersArgumentsToTheirCap) {
  const auto decode_bytes = [](std::size_t bytes, bool is_streamed) {
    const std::string arguments(bytes, '1');
    const std::string item = call("x", "a", "submit", arguments);
    std::string body = added(0, call("x", "a", "submit", ""));
    if (is_streamed) {
      body += delta("function_call_arguments", 0, "x", arguments.substr(0, 10)) +
              delta("function_call_arguments", 0, "x", arguments.substr(10));
    }
    return decode(body + done(0, item) + completed(item));
  };
  for (const bool is_streamed : {true, false}) {
    const auto fitting = calls_of(decode_bytes(kFinalizerBytesMax, is_streamed));
    ASSERT_EQ(fitting.size(), 1U);
    EXPECT_FALSE(fitting[0].over_cap);
    EXPECT_EQ(fitting[0].arguments.size(), kFinalizerBytesMax);
    const Answer over = decode_bytes(kFinalizerBytesMax + 1, is_streamed);
    ASSERT_EQ(calls_of(over).size(), 1U);
    EXPECT_TRUE(calls_of(over)[0].over_cap);
    EXPECT_THAT(calls_of(over)[0].arguments, IsEmpty());
    EXPECT_EQ(over.step->finish, Finish::ToolUse);
  }
}

TEST(OpenAiResponsesDecoder, BoundsItemsCallsTextAndWhatIsKept) {
  const auto items = [](std::size_t count, std::string_view type, std::string_view more) {
    std::string body;
    for (std::size_t i = 0; i < count; ++i) {
      body += done(static_cast<int>(i), R"({"type":")" + std::string(type) + R"(","id":"i)" + std::to_string(i) +
                                            R"(",)" + std::string(more) + "}");
    }
    return decode(body + completed(""));
  };
  EXPECT_TRUE(items(kOutputItemsMax, "reasoning", R"("summary":[])").step);
  ASSERT_TRUE(items(kOutputItemsMax + 1, "reasoning", R"("summary":[])").failure);
  EXPECT_FALSE(items(kOutputItemsMax + 1, "reasoning", R"("summary":[])").failure->retryable);
  EXPECT_TRUE(items(kToolCallsMax, "function_call", R"("name":"f","arguments":"{}")").step);
  EXPECT_TRUE(items(kToolCallsMax + 1, "function_call", R"("name":"f","arguments":"{}")").failure);
  const std::string half = R"("x":")" + std::string(kReplayBytesMax / 2 - 1000, 'x') + '"';
  EXPECT_TRUE(items(2, "compaction", half).step);
  EXPECT_TRUE(items(3, "compaction", half).failure);

  const auto text = [](std::size_t bytes) {
    constexpr std::size_t kPiece = 1'000'000;
    std::string body;
    for (std::size_t sent = 0; sent < bytes; sent += kPiece) {
      body += delta(sent == 0 ? "reasoning_text" : "output_text", 0, sent == 0 ? "r" : "m",
                    std::string(std::min(kPiece, bytes - sent), 'x'));
    }
    return decode(body + completed(""));
  };
  EXPECT_TRUE(text(kTextBytesMax).step);
  EXPECT_TRUE(text(kTextBytesMax + 1).failure);
  EXPECT_TRUE(decode(added(0, call(std::string(kToolCallIdBytesMax + 1, 'i'), "a", "f", ""))).failure);
  EXPECT_TRUE(decode("data: " + std::string(kEventBytesMax, 'x')).failure);
  EXPECT_TRUE(decode("{" + std::string(kEventBytesMax, ' ')).failure);
}

// --- The same bytes give the same events, however they are cut.

const std::string kCorpus[] = {
    kCall + counted(kCallItem, 4),
    "\xEF\xBB\xBF: hi\r\n\r\n" + delta("reasoning_text", 0, "r", "\xe4\xbd\xa0") +
        delta("output_text", 1, "m", R"(\ud83d)") + delta("output_text", 1, "m", R"(\ude00!)") +
        "data: {\"type\":\"response.completed\",\r\ndata: \"response\":{\"status\":\"completed\"}}\r\rdata: [DONE]",
    kText + event("error", R"("code":"server_error","message":"x")"),
    kText + "data: {broken\n\n",
    kCall + R"(data: {"type":)",
    R"({"object":"response","status":"completed","output":[)" + kCallItem + "]}",
    R"([{"error":{"code":400,"message":"bad"}}])",
    "<html>\n\ndata: no\n\n",
};

TEST(OpenAiResponsesDecoder, GivesTheSameForEverySplitOfTheSameBytes) {
  expect_the_same_for_every_split<OpenAiResponsesDecoder>(kCorpus);
}

TEST(OpenAiResponsesDecoder, GivesTheSameForRandomPiecesOfTheSameBytes) {
  expect_the_same_for_random_pieces<OpenAiResponsesDecoder>(kCorpus);
}

}  // namespace
}  // namespace assay::providers

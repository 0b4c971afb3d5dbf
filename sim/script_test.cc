#include "sim/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace assay::sim {
namespace {

using ::testing::HasSubstr;

std::string fault_of(std::string text) {
  const auto script = parse_script(std::move(text));
  return script ? "none" : script.error();
}

TEST(Script, ReadsEverything) {
  const auto script = parse_script(R"({"models":["m"],"rules":[{"name":"n","times":2,
      "when":{"user_contains":"u","system_contains":"s","tool_result_contains":"t","model":"m","has_tool":"a","lacks_tool":"b","has_tool_result":true,"request":3},
      "reply":{"text":"x","reasoning":"r","refusal":"no","fits_schema":true,"finish_reason":null,"usage":null,
               "tool_calls":[{"name":"f","id":"c","arguments":"{bad"},{"name":"g","arguments":{"a": 1}}]},
      "delivery":{"hold":"h","hold_after_events":{"count":1,"point":"p"},"first_byte_delay_ms":1,"event_delay_ms":2,"chunk_characters":3,"split_bytes":4,
                  "cut_after_bytes":5,"stall_after_bytes":6,"reset":true,"done":false,"comments":true,"line_end":"\r\n","headers":{"A":"b"}}}]})");
  ASSERT_TRUE(script.has_value()) << script.error();
  const Rule& rule = script->rules.at(0);
  EXPECT_EQ(rule.times, 2);
  EXPECT_EQ(rule.when.request, 3);
  EXPECT_EQ(rule.delivery.hold_after_events->second, "p");
  EXPECT_EQ(rule.delivery.headers.at(0).second, "b");
  const auto& reply = std::get<Reply>(rule.answer);
  EXPECT_EQ(reply.finish_reason, "");
  EXPECT_EQ(reply.usage, "");
  EXPECT_EQ(reply.tool_calls.at(0).arguments, "{bad");
  EXPECT_EQ(reply.tool_calls.at(1).arguments, R"({"a":1})");
}

TEST(Script, ReadsBytesThatNoTextHolds) {
  using namespace std::string_literals;
  const auto script = parse_script(R"({"rules":[{"body_base64":"AP+A"},{"response_base64":"YQ=="},{"body":""}]})");
  ASSERT_TRUE(script.has_value()) << script.error();
  EXPECT_EQ(std::get<RawBody>(script->rules[0].answer).bytes, "\0\xff\x80"s);
  EXPECT_EQ(std::get<RawResponse>(script->rules[1].answer).bytes, "a");
  EXPECT_EQ(std::get<RawBody>(script->rules[2].answer).bytes, "");
}

TEST(Script, NamesThePlaceOfAFault) {
  EXPECT_EQ(fault_of("{}"), "none");
  EXPECT_THAT(fault_of("{"), HasSubstr("script: "));
  EXPECT_EQ(fault_of("[]"), "script: must be an object");
  EXPECT_EQ(fault_of(R"({"rule":[]})"), "rule: is not known here");
  EXPECT_EQ(fault_of(R"({"rules":[{"reply":{}},{"reply":{"txt":"x"}}]})"), "rules[1].reply.txt: is not known here");
  EXPECT_EQ(fault_of(R"({"rules":[{"reply":{"tool_calls":[{}]}}]})"), "rules[0].reply.tool_calls[0].name: missing");
  EXPECT_EQ(fault_of(R"({"rules":[{"when":{"request":0},"reply":{}}]})"),
            "rules[0].when.request: must be an integer of at least 1");
  EXPECT_THAT(fault_of(R"({"rules":[{}]})"), HasSubstr("rules[0]: needs exactly one of"));
  EXPECT_THAT(fault_of(R"({"rules":[{"reply":{},"body":""}]})"), HasSubstr("needs exactly one of"));
  EXPECT_EQ(fault_of(R"({"rules":[{"body_base64":"?"}]})"), "rules[0].body_base64: is no base64");
  EXPECT_EQ(fault_of(R"({"rules":[{"reply":{},"delivery":{"hold_after_events":{"count":1}}}]})"),
            "rules[0].delivery.hold_after_events.point: missing");
}

TEST(Script, MatchesOnlyWhereEveryConditionHolds) {
  ChatRequest request;
  request.model = "m";
  request.system_text = "system";
  request.user_text = "user text";
  request.tools = {{"a", "{}"}};
  EXPECT_TRUE(matches(Conditions{}, request, 1));
  Conditions when;
  when.user_contains = "user";
  when.has_tool = "a";
  when.lacks_tool = "b";
  when.has_tool_result = false;
  when.request = 1;
  when.model = "m";
  when.system_contains = "sys";
  EXPECT_TRUE(matches(when, request, 1));
  EXPECT_FALSE(matches(when, request, 2));
  when.tool_result_contains = "x";
  EXPECT_FALSE(matches(when, request, 1));
}

// The scripts in the manual are scripts.
TEST(Script, TheManualsExamplesAreValid) {
  std::ifstream file(ASSAY_SOURCE_DIR "/docs/simulator.md");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string manual = text.str();
  int examples = 0;
  for (std::size_t at = manual.find("```json\n"); at != std::string::npos; at = manual.find("```json\n", at)) {
    at += 8;
    const std::size_t end = manual.find("```", at);
    EXPECT_EQ(fault_of(manual.substr(at, end - at)), "none");
    ++examples;
  }
  EXPECT_EQ(examples, 2);
}

}  // namespace
}  // namespace assay::sim

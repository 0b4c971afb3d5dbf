#include "api/client_tools.h"

#include <gtest/gtest.h>

#include <string>

#include "api/body.h"

namespace assay::api {
namespace {

store::User user() {
  store::User user;
  user.id = *UserId::parse("00000000-0000-4000-8000-000000000001");
  return user;
}

std::string declared_field(const std::string& list, bool has_format = false) {
  const auto document = json::Document::parse(list, json::kBodyCaps, json::Dialect::Lenient);
  const auto tools = decode_dynamic_tools(document->root(), has_format);
  if (tools) return "accepted";
  return tools.error().status == 400 ? tools.error().validations.at(0).field : "?";
}

std::string results_field(const std::string& body) {
  const auto results = decode_tool_results(body, user());
  if (results) return "accepted";
  EXPECT_EQ(results.error().status, 400);
  return results.error().validations.empty() ? "none" : results.error().validations[0].field;
}

TEST(DecodeDynamicTools, NamesTheFieldOfEachFault) {
  EXPECT_TRUE(decode_dynamic_tools(std::nullopt, true)->empty());
  EXPECT_EQ(declared_field(R"([{"name":"a"},{"name":"b","input_schema":{}}])"), "accepted");
  EXPECT_EQ(declared_field(R"([{"name":"a"},{"name":"b","input_schema":7}])"), "unsafe_dynamic_tools[1].input_schema");
  EXPECT_EQ(declared_field(R"([{"name":"a"},{}])"), "unsafe_dynamic_tools[1].name");
}

TEST(DecodeDynamicTools, KeepsTheFinalizersNameForStructuredChats) {
  EXPECT_EQ(declared_field(R"([{"name":"coder_structured_output"}])", true), "unsafe_dynamic_tools");
  EXPECT_EQ(declared_field(R"([{"name":"coder_structured_output"}])", false), "accepted");
  EXPECT_EQ(declared_field(R"([{"name":"coder_structured_outputs"}])", true), "accepted");
}

TEST(DecodeToolResults, TakesAnyJsonAsItWasSent) {
  const auto results = decode_tool_results(
      R"({"results":[{"tool_call_id":"a","output":{ "n": 10.00, "m": 1e400, "s": "\/\u00e9" },"is_error":true},)"
      R"({"tool_call_id":"b","output":null},{"tool_call_id":"c","output":"text","is_error":null,"more":1}],"more":1})",
      user());
  ASSERT_TRUE(results.has_value()) << results.error().detail;
  EXPECT_EQ(results->created_by, user().id);
  ASSERT_EQ(results->results.size(), 3u);
  EXPECT_EQ(results->results[0].call_id, "a");
  EXPECT_EQ(results->results[0].output, R"({"n":10.00,"m":1e400,"s":"\/\u00e9"})");
  EXPECT_TRUE(results->results[0].is_error);
  EXPECT_EQ(results->results[1].output, "null");
  EXPECT_FALSE(results->results[1].is_error);
  EXPECT_EQ(results->results[2].output, R"("text")");
}

TEST(DecodeToolResults, ReplacesWhatNoStrictReaderTakes) {
  const auto output_of = [](const std::string& output) {
    const auto results = decode_tool_results(R"({"results":[{"tool_call_id":"a","output":)" + output + "}]}", user());
    return results ? results->results.at(0).output : results.error().message;
  };
  EXPECT_EQ(output_of(R"({"a":["\u0000x\ud800", 1.50, null, true, {"\u0000":{}}]})"),
            "{\"a\":[\"\uFFFDx\uFFFD\",1.50,null,true,{\"\uFFFD\":{}}]}");
  EXPECT_EQ(output_of(R"({"a":1,"a":2})"), R"({"a":1,"a":2})") << "no member is dropped";
}

TEST(DecodeToolResults, NamesTheFieldOfEachFault) {
  EXPECT_EQ(results_field("{}"), "results");
  EXPECT_EQ(results_field(R"({"results":null})"), "results");
  EXPECT_EQ(results_field(R"({"results":[]})"), "results");
  EXPECT_EQ(results_field(R"({"results":{}})"), "results");
  EXPECT_EQ(results_field(R"({"results":[7]})"), "results[0]");
  EXPECT_EQ(results_field(R"({"results":[{"output":1}]})"), "results[0].tool_call_id");
  EXPECT_EQ(results_field(R"({"results":[{"tool_call_id":"","output":1}]})"), "results[0].tool_call_id");
  EXPECT_EQ(results_field(R"({"results":[{"tool_call_id":7,"output":1}]})"), "results[0].tool_call_id");
  EXPECT_EQ(results_field(R"({"results":[{"tool_call_id":"a","output":1},{"tool_call_id":"b"}]})"),
            "results[1].output");
  EXPECT_EQ(results_field(R"({"results":[{"tool_call_id":"a","output":1,"is_error":"no"}]})"), "results[0].is_error");
  EXPECT_EQ(results_field(R"({"results":[{"tool_call_id":"a","output":}]})"), "results") << "no JSON at all";
}

TEST(DecodeToolResults, HasTheLimitOfAnyBody) {
  const std::string frame = R"({"results":[{"tool_call_id":"a","output":""}]})";
  const auto body = [&](std::size_t bytes) {
    std::string text = frame;
    return text.insert(text.size() - 4, bytes - frame.size(), 'x');
  };
  EXPECT_TRUE(decode_tool_results(body(kBodyBytesMax), user()).has_value());
  EXPECT_EQ(decode_tool_results(body(kBodyBytesMax + 1), user()).error().status, 413);
}

}  // namespace
}  // namespace assay::api

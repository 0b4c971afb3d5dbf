#include "providers/openai_chat_encoder.h"

#include <gtest/gtest.h>

#include "json/document.h"
#include "json/limits.h"

namespace assay::providers {
namespace {

ProviderConfig provider() {
  ProviderConfig config;
  config.name = "p";
  config.base_url = "http://127.0.0.1:1/v1";
  return config;
}

ModelSettings model() {
  ModelSettings settings;
  settings.model = "m";
  return settings;
}

chat::PromptRow row(chat::Role role, chat::PromptContent content) {
  return chat::PromptRow{.role = role, .content = std::move(content)};
}
chat::PromptRow user(std::string text) { return row(chat::Role::User, {chat::TextPart{std::move(text)}}); }
chat::ToolCallPart tool_call(std::string id, std::string name, std::string arguments) {
  chat::ToolCallPart part;
  part.id = std::move(id);
  part.name = std::move(name);
  part.arguments = std::move(arguments);
  return part;
}
chat::ToolResultPart tool_result(std::string id, std::string result, bool is_error = false) {
  chat::ToolResultPart part;
  part.call_id = std::move(id);
  part.result = std::move(result);
  part.is_error = is_error;
  return part;
}

// The body's `messages`.
std::string messages(const std::vector<chat::PromptRow>& rows, const ProviderConfig& config = provider()) {
  chat::Prompt prompt;
  prompt.rows = rows;
  const auto body = json::Document::parse(encode_openai_chat(config, model(), prompt).body, json::kEnvelopeCaps);
  return std::string(body->root().find("messages")->raw());
}

TEST(OpenAiChatEncoder, WritesAWholeRequest) {
  ProviderConfig config = provider();
  config.key = Secret("sk");
  config.organization = "org";
  config.project = "proj";
  ModelSettings settings = model();
  settings.output_tokens_max = 100;
  settings.reasoning_effort = "low";
  settings.parallel_tool_calls = false;
  chat::Prompt prompt;
  prompt.system = {"S1", "S2"};
  prompt.rows = {user("hi \"you\"\n")};
  prompt.tools = {{"submit", "Submits.", "{ \"type\": \"object\", \"n\": 10.00 }", true},
                  {"f", "", R"({"type":"object"})", false}};
  const WireRequest request = encode_openai_chat(config, settings, prompt);
  EXPECT_EQ(request.path, "chat/completions");
  EXPECT_EQ(
      request.body,
      R"({"model":"m","messages":[{"role":"system","content":"S1\n\nS2"},{"role":"user","content":"hi \"you\"\n"}],)"
      R"("tools":[{"type":"function","function":{"name":"submit","description":"Submits.","parameters":{ "type": "object", "n": 10.00 },"strict":false}},)"
      R"({"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":"auto","parallel_tool_calls":false,)"
      R"("max_tokens":100,"reasoning_effort":"low","stream":true,"stream_options":{"include_usage":true}})");
  EXPECT_EQ(encode_openai_chat(config, settings, prompt).body, request.body);
  const auto header = [&](std::string_view name) {
    std::string found;
    for (const Header& h : request.headers) {
      if (h.name == name) found += h.value;
    }
    return found;
  };
  EXPECT_EQ(header("Authorization"), "Bearer sk");
  EXPECT_EQ(header("Content-Type"), "application/json");
  EXPECT_EQ(header("Accept"), "text/event-stream");
  EXPECT_EQ(header("OpenAI-Organization"), "org");
  EXPECT_EQ(header("OpenAI-Project"), "proj");
}

TEST(OpenAiChatEncoder, LeavesOutWhatWasNotAskedFor) {
  ModelSettings settings = model();
  settings.parallel_tool_calls = true;
  chat::Prompt prompt;
  prompt.rows = {user("x")};
  EXPECT_EQ(
      encode_openai_chat(provider(), settings, prompt).body,
      R"({"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"include_usage":true}})")
      << "parallel_tool_calls goes with tools only";
}

TEST(OpenAiChatEncoder, FollowsTheProvidersSwitches) {
  ProviderConfig config = provider();
  config.token_cap_field = TokenCapField::MaxCompletionTokens;
  config.system_role = SystemRole::Developer;
  config.accepts_strict = false;
  config.accepts_stream_usage = false;
  ModelSettings settings = model();
  settings.output_tokens_max = 5;
  chat::Prompt prompt;
  prompt.system = {"S"};
  prompt.tools = {{"submit", "", "{}", true}};
  EXPECT_EQ(
      encode_openai_chat(config, settings, prompt).body,
      R"({"model":"m","messages":[{"role":"developer","content":"S"}],"tools":[{"type":"function","function":{"name":"submit","parameters":{}}}],)"
      R"("tool_choice":"auto","max_completion_tokens":5,"stream":true})");
}

TEST(OpenAiChatEncoder, PutsResultsDirectlyBehindTheirCalls) {
  EXPECT_EQ(
      messages({user("u"),
                row(chat::Role::Assistant,
                    {chat::TextPart{"t"}, tool_call("a", "f", R"({"x": 1.0})"), tool_call("b", "g", "")}),
                user("meanwhile"), row(chat::Role::Tool, {tool_result("b", R"({"r":1})")}),
                row(chat::Role::Tool, {tool_result("a", R"("plain\ntext")")})}),
      R"([{"role":"user","content":"u"},)"
      R"({"role":"assistant","content":"t","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": 1.0}"}},)"
      R"({"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"a","content":"plain\ntext"},{"role":"tool","tool_call_id":"b","content":"{\"r\":1}"},)"
      R"({"role":"user","content":"meanwhile"}])");
}

TEST(OpenAiChatEncoder, PairsRepeatedIdsInOrder) {
  EXPECT_EQ(
      messages({row(chat::Role::Assistant, {tool_call("c", "f", "{}")}), row(chat::Role::Tool, {tool_result("c", "1")}),
                row(chat::Role::Assistant, {tool_call("c", "f", "{}")}),
                row(chat::Role::Tool, {tool_result("c", "2")})}),
      R"([{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"c","content":"1"},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"c","content":"2"}])");
}

TEST(OpenAiChatEncoder, SaysErrorsInWords) {
  EXPECT_EQ(
      messages({row(chat::Role::Assistant,
                    {tool_call("a", "f", "{}"), tool_call("b", "f", "{}"), tool_call("c", "f", "{}")}),
                row(chat::Role::Tool, {tool_result("a", R"("bad path")", true), tool_result("b", "\"\"")})}),
      R"([{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},)"
      R"({"id":"b","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},)"
      R"x({"role":"tool","tool_call_id":"a","content":"Error: bad path"},{"role":"tool","tool_call_id":"b","content":"(empty result)"},)x"
      R"({"role":"tool","tool_call_id":"c","content":"Error: the tool call has no result."}])");
}

TEST(OpenAiChatEncoder, MergesAdjacentUserRows) {
  EXPECT_EQ(messages({user("a"), user("b"), row(chat::Role::Assistant, {chat::TextPart{"c"}}), user("d")}),
            R"([{"role":"user","content":"a\n\nb"},{"role":"assistant","content":"c"},{"role":"user","content":"d"}])");
}

TEST(OpenAiChatEncoder, SkipsAssistantRowsThatSayNothing) {
  EXPECT_EQ(messages({user("a"), row(chat::Role::Assistant, {chat::ReasoningPart{.text = "r", .provider_state = ""}}),
                      user("b")}),
            R"([{"role":"user","content":"a\n\nb"}])");
}

TEST(OpenAiChatEncoder, LeavesOutWhatTheProviderExecutedItself) {
  chat::ToolCallPart search = tool_call("s", "web_search", "{}");
  search.provider_executed = true;
  chat::ToolResultPart found = tool_result("s", "[]");
  found.provider_executed = true;
  EXPECT_EQ(messages({row(chat::Role::Assistant, {search, found, chat::TextPart{"x"}})}),
            R"([{"role":"assistant","content":"x"}])");
}

TEST(OpenAiChatEncoder, ReplaysReasoningOnlyWhereTheServerTakesIt) {
  const std::vector<chat::PromptRow> rows = {
      row(chat::Role::Assistant, {chat::ReasoningPart{.text = "r", .provider_state = ""}, tool_call("a", "f", "{}")}),
      row(chat::Role::Tool, {tool_result("a", "1")}), row(chat::Role::Assistant, {tool_call("b", "f", "{}")}),
      row(chat::Role::Tool, {tool_result("b", "1")}), row(chat::Role::Assistant, {chat::TextPart{"t"}})};
  EXPECT_EQ(messages(rows).find("reasoning"), std::string::npos);
  ProviderConfig config = provider();
  config.reasoning_replay = ReasoningReplay::ReasoningContent;
  const std::string text = messages(rows, config);
  EXPECT_NE(text.find(R"("content":null,"reasoning_content":"r","tool_calls")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("content":null,"reasoning_content":"","tool_calls")"), std::string::npos)
      << "a step with calls carries the field even when it is empty: " << text;
  EXPECT_NE(text.find(R"({"role":"assistant","content":"t"})"), std::string::npos) << text;
  config.reasoning_replay = ReasoningReplay::Reasoning;
  EXPECT_NE(messages(rows, config).find(R"("reasoning":"r")"), std::string::npos);
}

TEST(OpenAiChatEncoder, SendsFilesBehindTheText) {
  EXPECT_EQ(messages({row(chat::Role::User,
                          {chat::FilePart{"image/png", "a.png", "foo"}, chat::TextPart{"look"},
                           chat::FilePart{"application/pdf", "", "f"}, chat::FilePart{"text/csv", "t.csv", "1,2"},
                           chat::FilePart{"audio/ogg", "s.ogg", "x"}})}),
            R"([{"role":"user","content":[)"
            R"x({"type":"text","text":"look\n\nt.csv:\n1,2\n\n(s.ogg, of type audio/ogg, cannot be shown here)"},)x"
            R"({"type":"image_url","image_url":{"url":"data:image/png;base64,Zm9v"}},)"
            R"({"type":"file","file":{"filename":"file.pdf","file_data":"data:application/pdf;base64,Zg=="}}]}])");
  EXPECT_EQ(messages({row(chat::Role::User, {chat::FilePart{"image/png", "", "foo"}}), user("next")}),
            R"([{"role":"user","content":[{"type":"text","text":"next"},)"
            R"({"type":"image_url","image_url":{"url":"data:image/png;base64,Zm9v"}}]}])");
}

TEST(OpenAiChatEncoder, NamesTheChatToProvidersThatCacheByIt) {
  chat::Prompt prompt;
  prompt.rows = {user("x")};
  prompt.cache_key = "c";
  ProviderConfig config = provider();
  EXPECT_EQ(encode_openai_chat(config, model(), prompt).body.find("cache"), std::string::npos);
  config.accepts_cache_key = true;
  EXPECT_NE(encode_openai_chat(config, model(), prompt).body.find(R"("prompt_cache_key":"c")"), std::string::npos);
}

TEST(OpenAiChatEncoder, OffersHostedToolsAsConfigured) {
  ModelSettings settings = model();
  settings.hosted_tools = {{"search", R"({ "type": "builtin_function" })"}};
  chat::Prompt prompt;
  prompt.rows = {user("x")};
  EXPECT_NE(encode_openai_chat(provider(), settings, prompt).body.find(R"("tools":[{ "type": "builtin_function" }])"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::providers

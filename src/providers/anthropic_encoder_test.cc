#include "providers/anthropic_encoder.h"

#include <gtest/gtest.h>

#include "json/document.h"
#include "json/limits.h"
#include "providers/replay_state.h"

namespace assay::providers {
namespace {

ProviderConfig provider() {
  ProviderConfig config;
  config.name = "p";
  config.wire = Wire::Anthropic;
  config.base_url = "http://127.0.0.1:1/v1";
  config.prompt_cache = PromptCache::Off;
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
chat::PromptRow assistant(chat::PromptContent content) { return row(chat::Role::Assistant, std::move(content)); }
chat::ToolCallPart call(std::string id, std::string arguments = "{}") {
  chat::ToolCallPart part;
  part.id = std::move(id);
  part.name = "f";
  part.arguments = std::move(arguments);
  return part;
}
chat::PromptRow result(std::string id, std::string text, bool is_error = false) {
  chat::ToolResultPart part;
  part.call_id = std::move(id);
  part.result = std::move(text);
  part.is_error = is_error;
  return row(chat::Role::Tool, {part});
}
std::string state(std::string_view item) { return replay_state(Wire::Anthropic, item); }
chat::ToolCallPart hosted_call(std::string id) {
  chat::ToolCallPart part = call(id);
  part.provider_executed = true;
  part.provider_state = state(R"({"type":"server_tool_use","id":")" + id + R"("})");
  return part;
}
chat::ToolResultPart hosted_result(const std::string& id) {
  chat::ToolResultPart part;
  part.call_id = id;
  part.provider_executed = true;
  part.provider_state = state(R"({"type":"web_search_tool_result","tool_use_id":")" + id + R"("})");
  return part;
}

std::string member(const WireRequest& request, std::string_view name) {
  const auto body = json::Document::parse(request.body, json::kEnvelopeCaps);
  const auto found = body->root().find(name);
  return found ? std::string(found->raw()) : "";
}
std::string messages(const std::vector<chat::PromptRow>& rows, const ProviderConfig& config = provider()) {
  chat::Prompt prompt;
  prompt.rows = rows;
  return member(encode_anthropic(config, model(), prompt), "messages");
}

TEST(AnthropicEncoder, WritesAWholeRequest) {
  ProviderConfig config = provider();
  config.key = Secret("sk");
  config.prompt_cache = PromptCache::FiveMinutes;
  ModelSettings settings = model();
  settings.output_tokens_max = 5000;
  settings.reasoning_effort = "high";
  settings.parallel_tool_calls = false;
  settings.thinking = {.mode = ThinkingMode::Enabled, .budget_tokens = 2048, .display = "omitted"};
  settings.hosted_tools = {{"web_search", R"({ "type": "web_search_20250305", "name": "web_search" })"}};
  chat::Prompt prompt;
  prompt.system = {"S1", " ", "S2"};
  prompt.rows = {user("hi \"you\"\n")};
  prompt.tools = {{.name = "submit",
                   .description = "Submits.",
                   .parameters = R"({"type":"object","items":[{}]})",
                   .strict_off = true,
                   .parameters_2020_12 = R"({ "type": "object", "prefixItems": [10.00] })"},
                  {.name = "f", .description = "", .parameters = R"({"properties":{"a":1e2}})"}};
  const WireRequest request = encode_anthropic(config, settings, prompt);
  EXPECT_EQ(request.path, "messages");
  EXPECT_EQ(
      request.body,
      R"({"model":"m","max_tokens":5000,"system":[{"type":"text","text":"S1"},)"
      R"({"type":"text","text":"S2","cache_control":{"type":"ephemeral"}}],)"
      R"("messages":[{"role":"user","content":[{"type":"text","text":"hi \"you\"\n","cache_control":{"type":"ephemeral"}}]}],)"
      R"("tools":[{ "type": "web_search_20250305", "name": "web_search" },)"
      R"({"name":"submit","description":"Submits.","input_schema":{ "type": "object", "prefixItems": [10.00] }},)"
      R"({"name":"f","input_schema":{"type":"object","properties":{"a":1e2}}}],)"
      R"("tool_choice":{"type":"auto","disable_parallel_tool_use":true},)"
      R"("thinking":{"type":"enabled","budget_tokens":2048,"display":"omitted"},"output_config":{"effort":"high"},)"
      R"("stream":true})");
  EXPECT_EQ(encode_anthropic(config, settings, prompt).body, request.body);
  std::string headers;
  for (const Header& header : request.headers) headers += header.name + "=" + header.value + ";";
  EXPECT_EQ(headers,
            "Content-Type=application/json;Accept=text/event-stream;User-Agent=assay/0.1;x-api-key=sk;"
            "anthropic-version=2026-10-21;");
}

TEST(AnthropicEncoder, LeavesOutWhatWasNotAskedFor) {
  chat::Prompt prompt;
  prompt.rows = {user("x")};
  EXPECT_EQ(encode_anthropic(provider(), model(), prompt).body,
            R"({"model":"m","max_tokens":16384,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],)"
            R"("stream":true})");
}

TEST(AnthropicEncoder, LeavesRoomForAnswersBesideTheThinkingBudget) {
  ModelSettings settings = model();
  settings.thinking = {.mode = ThinkingMode::Enabled, .budget_tokens = 4096, .display = ""};
  EXPECT_EQ(anthropic_tokens_max(settings), 16'384 + 4096);
  settings.output_tokens_max = 5000;
  EXPECT_EQ(anthropic_tokens_max(settings), 5000);
}

TEST(AnthropicEncoder, SaysEachKindOfThinkingAsConfigured) {
  const auto thinking = [](ThinkingMode mode, const char* display = "") {
    ModelSettings settings = model();
    settings.thinking.mode = mode;
    settings.thinking.display = display;
    return member(encode_anthropic(provider(), settings, chat::Prompt{}), "thinking");
  };
  EXPECT_EQ(thinking(ThinkingMode::Unset), "");
  EXPECT_EQ(thinking(ThinkingMode::Adaptive, "summarized"), R"({"type":"adaptive","display":"summarized"})");
  EXPECT_EQ(thinking(ThinkingMode::Disabled), R"({"type":"disabled"})");
  EXPECT_EQ(thinking(ThinkingMode::BetweenTools), R"({"type":"between_tools"})");
}

TEST(AnthropicEncoder, KnowsNoEffortBelowLow) {
  for (const auto& [asked, sent] : {std::pair("none", "low"), {"minimal", "low"}, {"low", "low"}, {"max", "max"}}) {
    ModelSettings settings = model();
    settings.reasoning_effort = asked;
    EXPECT_EQ(member(encode_anthropic(provider(), settings, chat::Prompt{}), "output_config"),
              R"({"effort":")" + std::string(sent) + "\"}");
  }
}

TEST(AnthropicEncoder, MarksTheToolsWhereThereIsNoSystemText) {
  ProviderConfig config = provider();
  config.prompt_cache = PromptCache::OneHour;
  chat::Prompt prompt;
  prompt.tools = {{.name = "f", .description = "", .parameters = R"({"type":"object"})"}};
  EXPECT_EQ(member(encode_anthropic(config, model(), prompt), "tools"),
            R"([{"name":"f","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral","ttl":"1h"}}])");
}

TEST(AnthropicEncoder, MarksTheLastUserMessageThoughAPausedAnswerFollows) {
  ProviderConfig config = provider();
  config.prompt_cache = PromptCache::FiveMinutes;
  EXPECT_EQ(messages({user("a"), user("b"), assistant({chat::TextPart{"c"}})}, config),
            R"([{"role":"user","content":[{"type":"text","text":"a"},)"
            R"({"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]},)"
            R"({"role":"assistant","content":[{"type":"text","text":"c"}]}])");
}

TEST(AnthropicEncoder, PutsResultsFirstIntoTheMessageBehindTheirCalls) {
  EXPECT_EQ(messages({user("u"), assistant({chat::TextPart{"t"}, call("a", R"({"x": 1.0})"), call("b", "")}),
                      user("meanwhile"), result("b", R"("bad path")", true), result("a", R"({"r":1})")}),
            R"([{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[)"
            R"({"type":"text","text":"t"},{"type":"tool_use","id":"a","name":"f","input":{"x": 1.0}},)"
            R"({"type":"tool_use","id":"b","name":"f","input":{}}]},{"role":"user","content":[)"
            R"({"type":"tool_result","tool_use_id":"a","content":"{\"r\":1}"},)"
            R"({"type":"tool_result","tool_use_id":"b","content":"bad path","is_error":true},)"
            R"({"type":"text","text":"meanwhile"}]}])");
}

TEST(AnthropicEncoder, AnswersACallThatNobodyAnswered) {
  EXPECT_EQ(
      messages({user("u"), assistant({call("a")})}),
      R"([{"role":"user","content":[{"type":"text","text":"u"}]},)"
      R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[)"
      R"({"type":"tool_result","tool_use_id":"a","content":"Error: the tool call has no result.","is_error":true}]}])");
}

TEST(AnthropicEncoder, ReplacesIdsThatTheVendorWouldRefuse) {
  const std::string text = messages({user("u"), assistant({call("functions.f:0")}), result("functions.f:0", "1"),
                                     assistant({call("a"), call("a")}), result("a", "2"), result("a", "3")});
  for (
      const char* block :
      {R"({"type":"tool_use","id":"call-1","name":"f","input":{}})",
       R"({"type":"tool_result","tool_use_id":"call-1","content":"1"})",
       R"({"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"a-3","name":"f","input":{}})",
       R"({"type":"tool_result","tool_use_id":"a","content":"2"},{"type":"tool_result","tool_use_id":"a-3","content":"3"})"}) {
    EXPECT_NE(text.find(block), std::string::npos) << block << '\n' << text;
  }
}

TEST(AnthropicEncoder, SendsBackWhatTheModelWroteInItsOrder) {
  EXPECT_EQ(
      messages({user("u"),
                assistant({chat::ReasoningPart{.text = "hm\n", .provider_state = state(R"({"signature":"c2ln\/"})")},
                           chat::ProviderItemPart{state(R"({"type":"redacted_thinking","data":"x"})")},
                           chat::ReasoningPart{.text = "", .provider_state = state(R"({"signature":"e"})")},
                           chat::TextPart{"cited", state(R"([{"url":"https:\/\/x"}])")}, hosted_call("s"),
                           hosted_result("s"), call("a")}),
                result("a", "1")}),
      R"([{"role":"user","content":[{"type":"text","text":"u"}]},{"role":"assistant","content":[)"
      R"({"type":"thinking","thinking":"hm\n","signature":"c2ln\/"},{"type":"redacted_thinking","data":"x"},)"
      R"({"type":"thinking","thinking":"","signature":"e"},)"
      R"({"type":"text","text":"cited","citations":[{"url":"https:\/\/x"}]},{"type":"server_tool_use","id":"s"},)"
      R"({"type":"web_search_tool_result","tool_use_id":"s"},{"type":"tool_use","id":"a","name":"f","input":{}}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}])");
}

TEST(AnthropicEncoder, LeavesOutStateOfAnotherWireAndReasoningWithoutASignature) {
  const std::string foreign = R"({"wire":"openai_chat","item":{"signature":"x","type":"t"}})";
  chat::ToolCallPart search = hosted_call("s");
  search.provider_state = foreign;
  EXPECT_EQ(messages({user("u"), assistant({chat::ReasoningPart{.text = "r", .provider_state = ""},
                                            chat::ReasoningPart{.text = "r", .provider_state = foreign},
                                            chat::ProviderItemPart{foreign}, search, hosted_result("s"),
                                            chat::TextPart{"t", foreign}})}),
            R"([{"role":"user","content":[{"type":"text","text":"u"}]},)"
            R"({"role":"assistant","content":[{"type":"text","text":"t"}]}])");
}

TEST(AnthropicEncoder, SendsAnOpenHostedCallOnlyWhereTheProviderGoesOn) {
  const std::string open = R"({"type":"server_tool_use","id":"s"})";
  EXPECT_NE(messages({user("u"), assistant({hosted_call("s")})}).find(open), std::string::npos);
  EXPECT_EQ(messages({user("u"), assistant({hosted_call("s"), chat::TextPart{"t"}}), user("v")}).find(open),
            std::string::npos);
  const std::string resumed = messages({user("u"), assistant({hosted_call("s")}), assistant({hosted_result("s")})});
  EXPECT_NE(resumed.find(open + R"(,{"type":"web_search_tool_result","tool_use_id":"s"}]}])"), std::string::npos)
      << "a paused answer and its continuation are one message: " << resumed;
}

TEST(AnthropicEncoder, SendsFiles) {
  EXPECT_EQ(
      messages(
          {row(chat::Role::User, {chat::FilePart{"image/png", "a.png", "foo"}, chat::TextPart{"look"},
                                  chat::FilePart{"application/pdf", "my file(1).v2.pdf", "f"},
                                  chat::FilePart{"text/csv", "", "1,2"}, chat::FilePart{"audio/ogg", "s.ogg", "x"}})}),
      R"([{"role":"user","content":[)"
      R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"Zm9v"}},)"
      R"({"type":"text","text":"look"},)"
      R"({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"Zg=="},"title":"my file(1) v2 pdf"},)"
      R"({"type":"document","source":{"type":"text","media_type":"text/plain","data":"1,2"}},)"
      R"x({"type":"text","text":"(s.ogg, of type audio/ogg, cannot be shown here)"}]}])x");
}

TEST(AnthropicEncoder, SendsNoBlankTextAndBeginsWithAUser) {
  EXPECT_EQ(messages({assistant({chat::TextPart{" \n"}, chat::TextPart{"a"}}), user(" "), user("b")}),
            R"x([{"role":"user","content":[{"type":"text","text":"(The conversation goes on.)"}]},)x"
            R"({"role":"assistant","content":[{"type":"text","text":"a"}]},)"
            R"({"role":"user","content":[{"type":"text","text":"b"}]}])");
}

}  // namespace
}  // namespace assay::providers

#include "providers/openai_responses_encoder.h"

#include <gtest/gtest.h>

#include "json/document.h"
#include "json/limits.h"
#include "providers/openai_responses_items.h"
#include "providers/replay_state.h"

namespace assay::providers {
namespace {

ProviderConfig provider() {
  ProviderConfig config;
  config.name = "p";
  config.wire = Wire::OpenAiResponses;
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
std::string state(std::string_view item) { return replay_state(Wire::OpenAiResponses, item); }
chat::ReasoningPart reasoning(std::string_view item) {
  return chat::ReasoningPart{.text = "thought", .provider_state = state(item)};
}

// The body's `input`.
std::string input(const std::vector<chat::PromptRow>& rows) {
  chat::Prompt prompt;
  prompt.rows = rows;
  const auto body =
      json::Document::parse(encode_openai_responses(provider(), model(), prompt).body, json::kEnvelopeCaps);
  return std::string(body->root().find("input")->raw());
}

TEST(OpenAiResponsesEncoder, WritesAWholeRequest) {
  ProviderConfig config = provider();
  config.key = Secret("sk");
  config.organization = "org";
  config.project = "proj";
  config.accepts_cache_key = true;
  ModelSettings settings = model();
  settings.output_tokens_max = 100;
  settings.reasoning_effort = "low";
  settings.reasoning_summary = "auto";
  settings.parallel_tool_calls = false;
  settings.hosted_tools = {{"web_search", R"({"type":"web_search"})"}};
  chat::Prompt prompt;
  prompt.system = {"S1", "S2"};
  prompt.rows = {user("hi \"you\"\n")};
  prompt.cache_key = "chat";
  prompt.tools = {{"submit", "Submits.", "{ \"type\": \"object\", \"n\": 10.00 }", true},
                  {"f", "", R"({"type":"object"})", false}};
  const WireRequest request = encode_openai_responses(config, settings, prompt);
  EXPECT_EQ(request.path, "responses");
  EXPECT_EQ(
      request.body,
      R"({"model":"m","instructions":"S1\n\nS2","input":[{"role":"user","content":"hi \"you\"\n"}],)"
      R"("tools":[{"type":"function","name":"submit","description":"Submits.","parameters":{ "type": "object", "n": 10.00 },"strict":false},)"
      R"({"type":"function","name":"f","parameters":{"type":"object"},"strict":false},{"type":"web_search"}],)"
      R"("tool_choice":"auto","parallel_tool_calls":false,"max_output_tokens":100,"reasoning":{"effort":"low","summary":"auto"},)"
      R"("include":["reasoning.encrypted_content"],"prompt_cache_key":"chat","store":false,"stream":true})");
  EXPECT_EQ(encode_openai_responses(config, settings, prompt).body, request.body);
  const auto header = [&](std::string_view name) {
    std::string found;
    for (const Header& h : request.headers) {
      if (h.name == name) found += h.value;
    }
    return found;
  };
  EXPECT_EQ(header("Authorization"), "Bearer sk");
  EXPECT_EQ(header("Accept"), "text/event-stream");
  EXPECT_EQ(header("OpenAI-Organization"), "org");
  EXPECT_EQ(header("OpenAI-Project"), "proj");
}

TEST(OpenAiResponsesEncoder, LeavesOutWhatWasNotAskedFor) {
  ModelSettings settings = model();
  settings.parallel_tool_calls = true;
  settings.encrypted_reasoning = false;
  ProviderConfig config = provider();
  config.accepts_strict = false;
  chat::Prompt prompt;
  prompt.rows = {user("x")};
  EXPECT_EQ(encode_openai_responses(config, settings, prompt).body,
            R"({"model":"m","input":[{"role":"user","content":"x"}],"store":false,"stream":true})");
  prompt.tools = {{"submit", "", "{}", true}};
  EXPECT_NE(encode_openai_responses(config, settings, prompt)
                .body.find(R"("tools":[{"type":"function","name":"submit","parameters":{}}])"),
            std::string::npos);
}

TEST(OpenAiResponsesEncoder, PutsResultsBehindTheItemsOfTheirRow) {
  EXPECT_EQ(input({user("u"),
                   row(chat::Role::Assistant,
                       {chat::TextPart{"t"}, tool_call("a", "f", R"({"x": 1.0})"), tool_call("b", "g", "")}),
                   user("meanwhile"), row(chat::Role::Tool, {tool_result("b", R"({"r":1})")}),
                   row(chat::Role::Tool, {tool_result("a", R"("plain\ntext")")})}),
            R"([{"role":"user","content":"u"},{"role":"assistant","content":"t"},)"
            R"({"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\": 1.0}"},)"
            R"({"type":"function_call","call_id":"b","name":"g","arguments":"{}"},)"
            R"({"type":"function_call_output","call_id":"a","output":"plain\ntext"},)"
            R"({"type":"function_call_output","call_id":"b","output":"{\"r\":1}"},)"
            R"({"role":"user","content":"meanwhile"}])");
}

TEST(OpenAiResponsesEncoder, SaysErrorsAndMissingResultsInWords) {
  EXPECT_EQ(input({row(chat::Role::Assistant, {tool_call("a", "f", "{}"), tool_call("b", "f", "{}")}),
                   row(chat::Role::Tool, {tool_result("a", R"("bad path")", true)})}),
            R"([{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},)"
            R"({"type":"function_call","call_id":"b","name":"f","arguments":"{}"},)"
            R"({"type":"function_call_output","call_id":"a","output":"Error: bad path"},)"
            R"({"type":"function_call_output","call_id":"b","output":"Error: the tool call has no result."}])");
}

TEST(OpenAiResponsesEncoder, ReplaysItemsAsTheyCameInTheirOrder) {
  const std::string thought = R"({"type":"reasoning","id":"rs","encrypted_content":"ZQ==","summary":[]})";
  const std::string search = R"({"type":"web_search_call","id":"ws","status":"completed"})";
  const std::string opaque = R"({"type":"compaction","id":"cmp"})";
  chat::ToolCallPart hosted = tool_call("ws", "web_search", "{}");
  hosted.provider_executed = true;
  hosted.provider_state = state(search);
  chat::ToolResultPart found = tool_result("ws", "{}");
  found.provider_executed = true;
  chat::ToolCallPart call = tool_call("c", "f", R"({"x": 1.0})");
  call.provider_state = state(R"({"id":"fc","namespace":"n"})");
  const std::string plain = R"({"type":"message","id":"m1","role":"assistant","phase":"commentary"})";
  const std::string cited =
      R"({"type":"message","id":"m2","role":"assistant","content":[{"type":"output_text","text":"t2","annotations":[{"type":"url_citation"}]}]})";
  EXPECT_EQ(
      input({row(chat::Role::Assistant,
                 {reasoning(thought), hosted, found, chat::TextPart{.text = "t1", .provider_state = state(plain)},
                  chat::ProviderItemPart{state(opaque)}, chat::TextPart{.text = "t2", .provider_state = state(cited)},
                  reasoning(thought), call}),
             row(chat::Role::Tool, {tool_result("c", "1")})}),
      "[" + thought + "," + search +
          R"(,{"type":"message","id":"m1","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"t1","annotations":[]}]},)" +
          opaque + "," + cited + "," + thought +
          R"(,{"type":"function_call","id":"fc","namespace":"n","call_id":"c","name":"f","arguments":"{\"x\": 1.0}"},)" +
          R"({"type":"function_call_output","call_id":"c","output":"1"}])");
}

// Each of these is refused by the provider, and then every later turn of the chat.
TEST(OpenAiResponsesEncoder, LeavesOutReasoningThatCannotBeTakenBack) {
  const std::string whole = R"({"type":"reasoning","id":"rs","encrypted_content":"ZQ==","summary":[]})";
  const auto last = [&](chat::PromptContent content) {
    return input({row(chat::Role::Assistant, std::move(content)), user("u")});
  };
  const std::string alone = R"([{"role":"user","content":"u"}])";
  EXPECT_EQ(last({reasoning(whole)}), alone) << "nothing follows it";
  EXPECT_EQ(last({chat::TextPart{"t"}, reasoning(whole)}),
            R"([{"role":"assistant","content":"t"},{"role":"user","content":"u"}])");
  const std::string without = R"([{"role":"assistant","content":"t"},{"role":"user","content":"u"}])";
  EXPECT_EQ(last({reasoning(R"({"type":"reasoning","id":"rs","summary":[]})"), chat::TextPart{"t"}}), without);
  EXPECT_EQ(last({reasoning(R"({"type":"reasoning","encrypted_content":null,"content":[]})"), chat::TextPart{"t"}}),
            without);
  EXPECT_EQ(last({chat::ReasoningPart{.text = "r", .provider_state = ""}, chat::TextPart{"t"}}), without);
  const std::string other_wire = replay_state(Wire::OpenAiChat, whole);
  EXPECT_EQ(last({chat::ReasoningPart{.text = "r", .provider_state = other_wire}, chat::TextPart{"t"}}), without);
  const std::string open = R"({"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"r"}]})";
  EXPECT_EQ(last({reasoning(open), chat::TextPart{"t"}}), "[" + open + "," + without.substr(1));
}

TEST(OpenAiResponsesEncoder, LeavesOutHostedCallsOfOtherWires) {
  chat::ToolCallPart hosted = tool_call("ws", "web_search", "{}");
  hosted.provider_executed = true;
  EXPECT_EQ(input({row(chat::Role::Assistant, {hosted, chat::TextPart{"t"}})}),
            R"([{"role":"assistant","content":"t"}])");
  hosted.provider_state = replay_state(Wire::OpenAiChat, "{}");
  EXPECT_EQ(input({row(chat::Role::Assistant, {hosted})}), "[]");
}

TEST(OpenAiResponsesEncoder, SendsFilesBehindTheText) {
  EXPECT_EQ(
      input({row(chat::Role::User,
                 {chat::FilePart{"image/png", "a.png", "foo"}, chat::TextPart{"look"},
                  chat::FilePart{"application/pdf", "", "f"}, chat::FilePart{"text/csv", "t.csv", "1,2"},
                  chat::FilePart{"audio/ogg", "s.ogg", "x"}})}),
      R"([{"role":"user","content":[)"
      R"x({"type":"input_text","text":"look\n\nt.csv:\n1,2\n\n(s.ogg, of type audio/ogg, cannot be shown here)"},)x"
      R"({"type":"input_image","detail":"auto","image_url":"data:image/png;base64,Zm9v"},)"
      R"({"type":"input_file","filename":"file.pdf","file_data":"data:application/pdf;base64,Zg=="}]}])");
}

}  // namespace
}  // namespace assay::providers

// One prompt with everything in it, as each wire spells it. The files beside are what the vendors' types then judge
// (typecheck_test.cc), so that the judge is not ourselves. ASSAY_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "json/document.h"
#include "json/limits.h"
#include "providers/replay_state.h"
#include "providers/wire.h"
#include "tests/sdk/node_peer.h"

namespace assay::tests {
namespace {

chat::PromptRow row(chat::Role role, chat::PromptContent content) {
  return chat::PromptRow{.role = role, .content = std::move(content)};
}

struct OwnItems {
  std::string reasoning;
  std::string hosted_call;
  std::string hosted_result;
  std::string text;
  std::string hosted_tool;
};

// What a model of the wire has said before, in the wire's own words.
OwnItems own_items(providers::Wire wire) {
  OwnItems items;
  if (providers::wire_name(wire) == "openai_responses") {
    items.hosted_tool = R"({"type":"web_search"})";
    items.reasoning =
        R"({"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"I look."}],"encrypted_content":"ZW5j"})";
    items.hosted_call =
        R"({"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}})";
    items.text =
        R"({"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"Found.","annotations":[{"type":"url_citation","url":"https://example.org","title":"E","start_index":0,"end_index":5}]}]})";
  } else if (providers::wire_name(wire) == "anthropic") {
    items.hosted_tool = R"({"type":"web_search_20250305","name":"web_search","max_uses":2})";
    items.reasoning = R"({"type":"thinking","thinking":"I look.","signature":"c2ln"})";
    items.hosted_call = R"({"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}})";
    items.hosted_result =
        R"({"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://example.org","title":"E","encrypted_content":"ZW5j","page_age":null}]})";
  }
  return items;
}

chat::Prompt whole_prompt(providers::Wire wire) {
  const OwnItems own = own_items(wire);
  const auto state = [&](const std::string& item) {
    return item.empty() ? std::string() : providers::replay_state(wire, item);
  };
  chat::ToolCallPart hosted;
  hosted.id = own.hosted_result.empty() ? "ws_1" : "srvtoolu_1";
  hosted.name = "web_search";
  hosted.arguments = R"({"query":"q"})";
  hosted.provider_executed = true;
  hosted.provider_state = state(own.hosted_call);
  chat::ToolResultPart found;
  found.call_id = hosted.id;
  found.name = hosted.name;
  found.result = "{}";
  found.provider_executed = true;
  found.provider_state = state(own.hosted_result);
  chat::ToolCallPart call;
  call.id = "call_1";
  call.name = "read_file";
  call.arguments = R"({"path":"a \"b\"","line":12345678901234567890})";
  chat::ToolCallPart second = call;
  second.id = "call_2";
  chat::ToolResultPart result;
  result.call_id = "call_1";
  result.result = R"({"text":"x"})";
  chat::ToolResultPart error;
  error.call_id = "call_2";
  error.result = R"("no such file")";
  error.is_error = true;

  chat::Prompt prompt;
  prompt.system = {"Be exact.", "Submit the value with the tool."};
  prompt.cache_key = "7f0c";
  prompt.rows = {
      row(chat::Role::User,
          {chat::TextPart{"Look at these."}, chat::FilePart{"image/png", "a.png", "png"},
           chat::FilePart{"application/pdf", "b.pdf", "pdf"}, chat::FilePart{"text/csv", "c.csv", "1,2"}}),
      row(chat::Role::Assistant,
          {chat::ReasoningPart{.text = "I look.", .provider_state = state(own.reasoning)}, hosted, found,
           chat::TextPart{.text = "Found.", .provider_state = state(own.text)}, call, second}),
      row(chat::Role::Tool, {result, error}),
      row(chat::Role::Assistant, {chat::TextPart{"Plain words."}}),
      row(chat::Role::User, {chat::TextPart{"Now submit."}}),
  };
  chat::ToolDefinition& tool = prompt.tools.emplace_back();
  tool.name = "read_file";
  tool.description = "Reads a file.";
  tool.parameters =
      R"({"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"}},"required":["path"]})";
  const auto wrapped = [](const std::string& output) {
    return R"({"type":"object","properties":{"output":)" + output +
           R"(},"required":["output"],"additionalProperties":false})";
  };
  chat::ToolDefinition& finalizer = prompt.tools.emplace_back();
  finalizer.name = "coder_structured_output";
  finalizer.description = "Submits the value.";
  finalizer.parameters = wrapped(R"({"type":"array","items":[{"const":10.00}],"additionalItems":false})");
  finalizer.strict_off = true;
  finalizer.parameters_2020_12 = wrapped(R"({"type":"array","prefixItems":[{"const":10.00}],"items":false})");
  return prompt;
}

std::string request_of(providers::Wire wire) {
  providers::ProviderConfig provider;
  provider.name = "golden";
  provider.wire = wire;
  provider.base_url = "https://api.example.org/v1";
  provider.accepts_cache_key = true;
  provider.token_cap_field = providers::TokenCapField::MaxCompletionTokens;
  provider.system_role = providers::SystemRole::Developer;
  providers::ModelSettings model;
  model.model = "some-model";
  model.output_tokens_max = 4000;
  model.reasoning_effort = "low";
  model.reasoning_summary = "auto";
  model.parallel_tool_calls = false;
  const OwnItems own = own_items(wire);
  if (!own.hosted_tool.empty()) model.hosted_tools = {{"web_search", own.hosted_tool}};
  return providers::encode(provider, model, whole_prompt(wire)).body;
}

class GoldenRequest : public testing::TestWithParam<providers::Wire> {};

TEST_P(GoldenRequest, IsWhatTheVendorsTypesHaveJudged) {
  const std::string path = beside("golden/" + std::string(providers::wire_name(GetParam())) + ".json");
  const std::string request = request_of(GetParam()) + "\n";
  if (std::getenv("ASSAY_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << request;
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing; ASSAY_UPDATE_GOLDEN=1 writes it";
  EXPECT_EQ(request, std::string(std::istreambuf_iterator<char>(file), {}));
}

// Not one byte of the finalizer's schema changes on the way; strict is off for it, in so many words where a wire has
// it.
TEST_P(GoldenRequest, CarriesTheSchemaAsWritten) {
  const std::string request = request_of(GetParam());
  const chat::ToolDefinition finalizer = whole_prompt(GetParam()).tools.at(1);
  const bool is_respelled = request.find(finalizer.parameters_2020_12) != std::string::npos;
  EXPECT_NE(request.find(finalizer.parameters) != std::string::npos, is_respelled);
  EXPECT_EQ(request.find("\"strict\":true"), std::string::npos);
  EXPECT_EQ(request.find("response_format"), std::string::npos);
  EXPECT_TRUE(json::Document::parse(request, json::kEnvelopeCaps));
}

std::vector<providers::Wire> every_wire() {
  std::vector<providers::Wire> all;
  for (const providers::WireEntry& entry : providers::wires()) all.push_back(entry.wire);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Wires, GoldenRequest, testing::ValuesIn(every_wire()),
                         [](const auto& tested) { return std::string(providers::wire_name(tested.param)); });

}  // namespace
}  // namespace assay::tests

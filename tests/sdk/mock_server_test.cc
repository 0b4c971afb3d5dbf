// assay's client against a mock server of others: a peer that none of our hands wrote.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "net/http_client.h"
#include "net/loop.h"
#include "providers/client.h"
#include "tests/harness/deployment.h"
#include "tests/sdk/node_peer.h"

namespace assay::tests {
namespace {

using providers::Wire;
using structured::Finish;
using Outcome = Result<chat::GeneratedStep, providers::Failure>;

constexpr const char* kFixtures = R"({"fixtures":[
 {"match":{"userMessage":"hello"},"response":{"content":"Hello there, how are you?"}},
 {"match":{"userMessage":"loop","hasToolResult":false},"response":{"toolCalls":[{"name":"add","arguments":"{\"a\":1}","id":"call_9"}]}},
 {"match":{"userMessage":"loop","hasToolResult":true},"response":{"reasoning":"so","reasoningSignature":"c2ln","toolCalls":[{"name":"submit","arguments":"{\"output\":3}"}],"usage":{"input_tokens":20,"output_tokens":6}}},
 {"match":{"userMessage":"cut"},"latency":30,"chunkSize":6,"truncateAfterChunks":4,"response":{"toolCalls":[{"name":"submit","arguments":"{\"output\":{\"a\":\"long\"}}"}]}},
 {"match":{"userMessage":"limit","sequenceIndex":0},"response":{"error":{"message":"slow","type":"rate_limit_error"},"status":429,"retryAfter":2}},
 {"match":{"userMessage":"limit","sequenceIndex":1},"response":{"content":"Now."}}]})";

class MockServer {
 public:
  MockServer()
      : fixtures_(kFixtures, ".json"),
        process_(node(),
                 {modules() + "/node_modules/@copilotkit/aimock/dist/cli.js", "-p", "0", "-h", "127.0.0.1", "-f",
                  fixtures_.path()},
                 {{"HOME", "/tmp"}}) {
    const auto line = process_.wait_for_line("http://127.0.0.1:");
    if (!line) {
      ADD_FAILURE() << process_.output();
      return;
    }
    const std::size_t at = line->find("http://127.0.0.1:");
    url_ = line->substr(at, line->find_first_not_of("0123456789", at + 17) - at);
  }
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  TemporaryFile fixtures_;
  ChildProcess process_;
  std::string url_;
};

chat::PromptRow row(chat::Role role, chat::PromptContent content) {
  return chat::PromptRow{.role = role, .content = std::move(content)};
}

net::Task<> generate_into(net::HttpClient& http, providers::ProviderConfig provider, chat::Prompt prompt,
                          std::optional<Outcome>* outcome) {
  providers::ModelClient client(http);
  providers::ModelSettings model;
  model.model = "mock-model";
  providers::EventCallback ignore = [](const providers::Event&) {};
  *outcome = co_await client.generate(provider, std::move(model), std::move(prompt), std::move(ignore));
}

class MockedWire : public testing::TestWithParam<Wire> {
 protected:
  Outcome ask(const MockServer& server, std::vector<chat::PromptRow> rows) {
    providers::ProviderConfig provider;
    provider.name = "mock";
    provider.wire = GetParam();
    provider.base_url = server.url();
    chat::Prompt prompt;
    prompt.rows = std::move(rows);
    for (const char* name : {"add", "submit"}) {
      chat::ToolDefinition& tool = prompt.tools.emplace_back();
      tool.name = name;
      tool.parameters = R"({"type":"object"})";
    }
    net::Loop loop;
    net::HttpClient http(loop);
    std::optional<Outcome> outcome;
    loop.run(generate_into(http, std::move(provider), std::move(prompt), &outcome));
    return std::move(*outcome);
  }
  static std::vector<chat::PromptRow> asked(std::string text) {
    return {row(chat::Role::User, {chat::TextPart{std::move(text)}})};
  }
};

const chat::GeneratedToolCall* call_in(const chat::GeneratedStep& step) {
  for (const chat::GeneratedPart& part : step.parts) {
    if (const auto* call = std::get_if<chat::GeneratedToolCall>(&part)) return call;
  }
  return nullptr;
}

TEST_P(MockedWire, CarriesTextCallsAndTheirResults) {
  ASSAY_NEEDS_PEERS();
  const MockServer server;
  const Outcome hello = ask(server, asked("hello"));
  ASSERT_TRUE(hello) << hello.error().error.message;
  EXPECT_EQ(hello->finish, Finish::Complete);
  ASSERT_FALSE(hello->parts.empty());
  // On Responses an item of encrypted reasoning stands before it.
  const auto* text = std::get_if<chat::TextPart>(&hello->parts.back());
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(text->text, "Hello there, how are you?");

  const Outcome first = ask(server, asked("loop"));
  ASSERT_TRUE(first) << first.error().error.message;
  EXPECT_EQ(first->finish, Finish::ToolUse);
  const chat::GeneratedToolCall* made = call_in(*first);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->arguments, R"({"a":1})");

  chat::ToolCallPart call;
  call.id = made->id;
  call.name = made->name;
  call.arguments = made->arguments;
  call.provider_state = made->provider_state;
  chat::ToolResultPart result;
  result.call_id = made->id;
  result.result = "3";
  auto rows = asked("loop");
  rows.push_back(row(chat::Role::Assistant, {call}));
  rows.push_back(row(chat::Role::Tool, {result}));
  const Outcome second = ask(server, rows);
  ASSERT_TRUE(second) << second.error().error.message;
  EXPECT_EQ(second->finish, Finish::ToolUse);
  ASSERT_NE(call_in(*second), nullptr);
  EXPECT_EQ(call_in(*second)->arguments, R"({"output":3})");
  EXPECT_EQ(second->usage.output_tokens, 6);
}

TEST_P(MockedWire, CarriesFailures) {
  ASSAY_NEEDS_PEERS();
  const MockServer server;
  const Outcome limited = ask(server, asked("limit"));
  ASSERT_FALSE(limited);
  EXPECT_EQ(limited.error().error.kind, "rate_limit");
  EXPECT_EQ(limited.error().retry_after, Milliseconds(2000));
  EXPECT_TRUE(ask(server, asked("limit")));
  const Outcome cut = ask(server, asked("cut"));
  ASSERT_FALSE(cut);
  EXPECT_TRUE(cut.error().retryable);
}

std::vector<Wire> every_wire() {
  std::vector<Wire> all;
  for (const providers::WireEntry& entry : providers::wires()) all.push_back(entry.wire);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Wires, MockedWire, testing::ValuesIn(every_wire()),
                         [](const auto& tested) { return std::string(providers::wire_name(tested.param)); });

}  // namespace
}  // namespace assay::tests

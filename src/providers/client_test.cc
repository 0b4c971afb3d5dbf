// Hand-written bytes over a real socket; sim/model_client_test.cc goes through the simulator.
#include "providers/client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/loopback_fixture.h"

namespace assay::providers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Outcome = Result<chat::GeneratedStep, Failure>;

constexpr const char* kHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string http_chunk(std::string_view bytes) { return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes); }

net::Task<> generate_into(net::HttpClient* http, std::string url, std::optional<Outcome>* outcome) {
  ModelClient client(*http);
  ProviderConfig provider;
  provider.name = "p";
  provider.base_url = std::move(url);
  ModelSettings model;
  model.model = "m";
  chat::Prompt prompt;
  chat::PromptRow row;
  row.content.emplace_back(chat::TextPart{"hi"});
  prompt.rows.push_back(std::move(row));
  EventCallback ignore = [](const Event&) {};
  *outcome = co_await client.generate(provider, std::move(model), std::move(prompt), std::move(ignore));
}

// The server plays `pieces` after it has read the request.
std::optional<Outcome> generate(const std::vector<std::string>& pieces, std::string* request = nullptr) {
  net::RawListener listener;
  net::LoopThread thread;
  std::optional<Outcome> outcome;
  std::unique_ptr<net::HttpClient> http = thread.call([&] { return std::make_unique<net::HttpClient>(thread.loop()); });
  std::thread server([&] {
    net::RawSocket socket = listener.accept();
    const std::string head = socket.read_until("\r\n\r\n");
    const std::size_t at = head.find("Content-Length: ");
    const std::string body = socket.read_bytes(std::stoul(head.substr(at + 16)));
    if (request != nullptr) *request = head + body;
    for (const std::string& piece : pieces) socket.send(piece);
  });
  thread.run(generate_into(http.get(), listener.url("/v1"), &outcome));
  server.join();
  thread.call([&] { http.reset(); });
  return outcome;
}

TEST(ModelClient, SendsOneRequestAndReadsItsAnswer) {
  std::string request;
  const auto outcome =
      generate({kHead, http_chunk("data: {\"choices\":[{\"delta\":{\"content\":\"\xe4\xbd"),
                http_chunk("\xa0\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\r\n\r\n"), "0\r\n\r\n"},
               &request);
  ASSERT_TRUE(outcome && outcome->has_value());
  EXPECT_THAT((*outcome)->parts, ElementsAre(chat::GeneratedPart(chat::TextPart{"\xe4\xbd\xa0"})));
  EXPECT_THAT(request, HasSubstr("POST /v1/chat/completions HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_EQ(request.find("Authorization"), std::string::npos) << "there is no key";
  EXPECT_THAT(request, HasSubstr(R"({"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true)"));
}

TEST(ModelClient, TakesABodyThatEndsWithItsConnection) {
  const auto outcome =
      generate({"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
                "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n"});
  ASSERT_TRUE(outcome && outcome->has_value());
}

TEST(ModelClient, FailsWithoutTheLastHttpChunk) {
  const auto outcome = generate(
      {kHead, http_chunk("data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n")});
  ASSERT_TRUE(outcome && !outcome->has_value());
  EXPECT_TRUE(outcome->error().retryable);
}

}  // namespace
}  // namespace assay::providers

// Messages that wait, and turns that are interrupted: one receipt for every request all the same.
#include <gmock/gmock.h>

#include <map>

#include "tests/harness/deployment.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kSchema = R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})";
// The first answer says something and then waits; every later one submits a value.
constexpr const char* kTalkingScript =
    R"({"rules":[{"times":1,"reply":{"text":"Let me think about that."},)"
    R"("delivery":{"chunk_characters":4,"hold_after_events":{"count":4,"point":"thinking"}}},)"
    R"({"when":{"has_tool":"coder_structured_output"},"reply":{"fits_schema":true}},{"reply":{"text":"Done."}}]})";

std::string message_body(const std::string& text, const std::string& more = "") {
  return R"({"content":[{"type":"text","text":")" + text + R"("}])" + more + "}";
}
std::string structured_body(const std::string& text, const std::string& more = "") {
  return message_body(text, R"(,"response_format":)" + json_schema_format(kSchema) + more);
}

// The receipts of a chat by request id.
std::map<std::string, std::string> receipts_of(const Deployment& deployment, const std::string& chat) {
  std::map<std::string, std::string> receipts;
  const json::Document page = deployment.messages(chat);
  for (const json::Value message : page.root().find("messages")->elements()) {
    const auto output = message.find("structured_output");
    if (!output) continue;
    EXPECT_TRUE(receipts.emplace(text(*output, "request_id"), std::string(output->raw())).second) << page.text();
  }
  return receipts;
}

class QueueAndInterrupt : public testing::Test {
 protected:
  QueueAndInterrupt() : deployment(kTalkingScript) {}

  void begin_structured_turn() {
    chat = deployment.create_chat("first", json_schema_format(kSchema));
    deployment.simulator().await_point("thinking");
  }
  [[nodiscard]] Reply post(const std::string& path, const std::string& body = "") const {
    return deployment.http().post("/api/v2/chats/" + chat + path, body);
  }
  // Sends while the turn runs; the queued message.
  json::Document queue(const std::string& body) const {
    const Reply sent = post("/messages", body);
    EXPECT_EQ(sent.status, 200) << sent.body;
    EXPECT_THAT(sent.body, HasSubstr(R"("queued":true)"));
    return sent.json();
  }

  Deployment deployment;
  std::string chat;
};

TEST_F(QueueAndInterrupt, AnInterruptedRequestEndsCanceledAndKeepsWhatClientsSaw) {
  begin_structured_turn();
  const Reply interrupted = post("/interrupt?wait=true");
  ASSERT_EQ(interrupted.status, 200) << interrupted.body;
  EXPECT_THAT(interrupted.body, HasSubstr(R"("status":"waiting")")) << "wait=true answers once the run has stopped";
  EXPECT_THAT(deployment.receipt(chat), HasSubstr(R"("code":"interrupted")"));
  EXPECT_THAT(std::string(deployment.messages(chat).text()), HasSubstr("Let me"));
}

TEST_F(QueueAndInterrupt, AQueuedDeletionDisturbsNothingOfTheRunningTurn) {
  begin_structured_turn();
  const json::Document queued = queue(structured_body("second"));
  const auto attempt = "select generation_attempt || '/' || history_version from chats where id = '" + chat + "'";
  const std::string before = deployment.database().value(attempt);
  const std::string id = text(*queued.root().find("queued_message"), "id");
  ASSERT_EQ(deployment.http().send("DELETE", "/api/v2/chats/" + chat + "/queue/" + id, "").status, 204);
  EXPECT_EQ(deployment.database().value(attempt), before);
  deployment.simulator().release("thinking");
  ASSERT_TRUE(deployment.await_end(chat)) << deployment.log();
  EXPECT_EQ(deployment.simulator().request_bodies().size(), 2U) << "the first answer was used, not asked for again";
}

TEST_F(QueueAndInterrupt, AnInvalidStructuredSendLeavesTheRunningTurnUntouched) {
  begin_structured_turn();
  const auto row =
      "select row(status, snapshot_version, queue_length, generation_attempt) from chats where id = '" + chat + "'";
  const std::string before = deployment.database().value(row);
  const Reply refused =
      post("/messages", message_body("now", R"(,"busy_behavior":"interrupt","response_format":{"type":"json_schema",)"
                                            R"("json_schema":{"name":"n","schema":{"$ref":"#"}}})"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("response_format.json_schema.schema"));
  EXPECT_EQ(deployment.database().value(row), before);
}

TEST_F(QueueAndInterrupt, AnInterruptingSendRunsNext) {
  begin_structured_turn();
  queue(structured_body("second", R"(,"busy_behavior":"interrupt")"));
  ASSERT_TRUE(deployment.await_end(chat)) << deployment.log();
  const auto receipts = receipts_of(deployment, chat);
  ASSERT_EQ(receipts.size(), 2U);
  std::string all;
  for (const auto& [id, receipt] : receipts) all += receipt;
  EXPECT_THAT(all, HasSubstr("interrupted"));
  EXPECT_THAT(all, HasSubstr("succeeded"));
}

TEST_F(QueueAndInterrupt, AnInterruptDuringABackoffLeavesNoRetryBehind) {
  Deployment limited(R"({"rules":[{"http":{"status":429,"body":{}},"delivery":{"headers":{"retry-after":"30"}}}]})");
  const std::string waiting = limited.create_chat("go", json_schema_format(kSchema));
  ASSERT_TRUE(limited.http().follow("/api/v2/chats/" + waiting + "/stream", [](const std::string& data) {
    return data.find(R"("type":"retry")") == std::string::npos;
  }));
  ASSERT_EQ(limited.http().post("/api/v2/chats/" + waiting + "/interrupt?wait=true", "").status, 200);
  EXPECT_THAT(limited.receipt(waiting), HasSubstr(R"("code":"interrupted")"));
  EXPECT_EQ(limited.database().value("select retry_state is null from chats"), "t");
}

TEST(AdmissionGate, RefusesNewRequestsAndFinishesAcceptedOnes) {
  Deployment deployment(kTalkingScript);
  const std::string chat = deployment.create_chat("first", json_schema_format(kSchema));
  deployment.simulator().await_point("thinking");
  deployment.server().process().kill();
  ServerOptions closed = deployment.server_options();
  closed.experiments = "";
  Server server(closed);
  const Http http(server.url(), deployment.token());
  EXPECT_TRUE(http.follow("/api/v2/chats/" + chat + "/stream", [](const std::string& data) {
    return data.find(R"("status":"succeeded")") == std::string::npos;
  })) << "accepted work is processed to its end";
  const Reply refused = http.post("/api/v2/chats/" + chat + "/messages", structured_body("again"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr(R"("field":"response_format")"));
  EXPECT_EQ(http.post("/api/v2/chats/" + chat + "/messages", message_body("in words")).status, 200);
  EXPECT_THAT(http.get("/api/v2/chats/" + chat + "/messages").body, HasSubstr(R"("structured_output":{)"));
}

}  // namespace
}  // namespace assay::tests

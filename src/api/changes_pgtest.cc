// Edits, promotions and the model's context over HTTP with a real database.
#include <gtest/gtest.h>

#include "api/api_fixture.h"

namespace assay::api {
namespace {

constexpr std::string_view kText = R"("content":[{"type":"text","text":"instead"}])";

class ApiChangesTest : public ApiTest {
 protected:
  static std::string path(const std::string& id, const std::string& rest) { return "/api/v2/chats/" + id + rest; }
  TestReply edit(const std::string& id, std::int64_t message, std::string_view more = {}) {
    return call("PATCH", path(id, "/messages/" + std::to_string(message)),
                "{" + std::string(kText) + std::string(more) + "}");
  }
  std::string queue(const std::string& id, std::string_view more = {}) {
    const auto sent = call("POST", path(id, "/messages"), "{" + std::string(kText) + std::string(more) + "}");
    EXPECT_EQ(sent.status, 200) << sent.body;
    const auto document = sent.json();
    return std::string(document.root().find("queued_message")->find("id")->raw());
  }
  // `role:status-or-text` of the rows of an answer.
  static std::vector<std::string> rows(const TestReply& reply) {
    std::vector<std::string> told;
    const auto document = reply.json();
    for (const auto row : document.root().find("messages")->elements()) {
      const auto receipt = row.find("structured_output");
      std::string what = receipt ? std::string(receipt->find("error")->find("code")->string()) : "message";
      told.push_back(std::string(row.find("id")->raw()) + ":" + what);
    }
    return told;
  }
  static std::string member(const TestReply& reply, std::string_view name) {
    const auto document = reply.json();
    const auto value = document.root().find(name);
    return value ? std::string(value->raw()) : "";
  }
};

TEST_F(ApiChangesTest, AnEditAnswersWithEveryRowInIdOrderAndWhatIsGone) {
  const std::string id = create_chat(kFormat);
  queue(id, kFormat);
  const auto edited = edit(id, 1);
  ASSERT_EQ(edited.status, 200) << edited.body;
  EXPECT_EQ(rows(edited), (std::vector<std::string>{"2:superseded", "3:superseded", "4:message"}));
  EXPECT_EQ(member(edited, "deleted_message_ids"), "[1]");
  const auto document = edited.json();
  const auto message = *document.root().find("message");
  EXPECT_EQ(message.find("id")->raw(), "4");
  EXPECT_TRUE(message.find("structured_output_request_id")) << "the format is kept, under a fresh request";
  const auto page = call("GET", path(id, "/messages"));
  EXPECT_TRUE(page.body.contains(R"("queued_messages":[])")) << page.body;
  EXPECT_EQ(call("GET", path(id, "")).text("status"), "running");
}

TEST_F(ApiChangesTest, AnEditKeepsClearsOrReplacesTheFormat) {
  const std::string id = create_chat(kFormat);
  const auto kept = edit(id, 1, R"(,"response_format":null)");
  EXPECT_TRUE(kept.body.contains("structured_output_request_id")) << kept.body;
  const auto cleared = edit(id, 3, R"(,"response_format":{"type":"text"})");
  ASSERT_EQ(cleared.status, 200) << cleared.body;
  const auto cleared_document = cleared.json();
  EXPECT_FALSE(cleared_document.root().find("message")->find("structured_output_request_id"));
  EXPECT_EQ(rows(cleared).front(), "4:superseded");
  const auto replaced = edit(id, 5, kFormat);
  const auto document = replaced.json();
  EXPECT_TRUE(document.root().find("message")->find("structured_output_request_id")) << replaced.body;
  EXPECT_EQ(rows(replaced), (std::vector<std::string>{"6:message"})) << "nothing was owed";
}

TEST_F(ApiChangesTest, ABadEditChangesNothing) {
  const std::string id = create_chat(kFormat);
  finish_turn(id, "done");
  const auto before = row_counts();
  EXPECT_EQ(edit(id, 0).status, 400);
  EXPECT_EQ(call("PATCH", path(id, "/messages/x"), "{}").status, 400);
  EXPECT_EQ(edit(id, 2).status, 400) << "not a user's message";
  EXPECT_EQ(edit(id, 99).status, 404);
  EXPECT_EQ(call("PATCH", path(id, "/messages/1"), R"({"content":[]})").status, 400);
  EXPECT_EQ(edit(id, 1, R"(,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"$ref":"#"}}})")
                .field(),
            "response_format.json_schema.schema");
  EXPECT_EQ(edit(id, 1, R"(,"model_config_id":"00000000-0000-4000-8000-00000000ffff")").field(), "model_config_id");
  EXPECT_EQ(row_counts(), before);
  EXPECT_EQ(call("PATCH", path(id, ""), R"({"archived":true})").status, 204);
  EXPECT_EQ(edit(id, 1).status, 400) << "archived";
}

TEST_F(ApiChangesTest, APromotedMessageRunsNext) {
  const std::string id = create_chat();
  queue(id);
  const std::string second = queue(id, kFormat);
  const auto promoted = call("POST", path(id, "/queue/" + second + "/promote"));
  EXPECT_EQ(promoted.status, 202) << promoted.body;
  EXPECT_NE(promoted.text("message"), "(none)");
  EXPECT_EQ(call("GET", path(id, "")).text("status"), "interrupting");
  const auto fence = acquire(id);
  apply(id, chat::FinishInterruption{.fence = fence, .rows = {}, .receipt = std::nullopt});
  const auto page = call("GET", path(id, "/messages"));
  EXPECT_TRUE(page.body.contains("structured_output_request_id"))
      << "the promoted one keeps its request: " << page.body;
  EXPECT_EQ(call("POST", path(id, "/queue/99/promote")).status, 404);
  EXPECT_EQ(call("POST", path(id, "/queue/x/promote")).status, 400);
}

TEST_F(ApiChangesTest, AClearIsDoneAtOnceAndACompactionIsATurn) {
  const std::string id = create_chat();
  const auto busy = call("POST", path(id, "/clear"));
  EXPECT_EQ(busy.status, 409);
  EXPECT_EQ(busy.text("detail"), "Clearing the context is not possible while the chat is running.");
  EXPECT_EQ(call("POST", path(id, "/compact")).status, 409);
  finish_turn(id, "done");
  const auto compacting = call("POST", path(id, "/compact"));
  EXPECT_EQ(compacting.status, 200) << compacting.body;
  EXPECT_EQ(compacting.text("status"), "running");
  finish_turn(id, "in place of a summary");
  const auto cleared = call("POST", path(id, "/clear"));
  EXPECT_EQ(cleared.status, 200) << cleared.body;
  EXPECT_EQ(cleared.text("status"), "waiting");
  EXPECT_TRUE(call("GET", path(id, "/messages")).body.contains("chat_cleared"));
  const auto again = call("POST", path(id, "/clear"));
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.text("detail"), "There is nothing to clear.");
  EXPECT_EQ(call("POST", path(id, "/compact")).status, 409);
  EXPECT_EQ(call("PATCH", path(id, ""), R"({"archived":true})").status, 204);
  EXPECT_EQ(call("POST", path(id, "/clear")).status, 400);
}

TEST_F(ApiChangesTest, PlanModeWaitsForStructuredWork) {
  const std::string id = create_chat(kFormat);
  const auto refused = call("PATCH", path(id, ""), R"({"title":"never","plan_mode":"plan"})");
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_EQ(call("GET", path(id, "")).text("title"), "hello");
  const std::string other = create_chat();
  EXPECT_EQ(call("PATCH", path(other, ""), R"({"plan_mode":"plan"})").status, 204);
  EXPECT_EQ(call("GET", path(other, "")).text("plan_mode"), "plan");
  EXPECT_EQ(edit(other, 1, kFormat).field(), "response_format");
  EXPECT_EQ(call("PATCH", path(other, ""), R"({"plan_mode":""})").status, 204);
}

TEST_F(ApiChangesTest, OnlyTheOwnerMay) {
  const std::string id = create_chat();
  const std::string stranger = token_field(bobs_token);
  EXPECT_EQ(call_with(stranger, "PATCH", path(id, "/messages/1"), "{" + std::string(kText) + "}").status, 404);
  for (const std::string rest : {"/queue/1/promote", "/compact", "/clear"}) {
    EXPECT_EQ(call_with(stranger, "POST", path(id, rest)).status, 404) << rest;
  }
}

TEST_F(ApiChangesTest, TextThatCannotBeStoredIsRefusedByName) {
  const auto before = row_counts();
  const auto content = call("POST", "/api/v2/chats",
                            R"({"organization_id":")" + ann.organization_id.to_string() +
                                R"(","content":[{"type":"text","text":"a"},{"type":"text","text":"nul \u0000"}]})");
  EXPECT_EQ(content.status, 400);
  EXPECT_TRUE(content.text("detail").starts_with("content[1].text holds U+0000")) << content.body;
  for (const std::string text : {R"(half \ud800)", R"(\udc00 half)", R"(\u0000)"}) {
    EXPECT_EQ(call("POST", "/api/v2/chats", create_body(R"(,"system_prompt":")" + text + "\"")).field(),
              "system_prompt");
    EXPECT_EQ(call("POST", "/api/v2/chats", create_body(R"(,"labels":{"k":")" + text + "\"}")).field(), "labels");
  }
  EXPECT_EQ(row_counts(), before);
  EXPECT_EQ(call("POST", "/api/v2/chats", create_body(R"(,"system_prompt":"\ud83d\ude00 \ufffd")")).status, 201)
      << "a pair, and U+FFFD itself, can be stored";
}

TEST_F(ApiChangesTest, AChatIsUnreadUntilItsOwnerOpensItsStream) {
  const std::string id = create_chat();
  EXPECT_TRUE(call("GET", path(id, "")).body.contains(R"("has_unread":false)")) << "one's own message is no news";
  finish_turn(id, "done");
  EXPECT_TRUE(call("GET", path(id, "")).body.contains(R"("has_unread":true)"));
  EXPECT_TRUE(call("GET", "/api/v2/chats?q=has_unread:true").body.contains(id));
  EXPECT_EQ(call("GET", "/api/v2/chats?q=has_unread:false").body, "[]");
  EXPECT_EQ(call("GET", "/api/v2/chats?q=has_unread:maybe").field(), "q");
  auto socket = net::RawSocket::connect(server->port());
  socket.send(head_of("GET", path(id, "/stream"), token_field(token) + "Accept: text/event-stream\r\n") + "\r\n");
  socket.read_until(R"("status":"waiting")");
  EXPECT_TRUE(call("GET", path(id, "")).body.contains(R"("has_unread":false)"));
  EXPECT_EQ(call("GET", "/api/v2/chats?q=has_unread:true").body, "[]");
}

TEST_F(ApiChangesTest, ABodyOverTheLimitIsToldTheLimit) {
  const auto refused = call("POST", "/api/v2/chats", std::string(kBodyBytesMax + 1, ' '));
  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(refused.text("detail"), "At most 262144 bytes are accepted.");
}

}  // namespace
}  // namespace assay::api

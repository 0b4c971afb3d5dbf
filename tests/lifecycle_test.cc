// What people do to a chat while its turns run: edits, promotions, summaries, requests sent twice. One receipt for
// every request all the same.
#include <gmock/gmock.h>

#include <map>

#include "tests/harness/deployment.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* kSchema = R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})";
// The first answer says something and then waits; later ones submit a value where one is asked for.
constexpr const char* kScript =
    R"({"rules":[{"times":1,"reply":{"text":"Let me think about that."},)"
    R"("delivery":{"chunk_characters":4,"hold_after_events":{"count":4,"point":"thinking"}}},)"
    R"({"when":{"has_tool":"coder_structured_output"},"reply":{"fits_schema":true}},{"reply":{"text":"In words."}}]})";

std::string body(const std::string& text, const std::string& more = "") {
  return R"({"content":[{"type":"text","text":")" + text + R"("}])" + more + "}";
}
std::string structured(const std::string& text) {
  return body(text, R"(,"response_format":)" + json_schema_format(kSchema));
}

class Lifecycle : public testing::Test {
 protected:
  Lifecycle() : deployment(kScript) {}

  void begin_structured_turn() {
    chat = deployment.create_chat("first", json_schema_format(kSchema));
    deployment.simulator().await_point("thinking");
  }
  [[nodiscard]] Reply send(const std::string& method, const std::string& path, const std::string& text = "") const {
    return deployment.http().send(method, "/api/v2/chats/" + chat + path, text);
  }
  // The request id and the queue id of a structured message that waits.
  std::pair<std::string, std::string> queue(const std::string& what) const {
    const Reply sent = send("POST", "/messages", structured(what));
    EXPECT_EQ(sent.status, 200) << sent.body;
    const json::Document document = sent.json();
    const json::Value message = *document.root().find("queued_message");
    return {text(message, "structured_output_request_id"), text(message, "id")};
  }
  // Every receipt ever, deleted ones included, by request: `succeeded` or its code.
  std::map<std::string, std::string> outcomes() {
    std::map<std::string, std::string> found;
    for (const auto& row : deployment.database().sql(
             "select p #>> '{structured_output_data,request_id}', coalesce(p #>> "
             "'{structured_output_data,error,code}', 'succeeded') from chat_messages m, "
             "jsonb_array_elements(m.content) p where p ->> 'type' = 'structured-output-outcome'")) {
      EXPECT_TRUE(found.emplace(*row[0], *row[1]).second) << "two receipts of " << *row[0];
    }
    return found;
  }
  std::string first_request() const {
    const json::Document page = deployment.messages(chat);
    for (const json::Value message : page.root().find("messages")->elements()) {
      if (const auto id = message.find("structured_output_request_id")) return std::string(id->string());
    }
    return "";
  }

  Deployment deployment;
  std::string chat;
};

TEST_F(Lifecycle, QueueTwoInterruptTheFirstDeleteOneEditAndEachIdHasItsOwnReceipt) {
  begin_structured_turn();
  const std::string first = first_request();
  const auto [second, second_place] = queue("second");
  const auto [third, third_place] = queue("third");
  ASSERT_EQ(send("DELETE", "/queue/" + third_place).status, 204);
  EXPECT_EQ(outcomes().at(third), "queue_deleted") << "at once, while another turn runs";
  ASSERT_EQ(send("POST", "/interrupt").status, 200);
  ASSERT_TRUE(deployment.await_end(chat)) << deployment.log();
  EXPECT_EQ(outcomes(), (std::map<std::string, std::string>{
                            {first, "interrupted"}, {second, "succeeded"}, {third, "queue_deleted"}}));

  const Reply edited = send("PATCH", "/messages/1", body("first, again"));
  ASSERT_EQ(edited.status, 200) << edited.body;
  const json::Document document = edited.json();
  const std::string fourth = text(*document.root().find("message"), "structured_output_request_id");
  EXPECT_THAT(fourth, Not(testing::AnyOf("", first, second, third))) << "the format is kept under a request of its own";
  ASSERT_TRUE(deployment.await_end(chat)) << deployment.log();
  EXPECT_EQ(outcomes(),
            (std::map<std::string, std::string>{
                {first, "interrupted"}, {second, "succeeded"}, {third, "queue_deleted"}, {fourth, "succeeded"}}));

  ASSERT_EQ(send("POST", "/messages", body("and now in words")).status, 200);
  ASSERT_TRUE(deployment.await_end(chat));
  EXPECT_THAT(std::string(deployment.messages(chat).text()), HasSubstr("In words."));
  EXPECT_THAT(outcomes(), SizeIs(4)) << "an ordinary message does not reuse the old schema";
}

TEST_F(Lifecycle, AnEditDuringARunningTurnSupersedesItAndItsQueue) {
  begin_structured_turn();
  const std::string first = first_request();
  const auto [second, place] = queue("second");
  const Reply edited = send("PATCH", "/messages/1", body("in words", R"(,"response_format":{"type":"text"})"));
  ASSERT_EQ(edited.status, 200) << edited.body;
  ASSERT_TRUE(deployment.await_end(chat)) << deployment.log();
  EXPECT_EQ(outcomes(), (std::map<std::string, std::string>{{first, "superseded"}, {second, "superseded"}}));
  const std::string page(deployment.messages(chat).text());
  EXPECT_THAT(page, HasSubstr("In words."));
  EXPECT_THAT(page, Not(HasSubstr("Let me"))) << "what the abandoned turn had said is no part of the new history";
}

TEST_F(Lifecycle, AStreamIsToldToBeginAnewAfterAnEdit) {
  begin_structured_turn();
  bool was_reset = false;
  std::string after;
  EXPECT_TRUE(deployment.http().follow("/api/v2/chats/" + chat + "/stream", [&](const std::string& data) {
    if (data.find("Let") != std::string::npos && !was_reset && after.empty()) {
      after = "edited";
      EXPECT_EQ(send("PATCH", "/messages/1", body("anew", R"(,"response_format":{"type":"text"})")).status, 200);
    }
    was_reset = was_reset || data.find(R"("type":"history_reset")") != std::string::npos;
    return data.find(R"("status":"waiting")") == std::string::npos;
  }));
  EXPECT_TRUE(was_reset);
}

TEST_F(Lifecycle, APromotedMessageRunsNextUnderItsOwnRequest) {
  begin_structured_turn();
  const std::string first = first_request();
  const auto [second, second_place] = queue("second");
  const auto [third, third_place] = queue("third");
  ASSERT_EQ(send("POST", "/queue/" + third_place + "/promote").status, 202);
  ASSERT_TRUE(deployment.await_end(chat)) << deployment.log();
  EXPECT_EQ(outcomes(),
            (std::map<std::string, std::string>{{first, "interrupted"}, {second, "succeeded"}, {third, "succeeded"}}));
  const std::string page(deployment.messages(chat).text());
  EXPECT_LT(page.find(second), page.find(third)) << "newest first: the promoted one came before";
}

TEST_F(Lifecycle, ACompactedConversationGoesOnFromItsSummary) {
  chat = deployment.create_chat("tell me a secret");
  deployment.simulator().await_point("thinking");
  deployment.simulator().release("thinking");
  ASSERT_TRUE(deployment.await_end(chat));
  ASSERT_EQ(send("POST", "/compact").status, 200);
  ASSERT_TRUE(deployment.await_end(chat)) << deployment.log();
  EXPECT_THAT(std::string(deployment.messages(chat).text()), HasSubstr("chat_summarized"));
  ASSERT_EQ(send("POST", "/messages", structured("go on")).status, 200);
  ASSERT_TRUE(deployment.await_end(chat)) << deployment.log();
  const std::string prompt = deployment.simulator().request_bodies().back();
  EXPECT_THAT(prompt, HasSubstr("In words."));
  EXPECT_THAT(prompt, Not(HasSubstr("tell me a secret")));
  EXPECT_THAT(std::string(deployment.messages(chat).text()), HasSubstr("tell me a secret")) << "clients keep it";
  EXPECT_THAT(outcomes(), SizeIs(1));
}

TEST_F(Lifecycle, ARepeatedSubmissionGetsTheFirstAnswerAlsoFromAnotherServer) {
  const Http keyed = deployment.http().with("Idempotency-Key", "k-1");
  const std::string create = R"({"organization_id":")" + deployment.organization() + R"(",)" + body("first").substr(1);
  const Reply first = keyed.post("/api/v2/chats", create);
  ASSERT_EQ(first.status, 201) << first.body;
  deployment.kill_and_restart();
  const Http later = deployment.http().with("Idempotency-Key", "k-1");
  const Reply second = later.post("/api/v2/chats", create);
  EXPECT_EQ(second.status, 201);
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(later.post("/api/v2/chats", body("other")).status, 409);
  EXPECT_EQ(deployment.database().value("select count(*) from chats"), "1");
}

TEST_F(Lifecycle, AChatIsReadOnceItsOwnerHasFollowedIt) {
  const auto unread = [&] { return deployment.http().get("/api/v2/chats?q=has_unread:true").body != "[]"; };
  chat = deployment.create_chat("hello");
  EXPECT_FALSE(unread()) << "one's own message is no news";
  deployment.simulator().await_point("thinking");
  deployment.simulator().release("thinking");
  ASSERT_TRUE(deployment.await_end(chat));
  ASSERT_EQ(send("POST", "/messages", body("more")).status, 200);
  deployment.simulator().await_requests(2);
  const auto read = "select last_read_message_id = last_message_id from chats";
  ASSERT_TRUE(deployment.await_end(chat));
  EXPECT_TRUE(deployment.await_end(chat)) << "whoever opens a stream has seen the chat";
  EXPECT_EQ(deployment.database().value(read), "t");
  EXPECT_FALSE(unread());
}

}  // namespace
}  // namespace assay::tests

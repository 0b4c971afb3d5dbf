// The Idempotency-Key over HTTP with a real database.
#include <gtest/gtest.h>

#include <thread>

#include "api/api_fixture.h"

namespace assay::api {
namespace {

class ApiOnceTest : public ApiTest {
 protected:
  TestReply post(std::string_view key, const std::string& path, const std::string& body,
                 std::string_view method = "POST") {
    return call_with(token_field(token) + "Idempotency-Key: " + std::string(key) + "\r\n", method, path, body);
  }
  [[nodiscard]] std::string messages_of(const std::string& id) const { return "/api/v2/chats/" + id + "/messages"; }
  static void expect_same(const TestReply& first, const TestReply& second) {
    EXPECT_EQ(first.status, second.status);
    EXPECT_EQ(first.body, second.body);
  }

  const std::string kSend = R"({"content":[{"type":"text","text":"again"}]})";
};

TEST_F(ApiOnceTest, ACreateIsCarriedOutOnce) {
  const auto first = post("k-1", "/api/v2/chats", create_body(kFormat));
  ASSERT_EQ(first.status, 201) << first.body;
  const auto before = row_counts();
  expect_same(first, post("k-1", "/api/v2/chats", create_body(kFormat)));
  expect_same(first, post("k-1", "/api/experimental/chats", create_body(kFormat)));
  EXPECT_EQ(row_counts(), before);
  EXPECT_NE(post("k-2", "/api/v2/chats", create_body(kFormat)).text("id"), first.text("id"));
}

TEST_F(ApiOnceTest, ASendIsCarriedOutOnceAndItsAnswerStaysWhatItWas) {
  const std::string id = create_chat();
  const auto queued = post("k", messages_of(id), kSend);
  ASSERT_TRUE(queued.body.contains(R"("queued":true)")) << queued.body;
  finish_turn(id, "done");  // the message is promoted
  finish_turn(id, "done too");
  const auto before = row_counts();
  expect_same(queued, post("k", messages_of(id), kSend));
  EXPECT_EQ(call("PATCH", "/api/v2/chats/" + id, R"({"archived":true})").status, 204);
  expect_same(queued, post("k", messages_of(id), kSend));
  EXPECT_EQ(post("other", messages_of(id), kSend).status, 400) << "archived";
}

TEST_F(ApiOnceTest, AnEditIsCarriedOutOnce) {
  const std::string id = create_chat();
  const auto first = post("k", messages_of(id) + "/1", kSend, "PATCH");
  ASSERT_EQ(first.status, 200) << first.body;
  expect_same(first, post("k", messages_of(id) + "/1", kSend, "PATCH"));
  EXPECT_EQ(post("k", messages_of(id) + "/2", kSend, "PATCH").status, 409) << "another message is another request";
  EXPECT_EQ(post("l", messages_of(id) + "/1", kSend, "PATCH").status, 404);
}

TEST_F(ApiOnceTest, AChangedBodyIsRefusedAndChangesNothing) {
  const std::string id = post("k", "/api/v2/chats", create_body()).text("id");
  ASSERT_EQ(post("k", messages_of(id), kSend).status, 200) << "another route, another key";
  const auto before = row_counts();
  for (const auto& reply : {post("k", "/api/v2/chats", create_body(kFormat)), post("k", "/api/v2/chats", "not JSON"),
                            post("k", messages_of(id), kSend + " ")}) {
    EXPECT_EQ(reply.status, 409) << reply.body;
    EXPECT_TRUE(reply.text("message").contains("Idempotency-Key")) << reply.body;
  }
  EXPECT_EQ(row_counts(), before);
}

TEST_F(ApiOnceTest, ARefusalIsNotKept) {
  EXPECT_EQ(post("k", "/api/v2/chats", "{}").status, 400);
  EXPECT_EQ(post("k", "/api/v2/chats", create_body()).status, 201);
}

TEST_F(ApiOnceTest, KeysOfTwoUsersAreStrangers) {
  const auto anns = post("k", "/api/v2/chats", create_body());
  const auto bobs =
      call_with(token_field(bobs_token) + "Idempotency-Key: k\r\n", "POST", "/api/v2/chats", create_body());
  EXPECT_EQ(bobs.status, 201) << bobs.body;
  EXPECT_NE(anns.text("id"), bobs.text("id"));
}

TEST_F(ApiOnceTest, AKeyHasItsAlphabetAndLimit) {
  const std::string longest(255, 'k');
  EXPECT_EQ(post(longest, "/api/v2/chats", create_body()).status, 201);
  const auto before = row_counts();
  for (const std::string& key : {std::string(256, 'k'), std::string(), std::string("a b"), std::string("k\xc3\xa9")}) {
    const auto refused = post(key, "/api/v2/chats", create_body());
    EXPECT_EQ(refused.status, 400) << key;
    EXPECT_TRUE(refused.text("message").contains("Idempotency-Key")) << refused.body;
  }
  const auto twice = call_with(token_field(token) + "Idempotency-Key: a\r\nIdempotency-Key: a\r\n", "POST",
                               "/api/v2/chats", create_body());
  EXPECT_EQ(twice.status, 400);
  EXPECT_EQ(row_counts(), before);
}

TEST_F(ApiOnceTest, DuplicatesAtTheSameInstantRunOnce) {
  constexpr std::size_t kClients = 6;
  const auto race = [&](const std::string& path, const std::string& body) {
    std::vector<TestReply> replies(kClients);
    std::vector<std::thread> clients;
    for (auto& reply : replies) clients.emplace_back([&] { reply = post("race", path, body); });
    for (auto& client : clients) client.join();
    for (const auto& reply : replies) expect_same(replies.front(), reply);
    return replies.front();
  };
  const auto created = race("/api/v2/chats", create_body(kFormat));
  ASSERT_EQ(created.status, 201) << created.body;
  // tidy: allow sql because the test looks at what is stored, beside every room
  EXPECT_EQ(database.value("SELECT count(*) FROM chats"), "1");
  const auto sent = race(messages_of(created.text("id")), kSend);
  ASSERT_EQ(sent.status, 200) << sent.body;
  // tidy: allow sql because the test looks at what is stored, beside every room
  EXPECT_EQ(database.value("SELECT count(*) FROM chat_queued_messages"), "1");
}

}  // namespace
}  // namespace assay::api

// The endpoints over HTTP with a real database.
#include <gtest/gtest.h>

#include "api/api.h"
#include "api/api_fixture.h"

namespace assay::api {
namespace {

const std::string kUnknownChat = "/api/v2/chats/00000000-0000-4000-8000-00000000ffff";

class ApiAuthTest : public ApiTest {};
class ApiChatTest : public ApiTest {};
class ApiMessageTest : public ApiTest {};
class ApiRefusalTest : public ApiTest {};
class ApiOperationTest : public ApiTest {};

// --- Who may ---------------------------------------------------------------------------------------------------

TEST_F(ApiAuthTest, TakesTheTokenInEitherHeader) {
  EXPECT_EQ(call_with(token_field(token), "GET", "/api/v2/users/me").status, 200);
  EXPECT_EQ(call_with("Authorization: Bearer " + token + "\r\n", "GET", "/api/v2/users/me").status, 200);
  EXPECT_EQ(call_with("authorization: bearer " + token + "\r\n", "GET", "/api/v2/users/me").status, 200);
}

TEST_F(ApiAuthTest, RefusesWhoeverHasNoValidToken) {
  for (const std::string& fields : {std::string(), token_field("nonsense"), token_field(token + "x"),
                                    std::string("Authorization: Basic abc\r\n")}) {
    const auto reply = call_with(fields, "GET", "/api/v2/chats");
    EXPECT_EQ(reply.status, 401) << fields;
    EXPECT_NE(reply.text("message"), "(none)");
    EXPECT_TRUE(reply.head.contains("Content-Type: application/json")) << reply.head;
  }
  EXPECT_EQ(call_with("", "GET", kUnknownChat + "/stream").status, 401);
  EXPECT_EQ(call_with("", "POST", "/api/v2/chats", "not even JSON").status, 401);
}

TEST_F(ApiAuthTest, HidesChatsFromEverybodyButTheirOwner) {
  const std::string path = "/api/v2/chats/" + create_chat();
  const std::string bob_field = token_field(bobs_token);
  const auto before = row_counts();
  for (const auto& [method, suffix] : std::vector<std::pair<std::string, std::string>>{{"GET", ""},
                                                                                       {"PATCH", ""},
                                                                                       {"GET", "/messages"},
                                                                                       {"POST", "/messages"},
                                                                                       {"POST", "/interrupt"},
                                                                                       {"POST", "/tool-results"},
                                                                                       {"POST", "/reconcile-invalid"},
                                                                                       {"DELETE", "/queue/1"},
                                                                                       {"GET", "/stream"}}) {
    const std::string body = method == "POST" ? R"({"content":[{"type":"text","text":"x"}]})" : "{}";
    const auto theirs = call_with(bob_field, method, path + suffix, body);
    const auto unknown = call_with(bob_field, method, kUnknownChat + suffix, body);
    EXPECT_EQ(theirs.status, 404) << method << suffix;
    EXPECT_EQ(theirs.body, unknown.body) << method << suffix;
  }
  EXPECT_EQ(call_with(bob_field, "GET", "/api/v2/chats").body, "[]");
  EXPECT_EQ(row_counts(), before);
}

TEST_F(ApiAuthTest, TellsWhoOneIs) {
  const auto reply = call("GET", "/api/v2/users/me");
  EXPECT_EQ(reply.text("username"), "ann");
  EXPECT_EQ(reply.text("id"), ann.id.to_string());
  EXPECT_TRUE(reply.body.contains(R"("organization_ids":[")" + ann.organization_id.to_string() + "\"]")) << reply.body;
}

// --- Chats -----------------------------------------------------------------------------------------------------

TEST_F(ApiChatTest, CreatesARunningChatUnderBothPrefixes) {
  for (const std::string prefix : {"/api/v2/chats", "/api/experimental/chats"}) {
    const auto reply = call("POST", prefix, create_body(R"(,"labels":{"a":"b"},"client_type":"ui")"));
    EXPECT_EQ(reply.status, 201) << reply.body;
    EXPECT_EQ(reply.text("status"), "running");
    EXPECT_EQ(reply.text("title"), "hello");
    EXPECT_EQ(reply.text("last_model_config_id"), kModel);
    EXPECT_EQ(reply.text("client_type"), "ui");
    const auto again = call("GET", prefix + "/" + reply.text("id"));
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.body, reply.body);
  }
}

TEST_F(ApiChatTest, ListsOnesChatsNewestFirstWithFilters) {
  const std::string first = create_chat(R"(,"labels":{"team":"x"})");
  const std::string second = create_chat();
  const auto ids = [](const TestReply& reply) {
    std::string list;
    const auto document = reply.json();
    for (const auto chat : document.root().elements()) list += std::string(chat.find("id")->string()) + " ";
    return list;
  };
  EXPECT_EQ(ids(call("GET", "/api/v2/chats")), second + " " + first + " ");
  EXPECT_EQ(ids(call("GET", "/api/v2/chats?label=team:x")), first + " ");
  EXPECT_EQ(ids(call("GET", "/api/v2/chats?limit=1&offset=1")), first + " ");
  EXPECT_EQ(ids(call("GET", "/api/v2/chats?after_id=" + second)), first + " ");
  EXPECT_EQ(ids(call("GET", "/api/v2/chats?q=title:nowhere")), "");
  finish_turn(first, "done");
  EXPECT_EQ(call("PATCH", "/api/v2/chats/" + first, R"({"archived":true})").status, 204);
  EXPECT_EQ(ids(call("GET", "/api/v2/chats")), second + " ");
  EXPECT_EQ(ids(call("GET", "/api/v2/chats?q=archived:true")), first + " ");
}

TEST_F(ApiChatTest, PatchesAllOrNothing) {
  const std::string id = create_chat();
  const std::string path = "/api/v2/chats/" + id;
  const auto reply = call("PATCH", path, R"({"title":" New ","labels":{"k":"v"}})");
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.body, "");
  EXPECT_EQ(call("GET", path).text("title"), "New");
  EXPECT_TRUE(call("GET", path).body.contains(R"("labels":{"k":"v"})"));
  const auto busy = call("PATCH", path, R"({"title":"Never","archived":true})");
  EXPECT_EQ(busy.status, 409) << busy.body;
  EXPECT_EQ(call("GET", path).text("title"), "New");
  finish_turn(id, "done");
  EXPECT_EQ(call("PATCH", path, R"({"archived":true})").status, 204);
  EXPECT_EQ(call("PATCH", path, R"({"archived":true})").field(), "archived");
  EXPECT_EQ(call("POST", path + "/messages", R"({"content":[{"type":"text","text":"x"}]})").status, 400);
  EXPECT_EQ(call("PATCH", path, R"({"archived":false})").status, 204);
}

TEST_F(ApiChatTest, ListsModelsForBothGenerationsOfClients) {
  const auto legacy = call("GET", "/api/experimental/chats/model-configs");
  EXPECT_EQ(legacy.status, 200);
  EXPECT_TRUE(legacy.body.starts_with(R"([{"id":")" + std::string(kModel))) << legacy.body;
  const auto listed = call("GET", "/api/v2/organizations/" + ann.organization_id.to_string() + "/chats/models");
  EXPECT_EQ(listed.status, 200);
  EXPECT_TRUE(listed.body.starts_with(R"({"models":[{"id":")" + std::string(kModel))) << listed.body;
  EXPECT_EQ(call("GET", "/api/v2/organizations/00000000-0000-4000-8000-00000000ffff/chats/models").status, 404);
  EXPECT_EQ(call("GET", "/api/v2/organizations/x/chats/models").status, 400);
  EXPECT_EQ(call("GET", "/api/v2/chats/model-configs").status, 404);
}

// --- Messages --------------------------------------------------------------------------------------------------

TEST_F(ApiMessageTest, SendsToAnIdleChatAndStartsATurn) {
  const std::string id = create_chat();
  finish_turn(id, "first answer");
  const auto reply =
      call("POST", "/api/v2/chats/" + id + "/messages", R"({"content":[{"type":"text","text":"again"}]})");
  EXPECT_EQ(reply.status, 200) << reply.body;
  const auto document = reply.json();
  EXPECT_FALSE(document.root().find("queued")->boolean());
  EXPECT_EQ(document.root().find("message")->find("role")->string(), "user");
  EXPECT_EQ(document.root().find("messages")->size(), 1u);
  EXPECT_FALSE(document.root().find("queued_message").has_value());
  EXPECT_EQ(call("GET", "/api/v2/chats/" + id).text("status"), "running");
}

TEST_F(ApiMessageTest, QueuesWhileATurnRunsAndDeletesFromTheQueue) {
  const std::string id = create_chat();
  const std::string path = "/api/v2/chats/" + id;
  const auto reply =
      call("POST", path + "/messages", R"({"content":[{"type":"text","text":"later"}])" + std::string(kFormat) + "}");
  EXPECT_EQ(reply.status, 200) << reply.body;
  const auto document = reply.json();
  EXPECT_TRUE(document.root().find("queued")->boolean());
  EXPECT_FALSE(document.root().find("message").has_value());
  const auto queued = *document.root().find("queued_message");
  const std::string request(queued.find("structured_output_request_id")->string());
  const auto listed = call("GET", path + "/messages");
  EXPECT_TRUE(listed.body.contains(request)) << listed.body;
  EXPECT_TRUE(call("GET", path + "/messages?after_id=1").body.contains(R"("queued_messages":[])"));
  const std::string entry = path + "/queue/" + std::string(queued.find("id")->number());
  EXPECT_EQ(call("DELETE", entry).status, 204);
  EXPECT_EQ(call("DELETE", entry).status, 404);
  const auto after = call("GET", path + "/messages");
  EXPECT_TRUE(after.body.contains(R"("structured_output":{"request_id":")" + request +
                                  R"(","status":"canceled","error":{"code":"queue_deleted")"))
      << after.body;
}

TEST_F(ApiMessageTest, RefusesMoreThanTheQueueHolds) {
  const std::string path = "/api/v2/chats/" + create_chat() + "/messages";
  for (std::size_t i = 0; i < chat::kQueueMax; ++i) {
    EXPECT_EQ(call("POST", path, R"({"content":[{"type":"text","text":"x"}]})").status, 200) << i;
  }
  const auto before = row_counts();
  EXPECT_EQ(call("POST", path, R"({"content":[{"type":"text","text":"x"}]})").status, 429);
  EXPECT_EQ(row_counts(), before);
}

TEST_F(ApiMessageTest, PagesInBothDirections) {
  const std::string id = create_chat();
  finish_turn(id, "answer");
  const std::string path = "/api/v2/chats/" + id + "/messages";
  const auto ids = [](const TestReply& reply) {
    std::vector<std::string> list;
    const auto document = reply.json();
    for (const auto message : document.root().find("messages")->elements()) {
      list.emplace_back(message.find("role")->string());
    }
    return list;
  };
  EXPECT_EQ(ids(call("GET", path)), (std::vector<std::string>{"assistant", "user"}));
  const auto newest = call("GET", path + "?limit=1");
  EXPECT_EQ(ids(newest), std::vector<std::string>{"assistant"});
  EXPECT_TRUE(newest.body.contains(R"("has_more":true)"));
  const auto document = newest.json();
  const std::string last((*document.root().find("messages")->elements().begin()).find("id")->number());
  EXPECT_EQ(ids(call("GET", path + "?before_id=" + last)), std::vector<std::string>{"user"});
  EXPECT_EQ(ids(call("GET", path + "?after_id=" + last)), std::vector<std::string>());
  for (const std::string query :
       {"?limit=201", "?limit=0", "?before_id=x", "?after_id=-1", "?after_id=3&before_id=2"}) {
    EXPECT_EQ(call("GET", path + query).status, 400) << query;
  }
}

TEST_F(ApiMessageTest, ShowsTheSameReceiptByRestAsWasStored) {
  const std::string id = create_chat(kFormat);
  const auto asked = call("GET", "/api/v2/chats/" + id + "/messages").json();
  const auto user_row = *asked.root().find("messages")->elements().begin();
  const auto request = *RequestId::parse(user_row.find("structured_output_request_id")->string());
  const auto fence = begin_attempt(id, acquire(id));
  finish(id, fence, "here it is", structured::succeeded(request, R"({"b":10.00,"a":1e25})"));
  const auto listed = call("GET", "/api/v2/chats/" + id + "/messages");
  EXPECT_TRUE(listed.body.contains(R"("structured_output":{"request_id":")" + request.to_string() +
                                   R"(","status":"succeeded","value":{"b":10.00,"a":1e25}})"))
      << listed.body;
  EXPECT_FALSE(listed.body.contains("structured-output"));
  EXPECT_EQ(database.value("SELECT count(*) FROM chat_messages WHERE content::text LIKE '%structured-output-outcome%'"),
            "1");
}

TEST_F(ApiMessageTest, InterruptsAndWaits) {
  const std::string id = create_chat();
  const std::string path = "/api/v2/chats/" + id;
  const auto fence = acquire(id);
  const auto reply = call("POST", path + "/interrupt");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.text("status"), "interrupting");
  EXPECT_EQ(call("POST", path + "/interrupt").status, 409);
  chat::FinishInterruption input;
  input.fence = chat::fence_of(chat_now(id), fence.runner_id);
  apply(id, std::move(input));
  const auto idle = call("POST", path + "/interrupt?wait=true");
  EXPECT_EQ(idle.status, 409);
  EXPECT_EQ(call("GET", path).text("status"), "waiting");
}

// --- What is refused, and that nothing is written ----------------------------------------------------------------

TEST_F(ApiRefusalTest, WritesNothingForABadCreate) {
  const auto before = row_counts();
  const std::string with_bad_schema =
      R"(,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"$ref":"#"}}})";
  const std::vector<std::pair<std::string, std::string>> cases{
      {create_body(with_bad_schema), "response_format.json_schema.schema"},
      {create_body(R"(,"response_format":{"type":"json_schema","strict":true})"), "response_format"},
      {create_body(R"(,"response_format":{"type":"xml"})"), "response_format.type"},
      {create_body(R"(,"plan_mode":"plan")" + std::string(kFormat)), "response_format"},
      {create_body(R"(,"model_config_id":"00000000-0000-4000-8000-00000000ffff")"), "model_config_id"},
      {create_body(R"(,"labels":{"":"x"})"), "labels"},
      {create_body(R"(,"unsafe_dynamic_tools":[{"name":"no name"}])"), "unsafe_dynamic_tools[0].name"},
      {create_body(R"(,"mcp_server_ids":["00000000-0000-4000-8000-00000000ffff"])"), "mcp_server_ids"},
      {R"({"content":[{"type":"text","text":"x"}]})", "organization_id"},
  };
  for (const auto& [body, field] : cases) {
    const auto reply = call("POST", "/api/v2/chats", body);
    EXPECT_EQ(reply.status, 400) << body;
    if (field != "response_format") {
      EXPECT_EQ(reply.field(), field) << reply.body;
    } else {
      EXPECT_TRUE(reply.body.contains(R"("field":"response_format)")) << reply.body;
    }
  }
  for (const std::string body : {"", "{", "[1]", "\xff", R"({"content":{}})"}) {
    const auto reply = call("POST", "/api/v2/chats", body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_NE(reply.text("message"), "(none)") << body;
  }
  EXPECT_EQ(row_counts(), before);
}

TEST_F(ApiRefusalTest, WritesNothingForABadSend) {
  const std::string path = "/api/v2/chats/" + create_chat() + "/messages";
  const auto before = row_counts();
  for (
      const std::string body :
      {"", R"({"content":[]})", R"({"content":[{"type":"structured-output-outcome"}]})",
       R"({"content":[{"type":"text","text":"x"}],"response_format":{"type":"json_schema"},"busy_behavior":"interrupt"})",
       R"({"content":[{"type":"text","text":"x"}],"busy_behavior":"push"})"}) {
    EXPECT_EQ(call("POST", path, body).status, 400) << body;
  }
  EXPECT_EQ(row_counts(), before);
}

TEST_F(ApiRefusalTest, RefusesBodiesOverTheLimitInItsOwnWords) {
  const auto before = row_counts();
  const auto fits =
      create_body(R"(,"x":")" + std::string(kBodyBytesMax - create_body(R"(,"x":"")").size(), 'x') + "\"");
  ASSERT_EQ(fits.size(), kBodyBytesMax);
  EXPECT_EQ(call("POST", "/api/v2/chats", fits + " ").status, 413);
  EXPECT_NE(call("POST", "/api/v2/chats", fits + " ").text("message"), "(none)");
  EXPECT_EQ(row_counts(), before);
  EXPECT_EQ(call("POST", "/api/v2/chats", fits).status, 201);
}

TEST_F(ApiRefusalTest, NamesRoutesMethodsAndIds) {
  EXPECT_EQ(call("GET", "/nowhere").status, 404);
  EXPECT_NE(call("GET", "/nowhere").text("message"), "(none)");
  EXPECT_EQ(call("POST", "/api/v2/chats/00000000-0000-4000-8000-00000000ffff/compact").status, 404);
  const auto wrong = call("PUT", "/api/v2/chats");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_TRUE(wrong.head.contains("Allow: POST, GET\r\n")) << wrong.head;
  EXPECT_EQ(call("GET", "/api/v2/chats/nonsense").status, 400);
  EXPECT_EQ(call("GET", kUnknownChat).status, 404);
  EXPECT_EQ(call("DELETE", "/api/v2/chats/" + create_chat() + "/queue/x").status, 400);
}

TEST_F(ApiRefusalTest, NamesStateAndTransitionInAConflict) {
  const std::string id = create_chat();
  finish_turn(id, "done");
  const auto reply = call("POST", "/api/v2/chats/" + id + "/interrupt");
  EXPECT_EQ(reply.status, 409);
  EXPECT_EQ(reply.text("detail"), "Interrupting is not possible while the chat waits for a message.");
  EXPECT_EQ(call("POST", "/api/v2/chats/" + id + "/reconcile-invalid").status, 409);
}

// --- Operation -------------------------------------------------------------------------------------------------

TEST_F(ApiOperationTest, AnswersProbesWithoutAToken) {
  EXPECT_EQ(call_with("", "GET", "/healthz").status, 200);
  EXPECT_EQ(call_with("", "GET", "/readyz").status, 200);
  EXPECT_EQ(call_with("", "HEAD", "/healthz").body, "");
}

TEST_F(ApiOperationTest, CountsRequestsAndStreams) {
  call("GET", "/api/v2/users/me");
  call("GET", "/nowhere");
  const auto reply = call_with("", "GET", "/metrics");
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.body.contains("assay_http_requests_total{endpoint=\"current_user\",status=\"200\"} 1\n"))
      << reply.body;
  EXPECT_TRUE(reply.body.contains("assay_http_requests_total{endpoint=\"none\",status=\"404\"} 1\n"));
  EXPECT_TRUE(reply.body.contains("assay_streams_open 0\n"));
}

TEST_F(ApiOperationTest, SaysThatTheDatabaseIsAway) {
  loop_thread.run(store->close(test_database::in_test_time()));
  EXPECT_EQ(call_with("", "GET", "/readyz").status, 503);
  EXPECT_EQ(call_with("", "GET", "/healthz").status, 200);
  const auto reply = call("GET", "/api/v2/chats");
  EXPECT_EQ(reply.status, 503);
  EXPECT_NE(reply.text("message"), "(none)");
}

}  // namespace
}  // namespace assay::api

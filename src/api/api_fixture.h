#pragma once
// For tests only: the API over HTTP on loopback with a real database, and a worker that does what the test says.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/api.h"
#include "base/random.h"
#include "chat/transitions.h"
#include "json/document.h"
#include "net/loopback_fixture.h"
#include "structured/outcome.h"
#include "tests/database/test_database.h"

namespace assay::api {

struct TestReply {
  int status = 0;
  std::string head;
  std::string body;

  [[nodiscard]] json::Document json() const {
    auto document = json::Document::parse(body, json::kEnvelopeCaps);
    EXPECT_TRUE(document.has_value()) << body;
    if (!document) document = json::Document::parse("{}", json::kEnvelopeCaps);
    return std::move(*document);
  }
  // The text of a string member.
  [[nodiscard]] std::string text(std::string_view member) const {
    const auto document = json();
    const auto value = document.root().find(member);
    return value && value->is(json::Kind::String) ? std::string(value->string()) : "(none)";
  }
  // The field of the only validation.
  [[nodiscard]] std::string field() const {
    const auto document = json();
    const auto validations = document.root().find("validations");
    if (!validations || validations->size() != 1) return "(not one)";
    return std::string((*validations->elements().begin()).find("field")->string());
  }
};

class ApiTest : public ::testing::Test {
 protected:
  static constexpr std::string_view kModel = "00000000-0000-4000-8000-000000000004";

  ApiTest() {
    loop_thread.run(open());
    net::HttpServerOptions options;
    options.handler = [this](net::HttpRequest request) { return api->handle(std::move(request)); };
    options.body_bytes_max = &Api::body_bytes_max;
    options.refusal = &Api::refuse;
    loop_thread.call([this, &options] {
      auto listening = net::HttpServer::listen(loop_thread.loop(), std::move(options));
      EXPECT_TRUE(listening.has_value());
      server = std::move(*listening);
    });
  }
  ~ApiTest() override {
    loop_thread.run(close());
    loop_thread.call([this] {
      server.reset();
      api.reset();
      store.reset();
    });
  }

  // --- The client -----------------------------------------------------------------------------------------------

  [[nodiscard]] std::string head_of(std::string_view method, std::string_view path, std::string_view fields) const {
    std::string head;
    head.append(method).append(" ").append(path).append(" HTTP/1.1\r\nHost: test\r\n").append(fields);
    return head;
  }
  [[nodiscard]] static std::string token_field(std::string_view token) {
    return "Coder-Session-Token: " + std::string(token) + "\r\n";
  }

  TestReply call_with(std::string_view fields, std::string_view method, std::string_view path,
                      std::string_view body = {}) {
    auto socket = net::RawSocket::connect(server->port());
    socket.send(head_of(method, path, fields) + "Connection: close\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + std::string(body));
    const std::string all = socket.read_to_end();
    const auto end = all.find("\r\n\r\n");
    TestReply reply;
    if (end == all.npos || all.size() < 12) {
      ADD_FAILURE() << "no response: " << all;
      return reply;
    }
    reply.status = std::stoi(all.substr(9, 3));
    reply.head = all.substr(0, end + 2);
    reply.body = all.substr(end + 4);
    return reply;
  }
  TestReply call(std::string_view method, std::string_view path, std::string_view body = {}) {
    return call_with(token_field(token), method, path, body);
  }

  [[nodiscard]] std::string create_body(std::string_view more = {}) const {
    return R"({"organization_id":")" + ann.organization_id.to_string() +
           R"(","content":[{"type":"text","text":"hello"}])" + std::string(more) + "}";
  }
  static constexpr std::string_view kFormat =
      R"(,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}})";

  // The id of a new chat of Ann's.
  std::string create_chat(std::string_view more = {}) {
    const auto reply = call("POST", "/api/v2/chats", create_body(more));
    EXPECT_EQ(reply.status, 201) << reply.body;
    return reply.text("id");
  }
  // What is stored, to see that nothing was written.
  std::string row_counts() {
    // tidy: allow sql because the test looks at what is stored, beside every room
    const auto count = [this](const std::string& table) { return database.value("SELECT count(*) FROM " + table); };
    // tidy: allow sql because the test looks at what is stored, beside every room
    const auto versions = database.value("SELECT coalesce(sum(snapshot_version), 0) FROM chats");
    return count("chats") + " " + count("chat_messages") + " " + count("chat_queued_messages") + " " + versions;
  }

  // --- The worker: each step is one transaction -----------------------------------------------------------------

  template <class Input>
  chat::Chat apply(const std::string& id, Input input) {
    std::optional<chat::Chat> after;
    loop_thread.run(apply_task(*ChatId::parse(id), std::move(input), &after));
    return after.value_or(chat::Chat());
  }
  chat::Chat chat_now(const std::string& id) {
    std::optional<chat::Chat> found;
    loop_thread.run(find_task(*ChatId::parse(id), &found));
    return found.value_or(chat::Chat());
  }
  // Takes the chat over; returns its fence.
  chat::Fence acquire(const std::string& id) {
    loop_thread.run(acquire_task());
    const auto chat = chat_now(id);
    EXPECT_TRUE(chat.runner_id.has_value());
    return chat::fence_of(chat, chat.runner_id.value_or(RunnerId()));
  }
  // Records an attempt and opens its preview.
  chat::Fence begin_attempt(const std::string& id, chat::Fence fence) {
    const auto chat = apply(id, chat::RecordGenerationAttempt{.fence = fence});
    loop_thread.call([&] { episodes.begin(chat.id, chat.history_version, chat.generation_attempt); });
    return chat::fence_of(chat, fence.runner_id);
  }
  void preview(const std::string& id, std::string text) {
    loop_thread.call(
        [&] { episodes.append(*ChatId::parse(id), chat::Role::Assistant, chat::TextPart{.text = std::move(text)}); });
  }
  static chat::NewMessage assistant_row(std::string text) {
    chat::NewMessage row;
    row.role = chat::Role::Assistant;
    row.content.emplace_back(chat::TextPart{.text = std::move(text)});
    row.usage.input_tokens = 3;
    return row;
  }
  void end_episode(ChatId id) {
    if (const auto episode = episodes.current(id)) episodes.end(id, episode->key());
  }
  chat::Chat finish(const std::string& id, chat::Fence fence, std::string text,
                    std::optional<structured::OutcomePart> receipt = std::nullopt) {
    chat::FinishTurn input;
    input.fence = fence;
    input.rows.push_back(assistant_row(std::move(text)));
    input.receipt = std::move(receipt);
    const auto after = apply(id, std::move(input));
    loop_thread.call([&] { end_episode(*ChatId::parse(id)); });
    return after;
  }
  // A whole turn that ends with one assistant message.
  void finish_turn(const std::string& id, std::string text) {
    finish(id, begin_attempt(id, acquire(id)), std::move(text));
  }

  test_database::TestDatabase database;
  net::LoopThread loop_thread;
  live::Episodes episodes;
  ReplicaId replica = ReplicaId::random(system_random());
  std::unique_ptr<store::Store> store;
  std::unique_ptr<Api> api;
  std::unique_ptr<net::HttpServer> server;
  store::User ann;
  store::User bob;
  std::string token;
  std::string bobs_token;

 private:
  static Offer offer() {
    Offer all;
    all.structured_output = true;
    chat::ModelDescription model;
    model.id = *ModelConfigId::parse(kModel);
    model.provider = "main";
    model.model = "m-1";
    model.display_name = "Model 1";
    model.is_default = true;
    all.models.push_back(std::move(model));
    return all;
  }

  net::Task<> open() {
    store::StoreOptions options;
    options.database_url = database.url();
    options.replica = replica;
    auto opened = co_await store::Store::open(loop_thread.loop(), std::move(options), test_database::in_test_time());
    EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().message);
    store = std::move(*opened);
    api = std::make_unique<Api>(*store, episodes, offer(), system_clock(), system_random());
    co_await make_user("ann", &ann, &token);
    co_await make_user("bob", &bob, &bobs_token);
  }
  net::Task<> make_user(std::string name, store::User* user, std::string* secret) {
    auto& people = store->people();
    auto made = co_await people.create_user_if_missing(std::move(name), system_random(), test_database::in_test_time());
    EXPECT_TRUE(made.has_value());
    *user = *made;
    auto created = co_await people.create_token(user->id, system_random(), test_database::in_test_time());
    EXPECT_TRUE(created.has_value());
    *secret = *created;
  }
  net::Task<> close() {
    co_await server->stop(Deadline::after(system_clock(), Milliseconds(0)));
    co_await store->close(test_database::in_test_time());
  }
  template <class Input>
  net::Task<> apply_task(ChatId id, Input input, std::optional<chat::Chat>* after) {
    const auto shared = std::make_shared<const Input>(std::move(input));
    store::Decide decide = [shared](const chat::LockedChat& locked) { return chat::decide(locked, *shared); };
    auto plan = chat::reads_of(*shared);
    auto committed =
        co_await store->chats().transit(id, std::move(plan), std::move(decide), test_database::in_test_time());
    if (!committed) {
      const auto* refusal = std::get_if<chat::Refusal>(&committed.error());
      ADD_FAILURE() << (refusal != nullptr ? refusal->message : std::get<store::StoreError>(committed.error()).message);
      co_return;
    }
    *after = committed->chat;
  }
  net::Task<> find_task(ChatId id, std::optional<chat::Chat>* chat) {
    auto found = co_await store->chats().find_chat(id, test_database::in_test_time());
    EXPECT_TRUE(found.has_value());
    if (found) *chat = *found;
  }
  net::Task<> acquire_task() {
    auto owned = co_await store->chats().acquire(replica, 100, Milliseconds(20'000), test_database::in_test_time());
    EXPECT_TRUE(owned.has_value());
  }
};

}  // namespace assay::api

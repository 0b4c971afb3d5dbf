#include "tests/crash/load.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "chat/transitions.h"

namespace assay::tests {

const char* const kLoadScript =
    R"({"rules":[)"
    R"({"when":{"user_contains":"invalid","has_tool":"coder_structured_output"},"reply":{"tool_calls":[{"name":"coder_structured_output","arguments":{"output":{"n":"no"}}}]}},)"
    R"({"when":{"user_contains":"asking","has_tool":"lookup","has_tool_result":false},"reply":{"tool_calls":[{"name":"lookup","arguments":{}}]}},)"
    R"({"when":{"user_contains":"wordy"},"reply":{"text":"In so many words."}},)"
    R"({"when":{"user_contains":"refused"},"http":{"status":400,"body":{}}},)"
    R"({"when":{"user_contains":"cut"},"reply":{"text":"Once upon a time","fits_schema":true},"delivery":{"cut_after_bytes":300}},)"
    R"({"when":{"user_contains":"slow"},"reply":{"text":"Once upon a time there was","fits_schema":true},"delivery":{"chunk_characters":3,"event_delay_ms":40}},)"
    R"({"when":{"has_tool":"coder_structured_output"},"reply":{"text":"So be it.","fits_schema":true},"delivery":{"event_delay_ms":5}},)"
    R"({"reply":{"text":"Just words."}}]})";

namespace {

constexpr const char* kSchema = R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})";
constexpr const char* kMoods[] = {"good", "good", "good", "invalid", "wordy", "refused",
                                  "cut",  "slow", "slow", "asking",  "asking"};
constexpr std::size_t kChatsOfAClient = 4;

}  // namespace

class Client {
 public:
  Client(Load& load, std::size_t number, std::uint64_t seed) : load_(load), number_(number), random_(seed) {}

  void act() {
    if (chats_.size() < kChatsOfAClient || random_.below(12) == 0) return create();
    const std::string chat = "/api/v2/chats/" + chats_[random_.below(chats_.size())];
    switch (random_.below(16)) {
      case 0:
      case 1:
        return std::ignore = call("POST", chat + "/interrupt", ""), void();
      case 2:
        return delete_queued(chat, 1);
      case 3:
      case 4:
        return promote(chat);
      case 5:
        return edit(chat);
      case 6:
      case 7:
      case 8:
        return answer_calls(chat);
      default:
        return send(chat);
    }
  }

  // Deletes the queue's first messages. What is deleted never enters history: it is owed its receipt alone.
  void delete_queued(const std::string& chat, std::size_t count) {
    const auto page = call("GET", chat + "/messages?limit=1", "");
    if (!page || page->status != 200) return;
    const json::Document document = page->json();
    const auto queue = document.root().find("queued_messages");
    if (!queue) return;
    for (const json::Value message : queue->elements()) {
      if (count-- == 0) return;
      {
        const std::scoped_lock lock(load_.mutex_);
        load_.accepted_.texts.erase(message_of(message));
      }
      call("DELETE", chat + "/queue/" + text(message, "id"), "");
    }
  }

 private:
  // The answer, or nothing where the replica gave none.
  std::optional<Reply> call(const std::string& method, const std::string& path, const std::string& body) {
    const Http http(load_.fleet_.url(random_.below(Fleet::kReplicas)), load_.token_);
    try {
      Reply reply = http.send(method, path, body);
      ++load_.answers_;
      if (reply.status >= 500) ++load_.errors_;
      const std::scoped_lock lock(load_.mutex_);
      load_.answered_.notify_all();
      return reply;
    } catch (const std::runtime_error&) {
      ++load_.errors_;
      return std::nullopt;
    }
  }

  std::string content(const std::string& message) {
    std::string body = fmt::format(R"("content":[{{"type":"text","text":"{}"}}])", message);
    if (random_.below(4) != 0) body += R"(,"response_format":)" + json_schema_format(kSchema);
    return body;
  }
  std::string next_message() {
    return fmt::format("message {}.{} {}", number_, ++messages_, kMoods[random_.below(std::size(kMoods))]);
  }

  void accept(const std::string& message, const std::string& body) {
    constexpr std::string_view kMember = R"("structured_output_request_id":")";
    constexpr std::size_t kUuidLength = 36;
    const std::scoped_lock lock(load_.mutex_);
    load_.accepted_.texts.insert(message);
    for (std::size_t at = body.find(kMember); at != std::string::npos; at = body.find(kMember, at + 1)) {
      load_.accepted_.requests.insert(body.substr(at + kMember.size(), kUuidLength));
    }
  }

  void create() {
    const std::string message = next_message();
    const auto reply = call("POST", "/api/v2/chats",
                            fmt::format(R"({{"organization_id":"{}","unsafe_dynamic_tools":[{{"name":"lookup"}}],{}}})",
                                        load_.organization_, content(message)));
    if (!reply || reply->status != 201) return;
    accept(message, reply->body);
    if (chats_.size() >= kChatsOfAClient) chats_.erase(chats_.begin());
    chats_.push_back(text(reply->json().root(), "id"));
  }

  void send(const std::string& chat) {
    const std::string message = next_message();
    const bool interrupts = random_.below(4) == 0;
    const auto reply =
        call("POST", chat + "/messages",
             fmt::format(R"({{{},"busy_behavior":"{}"}})", content(message), interrupts ? "interrupt" : "queue"));
    if (!reply || reply->status != 200) return;
    accept(message, reply->body);
    sent_[chat].push_back(message);
  }

  void promote(const std::string& chat) {
    const auto page = call("GET", chat + "/messages?limit=1", "");
    if (!page || page->status != 200) return;
    const json::Document document = page->json();
    const auto queue = document.root().find("queued_messages");
    if (!queue || queue->size() == 0) return;
    std::string last;
    for (const json::Value message : queue->elements()) last = text(message, "id");
    call("POST", chat + "/queue/" + last + "/promote", "");
  }

  // The newest message that the client wrote. What is queued goes with it, and what was sent before may have been.
  void edit(const std::string& chat) {
    const auto page = call("GET", chat + "/messages?limit=50", "");
    if (!page || page->status != 200) return;
    const json::Document document = page->json();
    std::string edited;
    for (const json::Value message : document.root().find("messages")->elements()) {
      if (edited.empty() && text(message, "role") == "user") edited = text(message, "id");
    }
    {
      const std::scoped_lock lock(load_.mutex_);
      for (const std::string& sent : sent_[chat]) load_.accepted_.texts.erase(sent);
    }
    const std::string message = next_message();
    const auto reply = call("PATCH", chat + "/messages/" + edited, "{" + content(message) + "}");
    if (reply && reply->status == 200) accept(message, reply->body);
  }

  // Results for all calls of the newest step, as if each were the client's: refused where one is not.
  void answer_calls(const std::string& chat) {
    const auto page = call("GET", chat + "/messages?limit=3", "");
    if (!page || page->status != 200) return;
    const json::Document document = page->json();
    std::string results;
    for (const json::Value message : document.root().find("messages")->elements()) {
      for (const json::Value part : message.find("content")->elements()) {
        if (text(part, "type") != "tool-call" || text(part, "tool_name") != "lookup") continue;
        results =
            fmt::format(R"({{"results":[{{"tool_call_id":"{}","output":"found"}}]}})", text(part, "tool_call_id"));
      }
      if (!results.empty()) break;
    }
    if (!results.empty()) call("POST", chat + "/tool-results", results);
  }

  static std::string message_of(json::Value queued) {
    return text(*queued.find("content")->elements().begin(), "text");
  }

  Load& load_;
  const std::size_t number_;
  SeededRandom random_;
  std::vector<std::string> chats_;
  std::map<std::string, std::vector<std::string>> sent_;  // by the chat's path
  std::size_t messages_ = 0;
};

Load::Load(const Fleet& fleet, std::string token, std::string organization, std::uint64_t seed)
    : fleet_(fleet), token_(std::move(token)), organization_(std::move(organization)) {
  for (std::size_t client = 0; client < kClients; ++client) {
    clients_.emplace_back([this, client, seed] { run(client, seed + client); });
  }
}

void Load::run(std::size_t client, std::uint64_t seed) {
  constexpr std::uint64_t kThinkingMsMax = 150;
  Client one(*this, client, seed);
  SeededRandom random(seed);
  while (!ends_) {
    one.act();
    pause(std::chrono::milliseconds(random.below(kThinkingMsMax)));
  }
}

void Load::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, time, [this] { return ends_.load(); });
}

void Load::stop() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  for (std::thread& client : std::exchange(clients_, {})) client.join();
}

void Load::clear_queue(const std::string& chat) {
  Client(*this, kClients, 0).delete_queued("/api/v2/chats/" + chat, chat::kQueueMax);
}

void Load::await_answers(std::size_t count, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  const std::size_t enough = answers_ + count;
  answered_.wait_for(lock, patience, [&] { return answers_ >= enough; });
}

}  // namespace assay::tests

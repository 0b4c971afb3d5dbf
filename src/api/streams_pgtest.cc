// The live stream over the wire: Server-Sent Events and WebSocket frames, their order, resuming, and what a client
// sees when it comes late.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "api/api_fixture.h"
#include "api/stream_frame.h"
#include "api/streams.h"

namespace assay::api {
namespace {

struct SeenEvent {
  std::string id;    // of the event stream
  std::string text;  // JSON
  std::string type;
};

SeenEvent seen(std::string text, std::string id = {}) {
  SeenEvent event{.id = std::move(id), .text = std::move(text), .type = {}};
  const auto document = json::Document::parse(event.text, json::kEnvelopeCaps);
  EXPECT_TRUE(document.has_value()) << event.text;
  if (!document) return event;
  event.type = document->root().find("type")->string();
  const auto member = [&document](std::string_view outer, std::string_view inner) {
    return document->root().find(outer)->find(inner);
  };
  if (event.type == "status") event.type += " " + std::string(member("status", "status")->string());
  if (event.type == "message") event.type += " " + std::string(member("message", "role")->string());
  if (event.type == "message_part") {
    event.type = "part " + std::string(member("message_part", "seq")->number()) + " " +
                 std::string(member("message_part", "part")->find("text")->string());
  }
  return event;
}

class EventReader {
 public:
  virtual ~EventReader() = default;
  virtual SeenEvent next() = 0;

  // The types of the events up to and with the first of that type. An attempt's own reset may or may not be seen apart
  // from the commit that follows: `skipped` leaves it out.
  std::string types_until(std::string_view last, std::string_view skipped = {}) {
    std::string types;
    while (true) {
      const auto event = next();
      if (event.type.empty()) return types + " (the stream ended)";
      if (event.type != skipped) types += (types.empty() ? "" : ", ") + event.type;
      if (!event.id.empty()) last_id = event.id;
      last_text = event.text;
      if (event.type == last) return types;
    }
  }
  std::string last_id;
  std::string last_text;
};

class SseReader final : public EventReader {
 public:
  explicit SseReader(net::RawSocket socket) : socket_(std::move(socket)) { head = socket_.read_until("\r\n\r\n"); }
  SeenEvent next() override {
    while (true) {
      std::string frame = socket_.read_until("\n\n");
      if (frame.empty()) return {};
      std::string id;
      std::string data;
      for (std::size_t at = 0; at < frame.size();) {
        const auto end = frame.find('\n', at);
        const std::string line = frame.substr(at, end - at);
        if (line.starts_with("id: ")) id = line.substr(4);
        if (line.starts_with("data: ")) data += line.substr(6);
        at = end + 1;
      }
      if (!data.empty()) return seen(std::move(data), std::move(id));
    }
  }
  std::string head;

 private:
  net::RawSocket socket_;
};

class SocketReader final : public EventReader {
 public:
  explicit SocketReader(net::RawSocket socket) : socket_(std::move(socket)) { head = socket_.read_until("\r\n\r\n"); }
  SeenEvent next() override {
    while (held_.empty()) {
      if (!read_frame()) return {};
    }
    SeenEvent event = std::move(held_.front());
    held_.erase(held_.begin());
    return event;
  }
  std::string head;
  std::size_t frames = 0;

 private:
  // Unmasked text frames of the server (RFC 6455 section 5.2); anything else ends the reading.
  bool read_frame() {
    const std::string start = socket_.read_bytes(2);
    if (start.size() < 2 || start[0] != '\x81') return false;
    std::size_t size = static_cast<unsigned char>(start[1]);
    const std::size_t more = size == 126 ? 2 : size == 127 ? 8 : 0;
    if (more > 0) {
      size = 0;
      for (const char byte : socket_.read_bytes(more)) size = size << 8u | static_cast<unsigned char>(byte);
    }
    const std::string text = socket_.read_bytes(size);
    const auto document = json::Document::parse(text, json::kEnvelopeCaps);
    EXPECT_TRUE(document.has_value() && document->root().is(json::Kind::Array)) << text;
    if (!document) return false;
    ++frames;
    for (const auto event : document->root().elements()) held_.push_back(seen(std::string(event.raw())));
    return true;
  }

  net::RawSocket socket_;
  std::vector<SeenEvent> held_;
};

class ApiStreamTest : public ApiTest {
 protected:
  [[nodiscard]] static std::string stream_path(const std::string& id) {
    return "/api/experimental/chats/" + id + "/stream";
  }
  SseReader event_stream(const std::string& path, std::string_view fields = {}) {
    auto socket = net::RawSocket::connect(server->port());
    socket.send(head_of("GET", path, token_field(token)) + "Accept: text/event-stream\r\n" + std::string(fields) +
                "\r\n");
    return SseReader(std::move(socket));
  }
  SocketReader socket_stream(const std::string& path) {
    auto socket = net::RawSocket::connect(server->port());
    socket.send(head_of("GET", path, token_field(token)) +
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    return SocketReader(std::move(socket));
  }
};

TEST_F(ApiStreamTest, ShowsATurnInOrderAsEventStream) {
  const std::string id = create_chat();
  auto reader = event_stream(stream_path(id));
  EXPECT_TRUE(reader.head.contains("200 OK")) << reader.head;
  EXPECT_TRUE(reader.head.contains("Content-Type: text/event-stream")) << reader.head;
  EXPECT_EQ(reader.types_until("preview_reset"), "message user, status running, preview_reset");
  const auto fence = begin_attempt(id, acquire(id));
  EXPECT_EQ(reader.types_until("preview_reset"), "preview_reset");
  preview(id, "he");
  EXPECT_EQ(reader.types_until("part 1 he"), "part 1 he");
  preview(id, "llo");
  finish(id, fence, "hello");
  EXPECT_EQ(reader.types_until("preview_reset"), "part 2 llo, message assistant, status waiting, preview_reset");
}

TEST_F(ApiStreamTest, ShowsTheSameAsWebSocketInArrays) {
  const std::string id = create_chat();
  auto reader = socket_stream(stream_path(id));
  EXPECT_TRUE(reader.head.contains("101 Switching Protocols")) << reader.head;
  EXPECT_EQ(reader.types_until("preview_reset"), "message user, status running, preview_reset");
  EXPECT_EQ(reader.frames, 1u);
  const auto fence = begin_attempt(id, acquire(id));
  EXPECT_EQ(reader.types_until("preview_reset"), "preview_reset");
  preview(id, "he");
  EXPECT_EQ(reader.types_until("part 1 he"), "part 1 he");
  finish(id, fence, "hello");
  EXPECT_EQ(reader.types_until("preview_reset"), "message assistant, status waiting, preview_reset");
}

TEST_F(ApiStreamTest, GivesALateClientTheWholePreview) {
  const std::string id = create_chat();
  begin_attempt(id, acquire(id));
  preview(id, "a");
  preview(id, "b");
  auto reader = event_stream(stream_path(id));
  EXPECT_EQ(reader.types_until("part 2 b"), "message user, status running, preview_reset, part 1 a, part 2 b");
  EXPECT_TRUE(reader.last_text.contains(R"("generation_attempt":1,"seq":2)")) << reader.last_text;
}

TEST_F(ApiStreamTest, KeepsThePreviewWhenAQueuedRequestIsCanceled) {
  const std::string id = create_chat();
  const auto fence = begin_attempt(id, acquire(id));
  const auto sent = call("POST", "/api/v2/chats/" + id + "/messages",
                         R"({"content":[{"type":"text","text":"later"}])" + std::string(kFormat) + "}");
  const std::string queued(sent.json().root().find("queued_message")->find("id")->number());
  auto reader = event_stream(stream_path(id));
  preview(id, "a");
  EXPECT_EQ(reader.types_until("part 1 a"), "message user, queue_update, status running, preview_reset, part 1 a");
  EXPECT_EQ(call("DELETE", "/api/v2/chats/" + id + "/queue/" + queued).status, 204);
  EXPECT_EQ(reader.types_until("queue_update"), "message assistant, queue_update");
  preview(id, "b");
  EXPECT_EQ(reader.types_until("part 2 b"), "part 2 b");
  finish(id, fence, "ab");
  EXPECT_EQ(reader.types_until("preview_reset"), "message assistant, status waiting, preview_reset");
}

TEST_F(ApiStreamTest, ShowsTheReceiptThatRestShows) {
  const std::string id = create_chat(kFormat);
  auto reader = socket_stream(stream_path(id));
  reader.types_until("preview_reset");
  const auto listed = call("GET", "/api/v2/chats/" + id + "/messages").json();
  const auto row = *listed.root().find("messages")->elements().begin();
  const auto request = *RequestId::parse(row.find("structured_output_request_id")->string());
  const auto fence = begin_attempt(id, acquire(id));
  finish(id, fence, "done", structured::succeeded(request, R"({"b":10.00,"a":null})"));
  EXPECT_EQ(reader.types_until("message assistant", "preview_reset"), "message assistant");
  EXPECT_EQ(reader.types_until("message assistant"), "message assistant");
  const std::string receipt = R"("structured_output":{"request_id":")" + request.to_string() +
                              R"(","status":"succeeded","value":{"b":10.00,"a":null}})";
  EXPECT_TRUE(reader.last_text.contains(receipt)) << reader.last_text;
  EXPECT_TRUE(call("GET", "/api/v2/chats/" + id + "/messages").body.contains(receipt));
}

TEST_F(ApiStreamTest, ResumesWhereTheLastEventWas) {
  const std::string id = create_chat();
  std::string seen_id;
  {
    auto reader = event_stream(stream_path(id));
    reader.types_until("preview_reset");
    seen_id = reader.last_id;
  }
  ASSERT_TRUE(parse_stream_start(seen_id).has_value()) << seen_id;
  finish_turn(id, "answer");
  auto resumed = event_stream(stream_path(id), "Last-Event-ID: " + seen_id + "\r\n");
  EXPECT_EQ(resumed.types_until("preview_reset"), "message assistant, status waiting, preview_reset");
  auto by_query = event_stream(stream_path(id) + "?after_id=" + seen_id);
  EXPECT_EQ(by_query.types_until("preview_reset"), "message assistant, status waiting, preview_reset");
  auto current = event_stream(stream_path(id), "Last-Event-ID: " + resumed.last_id + "\r\n");
  EXPECT_EQ(current.types_until("preview_reset"), "status waiting, preview_reset");
}

TEST_F(ApiStreamTest, LeavesOutWhatTheClientNamesInTheFirstSyncAlone) {
  const std::string id = create_chat();
  const std::string path = "/api/v2/chats/" + id;
  const auto listed = call("GET", path + "/messages").json();
  const std::string last((*listed.root().find("messages")->elements().begin()).find("id")->number());
  auto reader = socket_stream(stream_path(id) + "?after_id=" + last);
  EXPECT_EQ(reader.types_until("preview_reset"), "status running, preview_reset");
  finish_turn(id, "answer");
  EXPECT_EQ(reader.types_until("message assistant", "preview_reset"), "message assistant");
}

TEST_F(ApiStreamTest, TellsAnErrorAfterItsStatus) {
  const std::string id = create_chat();
  auto reader = event_stream(stream_path(id));
  reader.types_until("preview_reset");
  chat::FinishError input;
  input.fence = acquire(id);
  input.error.message = "The model refused.";
  input.error.kind = "auth";
  apply(id, std::move(input));
  EXPECT_EQ(reader.types_until("error"), "status error, error");
  EXPECT_TRUE(reader.last_text.contains(R"("message":"The model refused.","kind":"auth")")) << reader.last_text;
}

TEST_F(ApiStreamTest, TellsARetryAndStartsThePreviewAnew) {
  const std::string id = create_chat();
  const auto fence = begin_attempt(id, acquire(id));
  auto reader = event_stream(stream_path(id));
  preview(id, "lost");
  reader.types_until("part 1 lost");
  chat::RecordRetryState input;
  input.fence = fence;
  input.retry_state.attempt = 1;
  input.retry_state.error.message = "busy";
  apply(id, std::move(input));
  EXPECT_EQ(reader.types_until("retry"), "retry");
  begin_attempt(id, fence);
  preview(id, "again");
  EXPECT_EQ(reader.types_until("part 1 again"), "preview_reset, part 1 again");
}

TEST_F(ApiStreamTest, ServesSeveralClientsAtOnce) {
  const std::string id = create_chat();
  auto first = event_stream(stream_path(id));
  auto second = socket_stream(stream_path(id));
  first.types_until("preview_reset");
  second.types_until("preview_reset");
  EXPECT_TRUE(call_with("", "GET", "/metrics").body.contains("assay_streams_open 2\n"));
  finish_turn(id, "answer");
  EXPECT_EQ(first.types_until("status waiting", "preview_reset"), "message assistant, status waiting");
  EXPECT_EQ(second.types_until("status waiting", "preview_reset"), "message assistant, status waiting");
}

TEST_F(ApiStreamTest, SendsAStatusThatReflectsTheClientsOwnMessage) {
  const std::string id = create_chat();
  finish_turn(id, "answer");
  const auto sent =
      call("POST", "/api/v2/chats/" + id + "/messages", R"({"content":[{"type":"text","text":"again"}]})").json();
  const std::string own(sent.root().find("message")->find("id")->number());
  auto reader = socket_stream(stream_path(id) + "?after_id=" + own);
  EXPECT_EQ(reader.types_until("preview_reset"), "status running, preview_reset");
}

TEST_F(ApiStreamTest, SplitsALongHistoryIntoFrames) {
  const std::string id = create_chat();
  const auto fence = acquire(id);
  chat::CommitStep input;
  input.fence = fence;
  for (std::size_t i = 0; i < kFrameEventsMax; ++i) input.rows.push_back(assistant_row("x"));
  apply(id, std::move(input));
  auto reader = socket_stream(stream_path(id));
  const std::string types = reader.types_until("preview_reset");
  EXPECT_EQ(std::ranges::count(types, ','), static_cast<std::ptrdiff_t>(kFrameEventsMax) + 2);
  EXPECT_EQ(reader.frames, 2u);
}

TEST_F(ApiStreamTest, AnswersAnInterruptOnceTheTurnHasEnded) {
  const std::string id = create_chat();
  const auto fence = acquire(id);
  auto reader = event_stream(stream_path(id));
  reader.types_until("preview_reset");
  auto answered =
      std::async(std::launch::async, [&] { return call("POST", "/api/v2/chats/" + id + "/interrupt?wait=true"); });
  EXPECT_EQ(reader.types_until("status interrupting"), "status interrupting");
  chat::FinishInterruption input;
  input.fence = chat::fence_of(chat_now(id), fence.runner_id);
  apply(id, std::move(input));
  const auto reply = answered.get();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.text("status"), "waiting");
}

TEST_F(ApiStreamTest, RefusesBeforeItUpgrades) {
  const std::string id = create_chat();
  EXPECT_EQ(call("GET", stream_path(id) + "?after_id=x").status, 400);
  EXPECT_EQ(call("GET", stream_path(id) + "?after_id=x").field(), "after_id");
  EXPECT_EQ(call("GET", stream_path("nonsense")).status, 400);
  EXPECT_EQ(call("GET", stream_path(id)).status, 426);
  EXPECT_TRUE(socket_stream(stream_path(id) + "?after_id=1.5").head.contains(" 400 "));
  EXPECT_TRUE(socket_stream(stream_path("00000000-0000-4000-8000-00000000ffff")).head.contains(" 404 "));
}

}  // namespace
}  // namespace assay::api

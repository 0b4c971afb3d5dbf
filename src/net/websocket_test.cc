#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>

#include "net/event.h"
#include "net/http_server.h"
#include "net/loopback_fixture.h"

namespace assay::net {
namespace {

constexpr std::string_view kPingFromServer("\x89\x00", 2);

struct Stage {
  std::promise<StopReason> closed;
  std::atomic<bool> sent_after_close{false};
};

Task<> wait_for_close(WebSocket& socket, Stage& stage) {
  co_await socket.send_text("hello");
  Event never;
  co_await never.wait(Deadline::never(), socket.closed());
  const StopReason reason = socket.closed().reason();
  if (reason != StopReason::Shutdown) stage.sent_after_close = co_await socket.send_text("too late");
  stage.closed.set_value(reason);
}

Task<> say_and_leave(WebSocket& socket, std::string path) {
  co_await socket.send_text("one");
  co_await socket.send_text(std::string(70'000, 'x'));
  if (path == "/custom") socket.close_with(4001, "enough");
  if (path == "/throw") throw std::runtime_error("broken");
}

Task<> flood(WebSocket& socket, Stage& stage) {
  const std::string text(64 * 1024, 'x');
  bool open = true;
  while (open) open = co_await socket.send_text(text);
  stage.closed.set_value(socket.closed().reason());
}

Task<HttpReply> handle(HttpRequest request, std::shared_ptr<Stage> stage) {
  WebSocketReply reply;
  if (request.path == "/flood") {
    reply.run = [stage](WebSocket& socket) { return flood(socket, *stage); };
  } else if (request.path == "/wait") {
    reply.run = [stage](WebSocket& socket) { return wait_for_close(socket, *stage); };
  } else {
    reply.run = [path = request.path](WebSocket& socket) { return say_and_leave(socket, path); };
  }
  co_return reply;
}

std::string masked(int first, std::string_view payload) {
  constexpr std::string_view kMask = "\x11\x22\x33\x44";
  std::string frame;
  frame.push_back(static_cast<char>(first));
  frame.push_back(static_cast<char>(0x80 | payload.size()));
  frame.append(kMask);
  for (std::size_t i = 0; i < payload.size(); ++i) frame.push_back(static_cast<char>(payload[i] ^ kMask[i % 4]));
  return frame;
}

class WebSocketTest : public testing::Test {
 protected:
  void start(HttpServerOptions options = {}) {
    options.handler = [stage = stage_](HttpRequest request) { return handle(std::move(request), stage); };
    server_ = thread_.call([&] { return HttpServer::listen(thread_.loop(), std::move(options)).value(); });
  }
  ~WebSocketTest() override {
    if (server_) stop(Milliseconds(0));
    thread_.call([&] { server_.reset(); });
  }
  void stop(Milliseconds drain) { thread_.run(server_->stop(Deadline::after(system_clock(), drain))); }

  // Connects and shakes hands; `early` is sent along with the handshake.
  RawSocket open(std::string_view path, std::string_view early = "", int receive_buffer_bytes = 0) {
    RawSocket client = RawSocket::connect(server_->port(), receive_buffer_bytes);
    client.send("GET " + std::string(path) +
                " HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" +
                std::string(early));
    const std::string head = client.read_until("\r\n\r\n");
    EXPECT_TRUE(head.starts_with("HTTP/1.1 101 Switching Protocols\r\n")) << head;
    EXPECT_TRUE(head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")) << head;
    EXPECT_FALSE(head.contains("Sec-WebSocket-Extensions")) << head;
    return client;
  }
  RawSocket open_waiting(std::string_view early = "") {
    RawSocket client = open("/wait", early);
    EXPECT_EQ(client.read_bytes(7), "\x81\x05hello");
    return client;
  }
  StopReason closed() { return stage_->closed.get_future().get(); }

  std::shared_ptr<Stage> stage_ = std::make_shared<Stage>();
  LoopThread thread_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(WebSocketTest, SendsTextAndClosesNormally) {
  start();
  RawSocket client = open("/plain");
  EXPECT_EQ(client.read_bytes(5), "\x81\x03one");
  EXPECT_EQ(client.read_bytes(10), std::string("\x81\x7F\0\0\0\0\0\x01\x11\x70", 10));
  EXPECT_EQ(client.read_bytes(70'000), std::string(70'000, 'x'));
  EXPECT_EQ(client.read_bytes(4), "\x88\x02\x03\xE8");
  client.send(masked(0x88, "\x03\xE8"));
  client.shutdown_send();
  EXPECT_EQ(client.read_to_end(), "");
  EXPECT_FALSE(client.was_reset());
}

TEST_F(WebSocketTest, ClosesWithTheHandlersCode) {
  start();
  RawSocket client = open("/custom");
  client.read_bytes(5 + 10 + 70'000);
  EXPECT_EQ(client.read_bytes(10),
            "\x88\x08\x0F\xA1"
            "enough");
}

TEST_F(WebSocketTest, ClosesWithAnInternalErrorWhenTheHandlerThrew) {
  start();
  RawSocket client = open("/throw");
  client.read_bytes(5 + 10 + 70'000);
  EXPECT_EQ(client.read_bytes(4), "\x88\x02\x03\xF3");
}

TEST_F(WebSocketTest, DoesNotWaitForEverForThePeersClose) {
  HttpServerOptions options;
  options.linger_timeout = Milliseconds(20);
  start(std::move(options));
  RawSocket client = open("/plain");
  client.read_bytes(5 + 10 + 70'000);
  EXPECT_EQ(client.read_to_end(), "\x88\x02\x03\xE8");
}

TEST_F(WebSocketTest, AnswersDataWithPolicyViolation) {
  start();
  RawSocket client = open_waiting();
  client.send(masked(0x81, "talk"));
  const std::string close = client.read_bytes(4);
  EXPECT_EQ(close.substr(2), "\x03\xF0") << "1008";
  client.shutdown_send();
  client.read_to_end();
  EXPECT_FALSE(client.was_reset());
  EXPECT_EQ(closed(), StopReason::ProtocolViolation);
  EXPECT_FALSE(stage_->sent_after_close);
}

TEST_F(WebSocketTest, SeesDataThatCameWithTheHandshake) {
  start();
  RawSocket client = open("/wait", masked(0x81, "talk"));
  client.shutdown_send();
  EXPECT_TRUE(client.read_to_end().contains("\x03\xF0")) << "1008";
  EXPECT_EQ(closed(), StopReason::ProtocolViolation);
}

TEST_F(WebSocketTest, AnswersNonsenseWithProtocolError) {
  start();
  RawSocket client = open_waiting();
  client.send("\x89\x04ping");  // not masked
  EXPECT_EQ(client.read_bytes(4).substr(2), "\x03\xEA") << "1002";
  client.close();
  EXPECT_EQ(closed(), StopReason::ProtocolViolation);
}

TEST_F(WebSocketTest, AnswersPings) {
  start();
  RawSocket client = open_waiting();
  client.send(masked(0x89, "are you there"));
  EXPECT_EQ(client.read_bytes(15),
            "\x8A\x0D"
            "are you there");
}

TEST_F(WebSocketTest, EchoesTheCloseOfThePeer) {
  start();
  RawSocket client = open_waiting();
  client.send(masked(0x88, "\x03\xE9 bye"));
  EXPECT_EQ(client.read_bytes(4), "\x88\x02\x03\xE9");
  client.shutdown_send();
  EXPECT_EQ(client.read_to_end(), "");
  EXPECT_EQ(closed(), StopReason::PeerClosed);
}

TEST_F(WebSocketTest, NoticesADisconnect) {
  start();
  RawSocket client = open_waiting();
  client.reset_on_close();
  client.close();
  EXPECT_EQ(closed(), StopReason::PeerClosed);
}

TEST_F(WebSocketTest, PingsAndGoesOnWhileAnswered) {
  HttpServerOptions options;
  options.ping_interval = Milliseconds(500);
  start(std::move(options));
  RawSocket client = open_waiting();
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(client.read_bytes(2), kPingFromServer);
    client.send(masked(0x8A, ""));
  }
}

TEST_F(WebSocketTest, CutsOffPeersThatDoNotAnswerPings) {
  HttpServerOptions options;
  options.ping_interval = Milliseconds(20);
  start(std::move(options));
  RawSocket client = open_waiting();
  EXPECT_EQ(client.read_to_end(), kPingFromServer);
  EXPECT_EQ(closed(), StopReason::SlowPeer);
}

TEST_F(WebSocketTest, CutsSlowReadersOff) {
  HttpServerOptions options;
  options.stream_write_timeout = Milliseconds(50);
  start(std::move(options));
  RawSocket client = open("/flood", "", 4096);
  EXPECT_EQ(closed(), StopReason::SlowPeer);
}

TEST_F(WebSocketTest, GoesAwayWhenTheServerDrains) {
  start();
  RawSocket client = open_waiting();
  auto stopping = std::async([&] { stop(Milliseconds(kTestPatienceSeconds * 1000)); });
  EXPECT_EQ(client.read_bytes(4), "\x88\x02\x03\xE9") << "1001";
  client.send(masked(0x88, "\x03\xE9"));
  client.shutdown_send();
  EXPECT_EQ(client.read_to_end(), "");
  stopping.get();
  EXPECT_EQ(closed(), StopReason::Shutdown);
}

}  // namespace
}  // namespace assay::net

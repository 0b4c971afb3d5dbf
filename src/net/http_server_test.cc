#include "net/http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

#include "net/event.h"
#include "net/loopback_fixture.h"
#include "net/timer.h"

namespace assay::net {
namespace {

constexpr std::size_t kBodyMax = 20;

// What the test and the handlers share; the handlers' side lives on the loop thread.
struct Stage {
  std::promise<void> handler_entered;
  Event let_handler_go;
  std::promise<StopReason> stream_closed;
  std::atomic<int> sent_frames{0};
  std::atomic<bool> saw_stop{false};
};

Task<> tell_three(EventStream& stream) {
  co_await stream.send("event: a\ndata: 1\n\n");
  co_await stream.send("data: 2\n\n");
  co_await stream.send("data: 3\n\n");
}

Task<> wait_for_close(EventStream& stream, Stage& stage) {
  co_await stream.send("data: hello\n\n");
  Event never;
  co_await never.wait(Deadline::never(), stream.closed());
  const bool sent = co_await stream.send("data: last words\n\n");
  if (sent) ++stage.sent_frames;
  stage.stream_closed.set_value(stream.closed().reason());
}

Task<> wait_silently(EventStream& stream) {
  co_await stream.send("data: hello\n\n");
  Event never;
  co_await never.wait(Deadline::never(), stream.closed());
}

Task<> flood(EventStream& stream, Stage& stage) {
  const std::string frame = "data: " + std::string(64 * 1024, 'x') + "\n\n";
  bool open = true;
  while (open) {
    open = co_await stream.send(frame);
    if (open) ++stage.sent_frames;
  }
  stage.stream_closed.set_value(stream.closed().reason());
}

Task<> throw_midway(EventStream& stream) {
  co_await stream.send("data: 1\n\n");
  throw std::runtime_error("broken");
}

HttpReply event_stream(std::function<Task<>(EventStream&)> run) {
  EventStreamReply reply;
  reply.headers.add("X-Stream", "yes");
  reply.run = std::move(run);
  return reply;
}

Task<HttpReply> handle(HttpRequest request, std::shared_ptr<Stage> stage) {
  HttpResponse response;
  if (request.path == "/throw") throw std::runtime_error("broken");
  if (request.path == "/bad-header") response.headers.add("X", "a\r\nb");
  if (request.path == "/empty") response.status = 204;
  if (request.path == "/hold") {
    stage->handler_entered.set_value();
    const WaitOutcome outcome = co_await stage->let_handler_go.wait(Deadline::never(), request.stop);
    stage->saw_stop = outcome == WaitOutcome::Stopped;
  }
  if (request.path == "/three") co_return event_stream([](EventStream& stream) { return tell_three(stream); });
  if (request.path == "/broken") co_return event_stream([](EventStream& stream) { return throw_midway(stream); });
  if (request.path == "/many") co_return event_stream([](EventStream& stream) { return wait_silently(stream); });
  if (request.path == "/quiet") {
    co_return event_stream([stage](EventStream& stream) { return wait_for_close(stream, *stage); });
  }
  if (request.path == "/flood") co_return event_stream([stage](EventStream& stream) { return flood(stream, *stage); });
  if (request.path == "/socket") {
    WebSocketReply reply;
    reply.run = [](WebSocket&) -> Task<> { co_return; };
    co_return reply;
  }
  response.headers.add("Content-Type", "text/plain");
  response.body = request.method + " " + request.path + " [" + request.body + "] " + request.remote_address;
  co_return response;
}

class HttpServerTest : public testing::Test {
 protected:
  // The tests' patience is short where they wait for a limit, long where they must not reach it.
  void start(HttpServerOptions options = {}) {
    options.handler = [stage = stage_](HttpRequest request) { return handle(std::move(request), stage); };
    options.header_bytes_max = 1000;
    options.linger_timeout = Milliseconds(5'000);
    options.body_bytes_max = [](std::string_view, std::string_view path) {
      return path == "/large" ? std::size_t{32} * 1024 * 1024 : kBodyMax;
    };
    options.refusal = [](int status, std::string_view message) {
      HttpResponse response;
      response.status = status;
      response.headers.add("Content-Type", "application/json");
      response.body = "{\"message\":\"" + std::string(message) + "\"}";
      return response;
    };
    server_ = thread_.call([&] { return HttpServer::listen(thread_.loop(), std::move(options)).value(); });
  }
  ~HttpServerTest() override {
    if (server_) stop(Milliseconds(0));
    thread_.call([&] { server_.reset(); });
  }

  void stop(Milliseconds drain) { thread_.run(server_->stop(Deadline::after(system_clock(), drain))); }
  RawSocket connect() { return RawSocket::connect(server_->port()); }
  // Sends, ends the sending side, and reads all that comes.
  std::string exchange(std::string_view bytes) {
    RawSocket client = connect();
    client.send(bytes);
    client.shutdown_send();
    return client.read_to_end();
  }
  static std::string get(std::string_view path) {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: test\r\n\r\n";
  }
  std::size_t connections() {
    return thread_.call([&] { return server_->connections(); });
  }

  std::shared_ptr<Stage> stage_ = std::make_shared<Stage>();
  LoopThread thread_;
  std::unique_ptr<HttpServer> server_;
};

bool has_status(std::string_view response, int status) {
  return response.starts_with("HTTP/1.1 " + std::to_string(status) + " ");
}

TEST_F(HttpServerTest, AnswersRequestAfterRequestOnOneConnection) {
  start();
  RawSocket client = connect();
  for (int i = 0; i < 3; ++i) {
    client.send("POST /a HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n\r\nbody");
    const std::string head = client.read_until("\r\n\r\n");
    EXPECT_TRUE(has_status(head, 200)) << head;
    EXPECT_TRUE(head.contains("Content-Length: 24\r\n")) << head;
    EXPECT_TRUE(head.contains("\r\nDate: ")) << head;
    EXPECT_FALSE(head.contains("Connection:")) << head;
    EXPECT_EQ(client.read_bytes(24), "POST /a [body] 127.0.0.1");
  }
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  start();
  const std::string all = exchange(get("/1") + get("/2") + "GET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_LT(all.find("GET /1"), all.find("GET /2"));
  EXPECT_LT(all.find("GET /2"), all.find("GET /3"));
  EXPECT_TRUE(all.contains("Connection: close\r\n"));
}

TEST_F(HttpServerTest, ReadsRequestsThatArriveByteByByte) {
  start();
  RawSocket client = connect();
  for (const char c : std::string("POST /a HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\nhi")) {
    client.send(std::string_view(&c, 1));
  }
  client.read_until("\r\n\r\n");
  EXPECT_EQ(client.read_bytes(12), "POST /a [hi]");
}

TEST_F(HttpServerTest, MeasuresButDoesNotSendTheBodyForHead) {
  start();
  const std::string response = exchange("HEAD /a HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(response.contains("Content-Length: 20\r\n")) << response;
  EXPECT_TRUE(response.ends_with("\r\n\r\n")) << response;
}

TEST_F(HttpServerTest, SendsNoLengthWithoutContent) {
  start();
  EXPECT_FALSE(exchange(get("/empty")).contains("Content-Length"));
}

TEST_F(HttpServerTest, SpeaksHttp10) {
  start();
  EXPECT_TRUE(exchange("GET /a HTTP/1.0\r\n\r\n").contains("Connection: close\r\n"));
  RawSocket client = connect();
  client.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_TRUE(client.read_until("\r\n\r\n").contains("Connection: keep-alive\r\n"));
}

TEST_F(HttpServerTest, RefusesMalformedRequestsAndCloses) {
  start();
  const std::string response = exchange("GARBAGE\r\n\r\n");
  EXPECT_TRUE(has_status(response, 400)) << response;
  EXPECT_TRUE(response.contains("Connection: close\r\n"));
  EXPECT_TRUE(response.ends_with("{\"message\":\"The request is not well-formed HTTP.\"}")) << response;
}

TEST_F(HttpServerTest, BoundsHeadsExactly) {
  start();
  const auto head_of = [](std::size_t bytes) {
    const std::string begin = "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX: ";
    return begin + std::string(bytes - begin.size() - 4, 'x') + "\r\n\r\n";
  };
  EXPECT_TRUE(has_status(exchange(head_of(999)), 200));
  EXPECT_TRUE(has_status(exchange(head_of(1000)), 200));
  EXPECT_TRUE(has_status(exchange(head_of(1001)), 431));
}

TEST_F(HttpServerTest, BoundsBodiesExactlyByRoute) {
  start();
  const auto post = [](std::string_view path, std::size_t bytes) {
    return "POST " + std::string(path) + " HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(bytes) +
           "\r\nConnection: close\r\n\r\n" + std::string(bytes, 'x');
  };
  EXPECT_TRUE(has_status(exchange(post("/a", kBodyMax - 1)), 200));
  EXPECT_TRUE(has_status(exchange(post("/a", kBodyMax)), 200));
  EXPECT_TRUE(has_status(exchange(post("/a", kBodyMax + 1)), 413));
  EXPECT_TRUE(has_status(exchange(post("/large", 200'000)), 200));
}

TEST_F(HttpServerTest, LetsTheClientSeeTheRefusalOfALargeBody) {
  start();
  // The body is far more than the sockets hold, so the client is still sending when it is refused.
  constexpr std::size_t kBodyBytes = 16 * 1024 * 1024;
  RawSocket client = connect();
  client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(kBodyBytes) + "\r\n\r\n");
  EXPECT_TRUE(client.send(std::string(kBodyBytes, 'x')));
  client.shutdown_send();
  const std::string response = client.read_to_end();
  EXPECT_TRUE(has_status(response, 413)) << response;
  EXPECT_TRUE(response.ends_with("{\"message\":\"The request's body is too large.\"}")) << response;
  EXPECT_FALSE(client.was_reset());
}

TEST_F(HttpServerTest, InvitesTheBodyWhenAsked) {
  start();
  RawSocket client = connect();
  client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hi");
  EXPECT_TRUE(has_status(client.read_until("\r\n\r\n"), 200));
}

TEST_F(HttpServerTest, RefusesTheBodyInsteadOfInvitingIt) {
  start();
  RawSocket client = connect();
  client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 21\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_TRUE(has_status(client.read_until("\r\n\r\n"), 413));
}

TEST_F(HttpServerTest, AnswersAnExceptionWith500AndGoesOn) {
  start();
  RawSocket client = connect();
  client.send(get("/throw"));
  EXPECT_TRUE(has_status(client.read_until("\r\n\r\n"), 500));
  EXPECT_TRUE(client.read_until("}").contains("failed to handle"));
  client.send(get("/a"));
  EXPECT_TRUE(has_status(client.read_until("\r\n\r\n"), 200));
}

TEST_F(HttpServerTest, NeverSendsAHeaderThatBreaksTheFraming) {
  start();
  const std::string response = exchange(get("/bad-header"));
  EXPECT_TRUE(has_status(response, 500)) << response;
  EXPECT_FALSE(response.contains("X: a"));
}

TEST_F(HttpServerTest, GivesSlowHeadsA408) {
  HttpServerOptions options;
  options.header_timeout = Milliseconds(300);
  start(std::move(options));
  RawSocket client = connect();
  client.send("GET / HT");
  EXPECT_TRUE(has_status(client.read_to_end(), 408));
}

TEST_F(HttpServerTest, GivesSlowBodiesA408) {
  HttpServerOptions options;
  options.body_timeout = Milliseconds(30);
  start(std::move(options));
  RawSocket client = connect();
  client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nh");
  EXPECT_TRUE(has_status(client.read_to_end(), 408));
}

TEST_F(HttpServerTest, ClosesIdleConnectionsSilently) {
  HttpServerOptions options;
  options.keep_alive_timeout = Milliseconds(30);
  start(std::move(options));
  RawSocket client = connect();
  client.send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n");
  client.read_until("\r\n\r\n");
  EXPECT_EQ(client.read_to_end(), "");
}

TEST_F(HttpServerTest, TurnsConnectionsBeyondTheLimitAway) {
  HttpServerOptions options;
  options.connections_max = 1;
  start(std::move(options));
  RawSocket first = connect();
  first.send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(has_status(first.read_until("\r\n\r\n"), 200));
  EXPECT_TRUE(has_status(exchange(get("/a")), 503));
  first.send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(has_status(first.read_until("\r\n\r\n"), 200));
}

TEST_F(HttpServerTest, ReportsBindErrorsByKind) {
  start();
  const auto kind_of = [&](std::string address, std::uint16_t port) {
    HttpServerOptions options;
    options.address = std::move(address);
    options.port = port;
    return thread_.call([&] {
      auto server = HttpServer::listen(thread_.loop(), options);
      return server ? BindErrorKind::Other : server.error().kind;
    });
  };
  EXPECT_EQ(kind_of("127.0.0.1", server_->port()), BindErrorKind::AddressInUse);
  EXPECT_EQ(kind_of("localhost", 0), BindErrorKind::InvalidAddress);
  EXPECT_EQ(kind_of("192.0.2.1", 0), BindErrorKind::InvalidAddress);
}

TEST_F(HttpServerTest, DrainsBeforeItStops) {
  start();
  RawSocket idle = connect();
  idle.send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n");
  idle.read_until("\r\n\r\n");
  RawSocket busy = connect();
  busy.send(get("/hold"));
  stage_->handler_entered.get_future().get();
  auto stopping = std::async([&] { stop(Milliseconds(kTestPatienceSeconds * 1000)); });
  EXPECT_EQ(idle.read_to_end(), "") << "idle connections go at once";
  thread_.call([&] { stage_->let_handler_go.set(); });
  const std::string response = busy.read_to_end();
  EXPECT_TRUE(has_status(response, 200)) << response;
  EXPECT_TRUE(response.contains("Connection: close\r\n"));
  busy.close();
  stopping.get();
  EXPECT_FALSE(stage_->saw_stop);
  stop(Milliseconds(0));
}

TEST_F(HttpServerTest, CutsWhatIsLeftAtTheDrainDeadline) {
  start();
  RawSocket busy = connect();
  busy.send(get("/hold"));
  stage_->handler_entered.get_future().get();
  stop(Milliseconds(10));
  EXPECT_TRUE(stage_->saw_stop);
  EXPECT_EQ(busy.read_to_end(), "");
}

TEST_F(HttpServerTest, AsksForAnUpgradeWhereASocketIsServed) {
  start();
  const std::string response = exchange(get("/socket"));
  EXPECT_TRUE(has_status(response, 426)) << response;
  EXPECT_TRUE(response.contains("Upgrade: websocket\r\n"));
}

TEST_F(HttpServerTest, StreamsEventsInChunksAndEndsCleanly) {
  start();
  const auto keep_open = connect();
  RawSocket client = connect();
  client.send(get("/three"));
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_TRUE(has_status(head, 200)) << head;
  EXPECT_TRUE(head.contains("Content-Type: text/event-stream\r\n"));
  EXPECT_TRUE(head.contains("X-Stream: yes\r\n"));
  EXPECT_TRUE(head.contains("Transfer-Encoding: chunked\r\n"));
  EXPECT_EQ(client.read_to_end(), "12\r\nevent: a\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n9\r\ndata: 3\n\n\r\n0\r\n\r\n");
}

TEST_F(HttpServerTest, StreamsPlainlyToHttp10) {
  start();
  RawSocket client = connect();
  client.send("GET /three HTTP/1.0\r\n\r\n");
  client.read_until("\r\n\r\n");
  EXPECT_EQ(client.read_to_end(), "event: a\ndata: 1\n\ndata: 2\n\ndata: 3\n\n");
}

TEST_F(HttpServerTest, LeavesAStreamUnfinishedWhoseHandlerThrew) {
  start();
  RawSocket client = connect();
  client.send(get("/broken"));
  client.read_until("\r\n\r\n");
  EXPECT_EQ(client.read_to_end(), "9\r\ndata: 1\n\n\r\n");
}

TEST_F(HttpServerTest, KeepsQuietStreamsAlive) {
  HttpServerOptions options;
  options.ping_interval = Milliseconds(10);
  start(std::move(options));
  RawSocket client = connect();
  client.send(get("/quiet"));
  client.read_until("data: hello\n\n\r\n");
  EXPECT_EQ(client.read_until(": keep-alive\n\n\r\n"), "e\r\n: keep-alive\n\n\r\n");
  EXPECT_EQ(client.read_until(": keep-alive\n\n\r\n"), "e\r\n: keep-alive\n\n\r\n");
}

TEST_F(HttpServerTest, TellsAStreamThatItsClientLeft) {
  start();
  RawSocket client = connect();
  client.send(get("/quiet"));
  client.read_until("data: hello\n\n\r\n");
  client.close();
  EXPECT_EQ(stage_->stream_closed.get_future().get(), StopReason::PeerClosed);
  EXPECT_EQ(stage_->sent_frames, 0);
}

TEST_F(HttpServerTest, CutsSlowReadersOff) {
  HttpServerOptions options;
  options.stream_write_timeout = Milliseconds(50);
  start(std::move(options));
  RawSocket client = RawSocket::connect(server_->port(), 4096);
  client.send(get("/flood"));
  EXPECT_EQ(stage_->stream_closed.get_future().get(), StopReason::SlowPeer);
  // Only what the kernel took was ever sent: nothing was piled up here.
  EXPECT_LT(stage_->sent_frames, 200);
}

TEST_F(HttpServerTest, CutsOffClientsThatTalkIntoAStream) {
  start();
  RawSocket client = connect();
  client.send(get("/quiet"));
  client.read_until("data: hello\n\n\r\n");
  client.send(std::string(100 * 1024, 'x'));
  EXPECT_EQ(stage_->stream_closed.get_future().get(), StopReason::ProtocolViolation);
}

TEST_F(HttpServerTest, LetsStreamsSayTheirLastWordsWhenItDrains) {
  start();
  RawSocket client = connect();
  client.send(get("/quiet"));
  client.read_until("data: hello\n\n\r\n");
  stop(Milliseconds(kTestPatienceSeconds * 1000));
  EXPECT_EQ(stage_->stream_closed.get_future().get(), StopReason::Shutdown);
  EXPECT_EQ(client.read_to_end(), "12\r\ndata: last words\n\n\r\n0\r\n\r\n");
}

TEST_F(HttpServerTest, HoldsManyQuietStreams) {
  start();
  std::vector<RawSocket> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(connect());
    clients.back().send(get("/many"));
    clients.back().read_until("data: hello\n\n\r\n");
  }
  EXPECT_EQ(connections(), 10u);
  stop(Milliseconds(kTestPatienceSeconds * 1000));
  for (RawSocket& client : clients) EXPECT_EQ(client.read_to_end(), "0\r\n\r\n");
  EXPECT_EQ(connections(), 0u);
}

}  // namespace
}  // namespace assay::net

#include "net/http_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "net/event.h"
#include "net/http_server.h"
#include "net/loopback_fixture.h"
#include "net/task_group.h"

namespace assay::net {
namespace {

constexpr std::string_view kHead = "HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: ";

// A server of one connection that follows a script, on a thread of its own.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::function<void(RawSocket&, std::string request)> script)
      : thread_([this, script = std::move(script)] {
          RawSocket socket = listener_.accept();
          std::string request = socket.read_until("\r\n\r\n");
          script(socket, std::move(request));
        }) {}
  ~ScriptedServer() { thread_.join(); }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] std::string url(std::string_view path = "/") const { return listener_.url(path); }

 private:
  RawListener listener_;
  std::thread thread_;
};

struct Got {
  std::optional<HttpErrorKind> error;
  std::string message;
  int status = 0;
  HttpHeaders headers;
  std::string body;  // also what came before an error
  std::size_t pieces = 0;
};

Task<> get_into(HttpClient& client, OutgoingRequest request, StopToken stop, Got& got) {
  auto stream = co_await client.open(std::move(request), stop);
  if (!stream) {
    got.error = stream.error().kind;
    got.message = stream.error().message;
    co_return;
  }
  got.status = stream->head().status;
  got.headers = stream->head().headers;
  while (true) {
    auto piece = co_await stream->next();
    if (!piece) {
      got.error = piece.error().kind;
      got.message = piece.error().message;
      co_return;
    }
    if (!*piece) co_return;
    got.body += **piece;
    ++got.pieces;
  }
}

Got get(OutgoingRequest request, StopToken stop = StopToken()) {
  Loop loop;
  HttpClient client(loop);
  Got got;
  loop.run(get_into(client, std::move(request), stop, got));
  return got;
}

OutgoingRequest to(std::string url) {
  OutgoingRequest request;
  request.url = std::move(url);
  return request;
}

Got get(std::string url) { return get(to(std::move(url))); }

std::string response(std::string_view body, std::string_view fields = "") {
  return std::string(kHead) + std::to_string(body.size()) + "\r\n" + std::string(fields) + "\r\n" + std::string(body);
}

TEST(HttpClient, SendsTheRequestAsGiven) {
  std::string head;
  std::string body;
  {
    ScriptedServer server([&](RawSocket& socket, std::string request) {
      head = std::move(request);
      body = socket.read_bytes(5);
      socket.send(response("ok"));
    });
    OutgoingRequest request = to(server.url("/v1/x?y=1"));
    request.method = "POST";
    request.headers = {{"Authorization", "Bearer k"}, {"X-Empty", ""}};
    request.body = std::string("a\0b{}", 5);
    const Got got = get(std::move(request));
    EXPECT_FALSE(got.error) << got.message;
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.headers.get("x-a"), "1");
    EXPECT_EQ(got.body, "ok");
  }
  EXPECT_TRUE(head.starts_with("POST /v1/x?y=1 HTTP/1.1\r\n")) << head;
  EXPECT_TRUE(head.contains("Authorization: Bearer k\r\n"));
  EXPECT_TRUE(head.contains("X-Empty:")) << head;
  EXPECT_TRUE(head.contains("Content-Length: 5\r\n"));
  EXPECT_FALSE(head.contains("Expect:"));
  EXPECT_FALSE(head.contains("Content-Type:")) << head;
  EXPECT_EQ(body, std::string("a\0b{}", 5));
}

TEST(HttpClient, SendsALengthWithAnEmptyPost) {
  std::string head;
  {
    ScriptedServer server([&](RawSocket& socket, std::string request) {
      head = std::move(request);
      socket.send(response(""));
    });
    OutgoingRequest request = to(server.url());
    request.method = "POST";
    EXPECT_EQ(get(std::move(request)).status, 200);
  }
  EXPECT_TRUE(head.contains("Content-Length: 0\r\n")) << head;
}

TEST(HttpClient, ReadsResponsesSplitAnywhere) {
  ScriptedServer server([](RawSocket& socket, const std::string&) {
    socket.send("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
    const std::string all =
        "HTTP/1.1 200 OK\r\nX-A:  two \r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    for (const char c : all) socket.send(std::string_view(&c, 1));
  });
  const Got got = get(server.url());
  EXPECT_FALSE(got.error) << got.message;
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.headers.get("X-A"), "two");
  EXPECT_FALSE(got.headers.has("Link"));
  EXPECT_EQ(got.body, "abcde");
}

TEST(HttpClient, HandsErrorStatusesAndRedirectsOver) {
  for (const char* status : {"301", "404", "429", "529"}) {
    ScriptedServer server([status](RawSocket& socket, const std::string&) {
      socket.send("HTTP/1.1 " + std::string(status) +
                  " X\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 2\r\n\r\n{}");
    });
    const Got got = get(server.url());
    EXPECT_EQ(std::to_string(got.status), status);
    EXPECT_EQ(got.body, "{}");
  }
}

TEST(HttpClient, DecodesGzip) {
  constexpr unsigned char kGzip[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb,
                                     0x48, 0xcd, 0xc9, 0xc9, 0x57, 0x28, 0xcf, 0x2f, 0xca, 0x49, 0x01,
                                     0x00, 0x85, 0x11, 0x4a, 0x0d, 0x0b, 0x00, 0x00, 0x00};
  std::string head;
  {
    ScriptedServer server([&](RawSocket& socket, std::string request) {
      head = std::move(request);
      socket.send(response(std::string_view(reinterpret_cast<const char*>(kGzip), sizeof(kGzip)),
                           "Content-Encoding: gzip\r\n"));
    });
    EXPECT_EQ(get(server.url()).body, "hello world");
  }
  for (const char* coding : {"gzip", "br", "zstd"}) EXPECT_TRUE(head.contains(coding)) << head;
}

TEST(HttpClient, TellsACutBodyFromACleanEnd) {
  const std::string cuts[] = {std::string(kHead) + "10\r\n\r\nabc",
                              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
                              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"};
  for (const std::string& cut : cuts) {
    ScriptedServer server([&](RawSocket& socket, const std::string&) { socket.send(cut); });
    const Got got = get(server.url());
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.body, "abc");
    EXPECT_EQ(got.error, HttpErrorKind::Interrupted) << got.message;
  }
  ScriptedServer server([](RawSocket& socket, const std::string&) { socket.send("HTTP/1.1 200 OK\r\n\r\nabc"); });
  const Got whole = get(server.url());
  EXPECT_EQ(whole.body, "abc");
  EXPECT_FALSE(whole.error);
}

TEST(HttpClient, ReportsAResetAsInterrupted) {
  ScriptedServer server([](RawSocket& socket, const std::string&) {
    socket.send(std::string(kHead) + "10\r\n\r\n");
    socket.reset_on_close();
  });
  EXPECT_EQ(get(server.url()).error, HttpErrorKind::Interrupted);
}

TEST(HttpClient, ReportsAMissingResponseAsInterrupted) {
  ScriptedServer server([](RawSocket&, const std::string&) {});
  EXPECT_EQ(get(server.url()).error, HttpErrorKind::Interrupted);
}

TEST(HttpClient, ReportsWhatIsNotHttp) {
  ScriptedServer server([](RawSocket& socket, const std::string&) { socket.send("SSH-2.0-x\r\n"); });
  const Got got = get(server.url());
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error, HttpErrorKind::Other) << got.message;
}

TEST(HttpClient, ReportsRefusedConnectionsUnresolvedNamesAndBadUrls) {
  std::string nobody;
  {
    RawListener listener;
    nobody = listener.url();
  }
  EXPECT_EQ(get(nobody).error, HttpErrorKind::Connect);
  EXPECT_EQ(get("http://name.invalid/").error, HttpErrorKind::Resolve);
  for (const char* url :
       {"", "x", "/path", "ftp://h/", "file:///etc/passwd", "http://", "http://h:99999/", "http://a b/"}) {
    EXPECT_EQ(get(url).error, HttpErrorKind::InvalidUrl) << url;
  }
}

// Connects by https to a peer that answers the TLS hello with these bytes, then waits for the client to leave.
Got get_by_tls(std::string_view answer) {
  RawListener listener;
  std::thread peer([&] {
    RawSocket socket = listener.accept();
    EXPECT_FALSE(socket.read_some().empty());
    socket.send(answer);
    socket.read_to_end();
  });
  OutgoingRequest request = to("https://127.0.0.1:" + std::to_string(listener.port()) + "/");
  request.connect_timeout = Milliseconds(answer.empty() ? 300 : 10'000);
  Got got = get(std::move(request));
  peer.join();
  return got;
}

TEST(HttpClient, ReportsAPeerThatSpeaksNoTls) {
  const Got got = get_by_tls("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_EQ(got.error, HttpErrorKind::Tls) << got.message;
}

TEST(HttpClient, LimitsTheTimeToConnectHandshakeIncluded) {
  const Got got = get_by_tls("");
  EXPECT_EQ(got.error, HttpErrorKind::TimeoutConnect) << got.message;
}

TEST(HttpClient, NamesNoSecretsInErrors) {
  std::string nobody;
  {
    RawListener listener;
    nobody = listener.url("/secret-path?key=secret-query");
  }
  nobody.insert(7, "secret-user:secret-password@");
  OutgoingRequest request = to(nobody);
  request.headers = {{"Authorization", "secret-header"}};
  const Got got = get(std::move(request));
  EXPECT_EQ(got.error, HttpErrorKind::Connect);
  EXPECT_TRUE(got.message.contains("127.0.0.1")) << got.message;
  EXPECT_FALSE(got.message.contains("secret")) << got.message;
  EXPECT_FALSE(get("http://secret:secret@a b/").message.contains("secret"));
}

TEST(HttpClient, RefusesFieldsThatBreakTheFraming) {
  OutgoingRequest request = to("http://127.0.0.1:1/");
  request.headers = {{"X", "a\r\nY: b"}};
  EXPECT_EQ(get(request).error, HttpErrorKind::Other);
  request.headers = {};
  request.method = "GET / HTTP/1.1\r\nX:";
  EXPECT_EQ(get(request).error, HttpErrorKind::Other);
}

// Keeps the connection open until the client leaves.
void wait_for_end(RawSocket& socket) { EXPECT_EQ(socket.read_to_end(), ""); }

TEST(HttpClient, LimitsTheWaitForTheHead) {
  ScriptedServer server([](RawSocket& socket, const std::string&) {
    socket.send("HTTP/1.1 200 OK\r\n");
    wait_for_end(socket);
  });
  OutgoingRequest request = to(server.url());
  request.first_byte_timeout = Milliseconds(30);
  EXPECT_EQ(get(std::move(request)).error, HttpErrorKind::TimeoutFirstByte);
}

TEST(HttpClient, LimitsSilenceWithinTheBody) {
  ScriptedServer server([](RawSocket& socket, const std::string&) {
    socket.send(std::string(kHead) + "10\r\n\r\nabc");
    wait_for_end(socket);
  });
  OutgoingRequest request = to(server.url());
  request.idle_timeout = Milliseconds(30);
  const Got got = get(std::move(request));
  EXPECT_EQ(got.body, "abc");
  EXPECT_EQ(got.error, HttpErrorKind::TimeoutIdle);
}

TEST(HttpClient, LimitsTheWholeExchange) {
  ScriptedServer server([](RawSocket& socket, const std::string&) {
    socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (socket.send("1\r\nx\r\n")) std::this_thread::yield();
  });
  OutgoingRequest request = to(server.url());
  request.total = Deadline::after(system_clock(), Milliseconds(50));
  request.response_bytes_max = std::size_t{1} << 40;
  EXPECT_EQ(get(std::move(request)).error, HttpErrorKind::TimeoutTotal);
}

TEST(HttpClient, BoundsTheBodyExactly) {
  const auto get_of_size = [](std::size_t bytes) {
    ScriptedServer server(
        [bytes](RawSocket& socket, const std::string&) { socket.send(response(std::string(bytes, 'x'))); });
    OutgoingRequest request = to(server.url());
    request.response_bytes_max = 1000;
    return get(std::move(request));
  };
  EXPECT_FALSE(get_of_size(999).error);
  EXPECT_FALSE(get_of_size(1000).error);
  EXPECT_EQ(get_of_size(1001).error, HttpErrorKind::TooLarge);
}

TEST(HttpClient, BoundsTheHead) {
  ScriptedServer server([](RawSocket& socket, const std::string&) {
    socket.send("HTTP/1.1 200 OK\r\n");
    const std::string field = "X: " + std::string(60'000, 'x') + "\r\n";
    while (socket.send(field)) std::this_thread::yield();
  });
  const Got got = get(server.url());
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error, HttpErrorKind::TooLarge) << got.message;
}

Task<> slow_reader(HttpClient& client, std::string url, Event& reader_may_go, std::size_t& total) {
  auto stream = co_await client.open(to(std::move(url)));
  EXPECT_TRUE(stream);
  if (!stream) co_return;
  co_await reader_may_go.wait(Deadline::never());
  while (true) {
    auto piece = co_await stream->next();
    EXPECT_TRUE(piece) << piece.error().message;
    if (!piece || !*piece) co_return;
    EXPECT_LE((*piece)->size(), kUnreadBodyBytesMax + 64 * 1024);
    total += (*piece)->size();
  }
}

TEST(HttpClient, HoldsTheServerUpForASlowReader) {
  constexpr std::size_t kBodyBytes = 16 * 1024 * 1024 - 1;
  std::atomic<std::size_t> sent{0};
  std::promise<void> blocked;
  Event reader_may_go;
  std::size_t total = 0;
  LoopThread thread;
  auto client = thread.call([&] { return std::make_unique<HttpClient>(thread.loop()); });
  {
    ScriptedServer server([&](RawSocket& socket, const std::string&) {
      socket.send(std::string(kHead) + std::to_string(kBodyBytes) + "\r\n\r\n");
      const std::string piece(64 * 1024, 'x');
      while (sent < kBodyBytes) {
        const std::size_t next = std::min(piece.size(), kBodyBytes - sent);
        if (!socket.try_send_within(std::string_view(piece).substr(0, next), Milliseconds(300))) {
          blocked.set_value();
          EXPECT_LT(sent, kBodyBytes);
          socket.send(std::string(kBodyBytes - sent, 'x'));
          return;
        }
        sent += next;
      }
      blocked.set_value();
    });
    auto reading = std::async([&] { thread.run(slow_reader(*client, server.url(), reader_may_go, total)); });
    blocked.get_future().get();
    EXPECT_LT(sent, kBodyBytes) << "the server was never held up";
    thread.call([&] { reader_may_go.set(); });
    reading.get();
  }
  EXPECT_EQ(total, kBodyBytes);
  thread.call([&] { client.reset(); });
}

Task<> stop_on_first_piece(HttpClient& client, std::string url, StopSource& source, Got& got) {
  auto stream = co_await client.open(to(std::move(url)), source.token());
  EXPECT_TRUE(stream);
  if (!stream) co_return;
  auto piece = co_await stream->next();
  EXPECT_TRUE(piece && *piece);
  source.stop(StopReason::Interrupted);
  piece = co_await stream->next();
  if (!piece) got.error = piece.error().kind;
  piece = co_await stream->next();
  EXPECT_FALSE(piece) << "the answer stays";
}

TEST(HttpClient, EndsTheConnectionWhenStopped) {
  Got got;
  Loop loop;
  HttpClient client(loop);
  StopSource source;
  ScriptedServer server([](RawSocket& socket, const std::string&) {
    socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    wait_for_end(socket);
  });
  loop.run(stop_on_first_piece(client, server.url(), source, got));
  EXPECT_EQ(got.error, HttpErrorKind::Stopped);
}

Task<> stop_later(HttpClient& client, Loop& loop, std::string url, std::future<void> ready, Got& got) {
  StopSource source;
  TaskGroup group(loop);
  group.spawn("get", get_into(client, to(std::move(url)), source.token(), got));
  auto wait = [&ready] { ready.get(); };
  co_await loop.run_blocking(std::move(wait));
  source.stop(StopReason::Superseded);
  co_await group.join();
}

TEST(HttpClient, StopsWhileItWaitsForTheHead) {
  Got got;
  Loop loop;
  HttpClient client(loop);
  std::promise<void> requested;
  ScriptedServer server([&](RawSocket& socket, const std::string&) {
    requested.set_value();
    wait_for_end(socket);
  });
  loop.run(stop_later(client, loop, server.url(), requested.get_future(), got));
  EXPECT_EQ(got.error, HttpErrorKind::Stopped);
  EXPECT_TRUE(got.message.contains("superseded")) << got.message;
}

TEST(HttpClient, DoesNotEvenConnectWhenStoppedBefore) {
  StopSource source;
  source.stop(StopReason::Shutdown);
  EXPECT_EQ(get(to("http://127.0.0.1:1/"), source.token()).error, HttpErrorKind::Stopped);
}

Task<> abandon(HttpClient& client, std::string url, bool close) {
  auto stream = co_await client.open(to(std::move(url)));
  EXPECT_TRUE(stream);
  if (!stream || !close) co_return;
  stream->close();
  const auto piece = co_await stream->next();
  EXPECT_FALSE(piece);
  if (!piece) EXPECT_EQ(piece.error().kind, HttpErrorKind::Stopped);
}

TEST(HttpClient, EndsTheConnectionWhenTheStreamIsDroppedOrClosed) {
  for (const bool close : {false, true}) {
    Loop loop;
    HttpClient client(loop);
    ScriptedServer server([](RawSocket& socket, const std::string&) {
      socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
      wait_for_end(socket);
    });
    loop.run(abandon(client, server.url(), close));
  }
}

Task<> keep(HttpClient& client, std::string url, std::optional<HttpStream>& kept) {
  auto stream = co_await client.open(to(std::move(url)));
  EXPECT_TRUE(stream);
  if (stream) kept.emplace(std::move(*stream));
}

TEST(HttpClient, LetsStreamsOutliveIt) {
  Loop loop;
  std::optional<HttpStream> kept;
  ScriptedServer server([](RawSocket& socket, const std::string&) {
    socket.send(std::string(kHead) + "10\r\n\r\nabc");
    wait_for_end(socket);
  });
  {
    HttpClient client(loop);
    loop.run(keep(client, server.url(), kept));
  }
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->head().status, 200);
  kept.reset();
}

Task<> hold(HttpClient& client, std::string url, Event& opened) {
  auto stream = co_await client.open(to(std::move(url)));
  opened.set();
  auto piece = co_await stream->next();
  ADD_FAILURE() << "the loop is destroyed before the body comes";
}

Task<> until(Event& opened) { co_await opened.wait(Deadline::never()); }

TEST(HttpClient, MayBeInUseWhenTheLoopGoesDown) {
  ScriptedServer server([](RawSocket& socket, const std::string&) {
    socket.send(std::string(kHead) + "10\r\n\r\n");
    wait_for_end(socket);
  });
  Event opened;
  auto loop = std::make_unique<Loop>();
  auto client = std::make_unique<HttpClient>(*loop);
  loop->spawn("holder", hold(*client, server.url(), opened));
  loop->run(until(opened));
  client.reset();
  loop.reset();
}

Task<> fetch_twice(HttpClient& client, std::string url) {
  for (int i = 0; i < 2; ++i) {
    OutgoingRequest request = to(url);
    const auto response = co_await client.fetch(std::move(request));
    EXPECT_TRUE(response) << response.error().message;
    if (response) EXPECT_EQ(response->body, "body");
    if (response) EXPECT_EQ(response->head.status, 200);
  }
}

TEST(HttpClient, ReusesItsConnections) {
  Loop loop;
  HttpClient client(loop);
  // The script serves one connection only.
  ScriptedServer server([](RawSocket& socket, const std::string&) {
    socket.send(response("body"));
    socket.read_until("\r\n\r\n");
    socket.send(response("body"));
  });
  loop.run(fetch_twice(client, server.url()));
}

Task<> fetch_cut(HttpClient& client, std::string url) {
  const auto response = co_await client.fetch(to(std::move(url)));
  EXPECT_FALSE(response);
  if (!response) EXPECT_EQ(response.error().kind, HttpErrorKind::Interrupted);
}

TEST(HttpClient, FetchesNothingFromACutBody) {
  Loop loop;
  HttpClient client(loop);
  ScriptedServer server(
      [](RawSocket& socket, const std::string&) { socket.send(std::string(kHead) + "9\r\n\r\nabc"); });
  loop.run(fetch_cut(client, server.url()));
}

Task<HttpReply> serve_events(HttpRequest) {
  EventStreamReply reply;
  reply.run = [](EventStream& stream) -> Task<> {
    for (int i = 0; i < 3; ++i) co_await stream.send("data: x\n\n");
  };
  co_return reply;
}

Task<> against_own_server(Loop& loop) {
  HttpServerOptions options;
  options.handler = serve_events;
  auto server = HttpServer::listen(loop, std::move(options)).value();
  HttpClient client(loop);
  Got got;
  co_await get_into(client, to("http://127.0.0.1:" + std::to_string(server->port())), StopToken(), got);
  EXPECT_EQ(got.body, "data: x\n\ndata: x\n\ndata: x\n\n");
  EXPECT_FALSE(got.error) << got.message;
  co_await server->stop(Deadline::never());
}

TEST(HttpClient, ReadsTheEventsOfOurOwnServer) {
  Loop loop;
  loop.run(against_own_server(loop));
}

}  // namespace
}  // namespace assay::net

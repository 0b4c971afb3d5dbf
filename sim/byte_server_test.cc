#include "sim/byte_server.h"

#include <gtest/gtest.h>

#include <thread>

#include "net/loopback_fixture.h"
#include "sim/rendering.h"

namespace assay::sim {
namespace {

net::Task<Plan> echo(SimRequest request, net::StopToken) {
  co_return render_json(200, request.method + " " + request.path + " " + request.query + " " + request.body);
}
net::Task<Plan> cut(SimRequest, net::StopToken) {
  Plan plan;
  plan.steps.emplace_back(Send{"half"});
  plan.steps.emplace_back(Cut{});
  co_return plan;
}

class Served {
 public:
  explicit Served(std::function<net::Task<Plan>(SimRequest, net::StopToken)> plan) {
    ByteServerOptions options;
    options.points = &points_;
    options.plan = std::move(plan);
    server_ = thread_.call([&] { return std::move(*ByteServer::listen(thread_.loop(), std::move(options))); });
  }
  ~Served() {
    thread_.run(server_->stop());
    thread_.call([&] { server_.reset(); });
  }
  net::RawSocket connect() { return net::RawSocket::connect(server_->port()); }

 private:
  WaitPoints points_;
  net::LoopThread thread_;
  std::unique_ptr<ByteServer> server_;
};

TEST(ByteServer, AnswersRequestAfterRequest) {
  Served served(echo);
  net::RawSocket socket = served.connect();
  socket.send("POST /a?b=c HTTP/1.1\r\nContent-Length: 2\r\n\r\nhiGET /d HTTP/1.1\r\n\r\n");
  EXPECT_NE(socket.read_until("hi").find("POST /a b=c hi"), std::string::npos);
  EXPECT_NE(socket.read_until("GET /d  ").find("200 OK"), std::string::npos);
}

TEST(ByteServer, ReadsChunkedBodiesAndContinues) {
  Served served(echo);
  net::RawSocket socket = served.connect();
  socket.send("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(socket.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.send("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_NE(socket.read_until("abcde").find("200 OK"), std::string::npos);
}

TEST(ByteServer, CutsWhereThePlanSaysSo) {
  Served served(cut);
  net::RawSocket socket = served.connect();
  socket.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(socket.read_to_end(), "half");
}

TEST(ByteServer, HangsUpOnWhatIsNoRequest) {
  Served served(echo);
  for (const char* bytes : {"nonsense\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
                            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    net::RawSocket socket = served.connect();
    socket.send(bytes);
    EXPECT_EQ(socket.read_to_end(), "") << bytes;
  }
  net::RawSocket socket = served.connect();
  for (std::size_t sent = 0; sent <= 2 * kRequestHeadBytesMax; sent += 1024)
    socket.send("X-Long: " + std::string(1024, 'x') + "\r\n");
  EXPECT_EQ(socket.read_to_end(), "");
}

TEST(ByteServer, SaysWhyItCannotListen) {
  net::Loop loop;
  ByteServerOptions options;
  options.address = "nowhere";
  EXPECT_EQ(ByteServer::listen(loop, options).error(), "'nowhere' is no IP address");
  options.address = "127.0.0.1";
  net::RawListener taken;
  options.port = taken.port();
  EXPECT_NE(ByteServer::listen(loop, options).error().find("cannot listen on 127.0.0.1:"), std::string::npos);
}

}  // namespace
}  // namespace assay::sim

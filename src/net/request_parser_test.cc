#include "net/request_parser.h"

#include <gtest/gtest.h>

namespace assay::net {
namespace {

using State = RequestParser::State;
constexpr std::size_t kHeaderMax = 200;
constexpr std::size_t kBodyMax = 10;

struct Outcome {
  State state = State::NeedsMore;
  int status = 0;
  HttpRequest request;
  std::string left;
  bool keeps_alive = false;
};

// Feeds the bytes in pieces, as a connection does.
Outcome parse(std::string_view bytes, std::size_t step = std::string_view::npos) {
  RequestParser parser(kHeaderMax);
  Outcome outcome;
  std::string input;
  bool has_head = false;
  while (true) {
    outcome.state = parser.feed(input);
    if (outcome.state == State::HeadComplete) {
      has_head = true;
      outcome.state = parser.limit_body(kBodyMax);
      if (outcome.state == State::NeedsMore) continue;
    }
    if (outcome.state != State::NeedsMore || bytes.empty()) break;
    input += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  if (outcome.state == State::Refused) outcome.status = parser.refusal().status;
  outcome.keeps_alive = has_head && parser.keeps_alive();
  outcome.request = parser.take();
  outcome.left = input + std::string(bytes);
  return outcome;
}

int status_of(std::string_view bytes) {
  const Outcome outcome = parse(bytes);
  return outcome.state == State::Refused ? outcome.status : 0;
}

TEST(RequestParser, ReadsARequestSplitAnywhere) {
  const std::string bytes =
      "POST /a%20b?x=1&x=2 HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nx-one:  2 \r\nContent-Length: 4\r\n\r\nbodyGET";
  for (std::size_t step = 1; step < bytes.size(); ++step) {
    const Outcome outcome = parse(bytes, step);
    ASSERT_EQ(outcome.state, State::Complete) << step;
    EXPECT_EQ(outcome.request.method, "POST");
    EXPECT_EQ(outcome.request.target, "/a%20b?x=1&x=2");
    EXPECT_EQ(outcome.request.path, "/a b");
    EXPECT_EQ(outcome.request.query("x"), "1");
    EXPECT_EQ(outcome.request.headers.count("X-ONE"), 2u);
    EXPECT_EQ(outcome.request.body, "body");
    EXPECT_EQ(outcome.left, "GET");
    EXPECT_TRUE(outcome.keeps_alive);
    EXPECT_FALSE(outcome.request.asks_for_websocket);
  }
}

TEST(RequestParser, ReadsChunkedBodiesSplitAnywhere) {
  const std::string bytes =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\nbody\r\n2\r\n!!\r\n0\r\nT: 1\r\n\r\n";
  for (std::size_t step = 1; step < bytes.size(); ++step) {
    const Outcome outcome = parse(bytes, step);
    ASSERT_EQ(outcome.state, State::Complete) << step;
    EXPECT_EQ(outcome.request.body, "body!!");
  }
}

std::string with_header_bytes(std::size_t bytes) {
  const std::string begin = "GET / HTTP/1.1\r\nHost: h\r\nX: ";
  return begin + std::string(bytes - begin.size() - 4, 'x') + "\r\n\r\n";
}

TEST(RequestParser, TakesHeadsUpToTheLimit) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::string_view::npos}) {
    EXPECT_EQ(parse(with_header_bytes(kHeaderMax - 1), step).state, State::Complete);
    EXPECT_EQ(parse(with_header_bytes(kHeaderMax), step).state, State::Complete);
    EXPECT_EQ(parse(with_header_bytes(kHeaderMax + 1), step).status, 431);
  }
}

TEST(RequestParser, RefusesAnEndlessHead) {
  EXPECT_EQ(status_of("GET /" + std::string(kHeaderMax, 'x')), 431);
  EXPECT_EQ(status_of(with_header_bytes(kHeaderMax + 50).substr(0, kHeaderMax)), 431);
}

TEST(RequestParser, TakesBodiesUpToTheLimit) {
  const auto counted = [](std::size_t bytes) {
    return "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" +
           std::string(bytes, 'x');
  };
  const auto chunked = [](std::size_t bytes) {
    std::string request = "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (std::size_t i = 0; i < bytes; ++i) request += "1\r\nx\r\n";
    return request + "0\r\n\r\n";
  };
  EXPECT_EQ(parse(counted(kBodyMax - 1)).state, State::Complete);
  EXPECT_EQ(parse(counted(kBodyMax)).state, State::Complete);
  EXPECT_EQ(parse(counted(kBodyMax + 1)).status, 413);
  EXPECT_EQ(parse(chunked(kBodyMax - 1)).state, State::Complete);
  EXPECT_EQ(parse(chunked(kBodyMax)).state, State::Complete);
  EXPECT_EQ(parse(chunked(kBodyMax + 1)).status, 413);
  EXPECT_EQ(status_of("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 18446744073709551615\r\n\r\n"), 413);
}

TEST(RequestParser, RefusesMalformedRequests) {
  for (const char* bytes :
       {"GARBAGE\r\n\r\n", "GET  HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nA b: c\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET x HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    EXPECT_EQ(status_of(bytes), 400) << bytes;
  }
}

TEST(RequestParser, RefusesBodiesWhoseLengthIsAmbiguous) {
  EXPECT_EQ(status_of("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(status_of("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\nContent-Length: 1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(status_of("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"), 501);
  EXPECT_EQ(status_of("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"), 501);
}

TEST(RequestParser, BoundsWhatStandsBetweenChunks) {
  const std::string head = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status_of(head + "1;" + std::string(kHeaderMax, 'x')), 400);
  EXPECT_EQ(status_of(head + "0\r\nT: " + std::string(kHeaderMax, 'x')), 400);
}

TEST(RequestParser, KnowsVersionsAndExpectations) {
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\n\r\n"), 417);
  const Outcome old = parse("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.state, State::Complete);
  EXPECT_FALSE(old.keeps_alive);
  EXPECT_FALSE(parse("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").keeps_alive);
  EXPECT_EQ(parse("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").state, State::Complete);
}

TEST(RequestParser, RecognisesWebSocketHandshakes) {
  const std::string fields = "Host: a\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n";
  const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const std::string version = "Sec-WebSocket-Version: 13\r\n";
  const auto asks = [](const std::string& bytes) { return parse(bytes + "\r\n").request.asks_for_websocket; };
  EXPECT_TRUE(asks("GET / HTTP/1.1\r\n" + fields + key + version));
  EXPECT_FALSE(asks("POST / HTTP/1.1\r\n" + fields + key + version));
  EXPECT_FALSE(asks("GET / HTTP/1.0\r\n" + fields + key + version));
  EXPECT_FALSE(asks("GET / HTTP/1.1\r\n" + fields + version));
  EXPECT_FALSE(asks("GET / HTTP/1.1\r\n" + fields + key + "Sec-WebSocket-Version: 8\r\n"));
  EXPECT_FALSE(asks("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n" + key + version));
}

}  // namespace
}  // namespace assay::net

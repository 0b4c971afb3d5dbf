#include "sim/rendering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::sim {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const RenderingContext kContext{.model = "m", .created_s = 7, .number = 3};

ChatRequest streamed() {
  ChatRequest request;
  request.is_streamed = true;
  return request;
}

// The body that a client sees, for plans without cuts.
std::string body_of(const Plan& plan) {
  std::string bytes;
  for (const Step& step : plan.steps) {
    if (const auto* send = std::get_if<Send>(&step)) bytes += send->bytes;
  }
  bytes.erase(0, bytes.find("\r\n\r\n") + 4);
  std::string body;
  while (!bytes.empty()) {
    const std::size_t size = std::stoul(bytes, nullptr, 16);
    const std::size_t at = bytes.find("\r\n") + 2;
    body += bytes.substr(at, size);
    bytes.erase(0, at + size + 2);
  }
  return body;
}

TEST(Rendering, StreamsAReplyInPieces) {
  Reply reply;
  reply.text = "h\xC3\xA9llo";
  reply.tool_calls.push_back({"f", R"({"a":1})", "c"});
  Delivery delivery;
  delivery.chunk_characters = 3;
  const std::string body = body_of(render(reply, delivery, streamed(), kContext));
  EXPECT_THAT(body, HasSubstr("\"delta\":{\"content\":\"h\xC3\xA9l\"}"));
  EXPECT_THAT(body, HasSubstr(R"("delta":{"content":"lo"})"));
  EXPECT_THAT(
      body,
      HasSubstr(R"("tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}])"));
  EXPECT_THAT(body, HasSubstr(R"("tool_calls":[{"index":0,"function":{"arguments":"{\"a"}}])"));
  EXPECT_THAT(body, HasSubstr(R"("delta":{},"finish_reason":"tool_calls")"));
  EXPECT_THAT(body, Not(HasSubstr("usage"))) << "it was not asked for";
  EXPECT_THAT(body, EndsWith("data: [DONE]\n\n"));
}

TEST(Rendering, LeavesOutWhatTheScriptTakesAway) {
  Reply reply;
  reply.text = "x";
  reply.finish_reason = "";
  Delivery delivery;
  delivery.sends_done = false;
  const std::string body = body_of(render(reply, delivery, streamed(), kContext));
  EXPECT_THAT(body, Not(HasSubstr("DONE")));
  EXPECT_THAT(body, Not(HasSubstr(R"("finish_reason":")")));
}

TEST(Rendering, SendsEventsAndLineEndsAsGiven) {
  RawEvents events{{"{broken", "two"}};
  Delivery delivery;
  delivery.line_end = "\r\n";
  delivery.sends_comments = true;
  EXPECT_EQ(body_of(render(events, delivery, streamed(), kContext)),
            ": assay-sim\r\n\r\ndata: {broken\r\n\r\n: assay-sim\r\n\r\ndata: two\r\n\r\n: assay-sim\r\n\r\ndata: "
            "[DONE]\r\n\r\n");
}

TEST(Rendering, SplitsBytesWithoutChangingThem) {
  RawEvents events{{"\xE4\xBD\xA0"}};
  Delivery delivery;
  const std::string whole = body_of(render(events, delivery, streamed(), kContext));
  for (delivery.split_bytes = 1; delivery.split_bytes < 8; ++delivery.split_bytes) {
    EXPECT_EQ(body_of(render(events, delivery, streamed(), kContext)), whole);
  }
}

TEST(Rendering, EndsEarlyExactlyThere) {
  RawBody body{"0123456789"};
  Delivery delivery;
  delivery.cut_after_bytes = 4;
  const Plan cut = render(body, delivery, streamed(), kContext);
  EXPECT_THAT(std::get<Send>(cut.steps[1]).bytes, HasSubstr("4\r\n0123\r\n"));
  EXPECT_TRUE(std::holds_alternative<Cut>(cut.steps.back()));
  delivery.cut_after_bytes.reset();
  delivery.stall_after_bytes = 10;
  EXPECT_TRUE(std::holds_alternative<Stall>(render(body, delivery, streamed(), kContext).steps.back()));
  delivery.stall_after_bytes = 11;
  EXPECT_FALSE(std::holds_alternative<Stall>(render(body, delivery, streamed(), kContext).steps.back()));
  delivery.stall_after_bytes = 0;
  const Plan stalled = render(body, delivery, streamed(), kContext);
  EXPECT_EQ(stalled.steps.size(), 2U) << "the head, then nothing";
}

TEST(Rendering, KeepsCountedUsageBelowTheCap) {
  Reply reply;
  reply.text = std::string(4000, 'x');
  ChatRequest request = streamed();
  request.wants_usage = true;
  request.output_tokens_max = 10;
  EXPECT_THAT(body_of(render(reply, Delivery{}, request, kContext)), HasSubstr(R"("completion_tokens":9)"));
}

}  // namespace
}  // namespace assay::sim

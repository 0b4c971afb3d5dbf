#include "api/stream_frame.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::api {
namespace {

std::vector<std::size_t> group_sizes(const std::vector<std::string>& events) {
  std::vector<std::size_t> sizes;
  for_each_frame(events, [&sizes](std::span<const std::string> group) { sizes.push_back(group.size()); });
  return sizes;
}

TEST(StreamStart, IsAMessageOrTheIdOfAnEvent) {
  const auto message = parse_stream_start("17");
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->after_message_id, 17);
  EXPECT_EQ(message->snapshot_version, 0);
  const auto event = parse_stream_start(resume_id(42));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->after_message_id, 0);
  EXPECT_EQ(event->snapshot_version, 42);
  for (const std::string_view text : {"", "x", "1.5", "s", "s-1", "17 ", "-1"}) {
    EXPECT_FALSE(parse_stream_start(text).has_value()) << text;
  }
}

TEST(SseFrame, EndsWithAnEmptyLineAndCarriesTheId) {
  EXPECT_EQ(sse_frame("{}", ""), "data: {}\n\n");
  EXPECT_EQ(sse_frame("{}", "s7"), "id: s7\ndata: {}\n\n");
}

TEST(SseFrame, SplitsLinesSoThatDataCannotForgeFields) {
  EXPECT_EQ(sse_frame("a\nid: 1\r\nb\rc", ""), "data: a\ndata: id: 1\ndata: b\ndata: c\n\n");
}

TEST(ForEachFrame, KeepsItsLimits) {
  EXPECT_EQ(group_sizes({}), std::vector<std::size_t>());
  EXPECT_EQ(group_sizes(std::vector<std::string>(kFrameEventsMax, "{}")), std::vector<std::size_t>{kFrameEventsMax});
  EXPECT_EQ(group_sizes(std::vector<std::string>(kFrameEventsMax + 1, "{}")),
            (std::vector<std::size_t>{kFrameEventsMax, 1}));
  const std::string half(kFrameBytesMax / 2, 'x');
  EXPECT_EQ(group_sizes({half, half, "y"}), (std::vector<std::size_t>{2, 1}));
  const std::string large(kFrameBytesMax + 1, 'x');
  EXPECT_EQ(group_sizes({"a", large, "b"}), (std::vector<std::size_t>{1, 1, 1}));
}

}  // namespace
}  // namespace assay::api

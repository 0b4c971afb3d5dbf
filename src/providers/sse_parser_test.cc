#include "providers/sse_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::providers {
namespace {

using ::testing::ElementsAre;

SseEvent data(std::string text) {
  return SseEvent{.type = "", .data = std::move(text), .id = "", .is_unterminated = false};
}

std::vector<SseItem> parse_pieces(const std::vector<std::string>& pieces) {
  SseParser parser;
  std::vector<SseItem> items;
  const auto sink = [&](SseItem&& item) { items.push_back(std::move(item)); };
  for (const std::string& piece : pieces) parser.feed(piece, sink);
  parser.finish(sink);
  return items;
}

std::vector<SseItem> parse(const std::string& text) { return parse_pieces({text}); }

TEST(SseParser, ReadsLfCrlfAndCrAlike) {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    const std::string eol = end;
    EXPECT_THAT(parse("data: a" + eol + eol + "data: b" + eol + eol), ElementsAre(data("a"), data("b"))) << eol.size();
  }
}

TEST(SseParser, JoinsMultiLineData) { EXPECT_THAT(parse("data: a\ndata:\ndata: b\n\n"), ElementsAre(data("a\n\nb"))); }

TEST(SseParser, TakesOneSpaceAfterTheColonAndNoMore) {
  EXPECT_THAT(parse("data:a\n\ndata:  b\n\n"), ElementsAre(data("a"), data(" b")));
}

TEST(SseParser, TakesAFieldWithoutColonAsEmptyValue) {
  EXPECT_THAT(parse("data\n\n"), ElementsAre(data("")));
  EXPECT_THAT(parse("data: \n\n"), ElementsAre(data("")));
}

TEST(SseParser, DispatchesNothingWithoutData) { EXPECT_THAT(parse("event: x\nid: 1\n\n\n\n"), ElementsAre()); }

TEST(SseParser, ForgetsTheTypeAfterABlankLineButNotTheId) {
  const SseEvent first{.type = "t", .data = "a", .id = "7", .is_unterminated = false};
  const SseEvent second{.type = "", .data = "b", .id = "7", .is_unterminated = false};
  EXPECT_THAT(parse("event: t\nid: 7\ndata: a\n\ndata: b\n\n"), ElementsAre(first, second));
  EXPECT_THAT(parse("event: t\n\ndata: b\n\n"), ElementsAre(data("b")));
}

TEST(SseParser, IgnoresAnIdWithNul) {
  using namespace std::string_literals;
  EXPECT_THAT(parse("id: a\0b\ndata: x\n\n"s), ElementsAre(data("x")));
}

TEST(SseParser, ReportsCommentsWithoutKeepingThem) {
  EXPECT_THAT(parse(": OPENROUTER PROCESSING\n\n:\ndata: a\n\n"), ElementsAre(SseComment{}, SseComment{}, data("a")));
  SseParser parser(16);
  int comments = 0;
  const auto sink = [&](SseItem&& item) { comments += std::holds_alternative<SseComment>(item) ? 1 : 0; };
  EXPECT_TRUE(parser.feed(":" + std::string(1000, 'x'), sink));
  EXPECT_TRUE(parser.feed("\n", sink));
  EXPECT_EQ(comments, 1);
}

TEST(SseParser, SkipsOneByteOrderMark) {
  EXPECT_THAT(parse("\xEF\xBB\xBF"
                    "data: a\n\n"),
              ElementsAre(data("a")));
  EXPECT_THAT(parse_pieces({"\xEF", "\xBB",
                            "\xBF"
                            "data: a\n\n"}),
              ElementsAre(data("a")));
  EXPECT_THAT(parse("\xEF\xBB"
                    "data: a\n\ndata: b\n\n"),
              ElementsAre(data("b")))
      << "an incomplete mark belongs to the first line";
}

TEST(SseParser, MarksAnEventThatTheEndCutsOff) {
  const SseEvent cut{.type = "", .data = "b", .id = "", .is_unterminated = true};
  EXPECT_THAT(parse("data: a\n\ndata: b"), ElementsAre(data("a"), cut));
  EXPECT_THAT(parse("data: a\n\ndata: b\n"), ElementsAre(data("a"), cut));
}

TEST(SseParser, ReadsTheReconnectionTime) {
  SseParser parser;
  const auto sink = [](SseItem&&) {};
  parser.feed("retry: 1500\n\n", sink);
  EXPECT_EQ(parser.retry(), Milliseconds(1500));
  parser.feed("retry: 1x\nretry:\nretry: -4\n\n", sink);
  EXPECT_EQ(parser.retry(), Milliseconds(1500));
}

TEST(SseParser, KeepsUtf8ThatIsSplitOverPieces) {
  EXPECT_THAT(parse_pieces({"data: \xe4\xbd", "\xa0\n\n"}), ElementsAre(data("\xe4\xbd\xa0")));
}

TEST(SseParser, GivesTheSameForEverySplitOfTheSameBytes) {
  const std::string text =
      "\xEF\xBB\xBF: hi\r\nid: 1\r\nevent: e\r\ndata: \xe4\xbd\xa0\r\rdata:x\n\r\ndata: 1\ndata: 2\r\n\r\nretry: "
      "5\n\ndata: end";
  const std::vector<SseItem> whole = parse(text);
  ASSERT_EQ(whole.size(), 5U);
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      EXPECT_EQ(parse_pieces({text.substr(0, first), text.substr(first, second - first), text.substr(second)}), whole)
          << first << " " << second;
    }
  }
}

TEST(SseParser, HoldsEventsToTheirSize) {
  const auto feed = [](std::size_t data_bytes) {
    SseParser parser(64);
    int events = 0;
    const auto sink = [&](SseItem&&) { ++events; };
    const std::string text = "data:" + std::string(data_bytes, 'x') + "\n\n";
    bool is_accepted = true;
    for (const char byte : text) is_accepted = parser.feed(std::string_view(&byte, 1), sink);
    parser.finish(sink);
    EXPECT_EQ(parser.is_oversized(), !is_accepted);
    return events;
  };
  EXPECT_EQ(feed(58), 1);
  EXPECT_EQ(feed(59), 1);
  EXPECT_EQ(feed(60), 0);
}

TEST(SseParser, CountsAllLinesOfAnEventTowardsItsSize) {
  SseParser parser(64);
  const auto sink = [](SseItem&&) {};
  bool is_accepted = true;
  for (int line = 0; line < 100 && is_accepted; ++line) is_accepted = parser.feed("data:\n", sink);
  EXPECT_FALSE(is_accepted);
  EXPECT_FALSE(parser.feed("\n\n", sink)) << "an oversized stream stays refused";
}

}  // namespace
}  // namespace assay::providers

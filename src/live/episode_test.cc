#include "live/episode.h"

#include <gtest/gtest.h>

namespace assay::live {
namespace {

ChatId chat_id(std::uint8_t last) {
  ChatId id;
  id.value.bytes[15] = last;
  return id;
}

void append_text(Episodes& episodes, ChatId chat, std::string text) {
  episodes.append(chat, chat::Role::Assistant, chat::TextPart{.text = std::move(text)});
}

TEST(Episodes, NumbersPartsFromOneWithoutAGap) {
  Episodes episodes;
  episodes.begin(chat_id(1), 4, 1);
  append_text(episodes, chat_id(1), "a");
  append_text(episodes, chat_id(1), "b");
  const auto episode = episodes.current(chat_id(1));
  ASSERT_NE(episode, nullptr);
  EXPECT_EQ(episode->key(), (EpisodeKey{.history_version = 4, .generation_attempt = 1}));
  ASSERT_EQ(episode->parts().size(), 2u);
  EXPECT_EQ(episode->parts()[0].seq, 1);
  EXPECT_EQ(episode->parts()[1].seq, 2);
  EXPECT_EQ(std::get<chat::TextPart>(episode->parts()[1].content).text, "b");
}

TEST(Episodes, StartsAnewWithEachAttempt) {
  Episodes episodes;
  episodes.begin(chat_id(1), 4, 1);
  append_text(episodes, chat_id(1), "lost");
  episodes.begin(chat_id(1), 4, 2);
  append_text(episodes, chat_id(1), "kept");
  const auto episode = episodes.current(chat_id(1));
  ASSERT_EQ(episode->parts().size(), 1u);
  EXPECT_EQ(episode->parts()[0].seq, 1);
  EXPECT_EQ(episode->key().generation_attempt, 2);
}

TEST(Episodes, KeepsChatsApart) {
  Episodes episodes;
  episodes.begin(chat_id(1), 4, 1);
  append_text(episodes, chat_id(2), "nobody generates here");
  EXPECT_EQ(episodes.current(chat_id(2)), nullptr);
  EXPECT_TRUE(episodes.current(chat_id(1))->parts().empty());
}

TEST(Episodes, AreNotEndedByAnEarlierAttempt) {
  Episodes episodes;
  episodes.begin(chat_id(1), 4, 2);
  episodes.end(chat_id(1), EpisodeKey{.history_version = 4, .generation_attempt = 1});
  EXPECT_NE(episodes.current(chat_id(1)), nullptr);
}

TEST(Episodes, LetsAReaderFinishAnEndedEpisode) {
  Episodes episodes;
  episodes.begin(chat_id(1), 4, 1);
  const auto held = episodes.current(chat_id(1));
  append_text(episodes, chat_id(1), "tail");
  episodes.end(chat_id(1), EpisodeKey{.history_version = 4, .generation_attempt = 1});
  EXPECT_EQ(episodes.current(chat_id(1)), nullptr);
  EXPECT_EQ(episodes.size(), 0u);
  ASSERT_EQ(held->parts().size(), 1u);
}

TEST(Episodes, FillsToItsLimitAndNotBeyond) {
  const std::size_t room = kEpisodeBytesMax - sizeof(PreviewPart);
  for (const std::size_t bytes : {room - 1, room, room + 1}) {
    Episodes episodes;
    episodes.begin(chat_id(1), 1, 1);
    append_text(episodes, chat_id(1), std::string(bytes, 'x'));
    const auto episode = episodes.current(chat_id(1));
    EXPECT_EQ(episode->parts().size(), bytes <= room ? 1u : 0u) << bytes;
    EXPECT_EQ(episode->is_truncated(), bytes > room) << bytes;
  }
}

TEST(Episodes, DropsEverythingAfterTheFirstPartThatDidNotFit) {
  Episodes episodes;
  episodes.begin(chat_id(1), 1, 1);
  append_text(episodes, chat_id(1), "first");
  append_text(episodes, chat_id(1), std::string(kEpisodeBytesMax, 'x'));
  append_text(episodes, chat_id(1), "would leave a hole in the text");
  EXPECT_EQ(episodes.current(chat_id(1))->parts().size(), 1u);
}

TEST(Episodes, BoundsAFloodOfEmptyParts) {
  Episodes episodes;
  episodes.begin(chat_id(1), 1, 1);
  for (std::size_t i = 0; i <= kEpisodeBytesMax / sizeof(PreviewPart); ++i) append_text(episodes, chat_id(1), "");
  EXPECT_TRUE(episodes.current(chat_id(1))->is_truncated());
}

TEST(Episodes, WakesWatchersOfTheChatUntilTheyLeave) {
  Episodes episodes;
  int wakes = 0;
  int others = 0;
  auto watch = episodes.watch(chat_id(1), [&wakes] { ++wakes; });
  auto other = episodes.watch(chat_id(2), [&others] { ++others; });
  episodes.begin(chat_id(1), 1, 1);
  append_text(episodes, chat_id(1), "a");
  episodes.end(chat_id(1), EpisodeKey{.history_version = 1, .generation_attempt = 1});
  EXPECT_EQ(wakes, 3);
  EXPECT_EQ(others, 0);
  {
    const auto moved = std::move(watch);
  }
  episodes.begin(chat_id(1), 1, 2);
  EXPECT_EQ(wakes, 3);
}

}  // namespace
}  // namespace assay::live

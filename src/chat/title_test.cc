#include "chat/title.h"

#include <gtest/gtest.h>

namespace assay::chat {
namespace {

Content text(std::string value) { return {TextPart{.text = std::move(value)}}; }

TEST(FallbackTitle, KeepsAShortText) {
  EXPECT_EQ(fallback_title(text("one two three four five six")), "one two three four five six");
}

TEST(FallbackTitle, TakesSixWords) {
  EXPECT_EQ(fallback_title(text("one two  three\nfour five six seven")), "one two three four five six\xE2\x80\xA6");
}

TEST(FallbackTitle, TakesEightyCodePoints) {
  std::string long_word;
  for (int i = 0; i < 80; ++i) long_word += "\xC3\xA4";
  EXPECT_EQ(fallback_title(text(long_word)), long_word);
  EXPECT_EQ(fallback_title(text(long_word + "x")), long_word + "\xE2\x80\xA6");
}

TEST(FallbackTitle, JoinsPartsAndPassesOverOthers) {
  EXPECT_EQ(fallback_title({FileReferencePart{.file_name = "a", .start_line = 1, .end_line = 1, .content = "c"},
                            TextPart{.text = "see"}, TextPart{.text = "this"}}),
            "see this");
}

TEST(FallbackTitle, HasAWordForNothing) {
  EXPECT_EQ(fallback_title({}), "New Chat");
  EXPECT_EQ(fallback_title(text(" \n ")), "New Chat");
}

TEST(FallbackTitle, CutsAHugeText) {
  const std::string title = fallback_title(text(std::string(1'000'000, 'x')));
  EXPECT_EQ(title, std::string(80, 'x') + "\xE2\x80\xA6");
}

}  // namespace
}  // namespace assay::chat

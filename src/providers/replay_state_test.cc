#include "providers/replay_state.h"

#include <gtest/gtest.h>

namespace assay::providers {
namespace {

TEST(ReplayState, BringsBackTheItemAsWritten) {
  const std::string item = R"({"n": 1e25, "n": 10.00, "s":"\ud800"})";
  const auto replayed = replayed_item(Wire::OpenAiChat, replay_state(Wire::OpenAiChat, item));
  ASSERT_TRUE(replayed);
  EXPECT_EQ(replayed->root().raw(), item);
}

TEST(ReplayState, OfAnotherWireOrUnreadableIsNone) {
  for (const char* state : {"", "{", "[]", "null", R"({"item":{}})", R"({"wire":"morse","item":{}})",
                            R"({"wire":7,"item":{}})", R"({"wire":"openai_chat"})"}) {
    EXPECT_FALSE(replayed_item(Wire::OpenAiChat, state)) << state;
  }
}

}  // namespace
}  // namespace assay::providers

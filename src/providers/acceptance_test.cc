#include "providers/acceptance.h"

#include <gtest/gtest.h>

#include "providers/wire.h"

namespace assay::providers {
namespace {

using structured::Finish;

AnswerEnd calling(Finish said) {
  AnswerEnd end;
  end.said = said;
  end.calls = 1;
  return end;
}

class EveryWire : public ::testing::TestWithParam<Wire> {};

TEST_P(EveryWire, AcceptsAPlainToolUse) { EXPECT_EQ(judge(GetParam(), calling(Finish::ToolUse)), Finish::ToolUse); }

TEST_P(EveryWire, TakesAWordThatNobodyKnowsForUnknown) {
  for (const char* word : {"", "tool_calls ", "TOOL_USE", "done", "completed_maybe", "error", "abort"}) {
    EXPECT_EQ(finish_of_reason(GetParam(), word), Finish::Unknown) << word;
  }
  EXPECT_EQ(judge(GetParam(), calling(Finish::Unknown)), Finish::Unknown);
}

TEST_P(EveryWire, KeepsWhatIsWorseThanToolUse) {
  for (const Finish said : {Finish::Length, Finish::Pause, Finish::ContentFilter, Finish::Refusal, Finish::Error}) {
    EXPECT_EQ(judge(GetParam(), calling(said)), said);
  }
}

TEST_P(EveryWire, LetsARefusalWinOverACall) {
  for (const Finish said : {Finish::Complete, Finish::ToolUse, Finish::Length, Finish::Unknown}) {
    AnswerEnd end = calling(said);
    end.is_refused = true;
    EXPECT_EQ(judge(GetParam(), end), Finish::Refusal);
  }
}

TEST_P(EveryWire, DoubtsAnEndWithDetails) {
  AnswerEnd end = calling(Finish::ToolUse);
  end.is_qualified = true;
  EXPECT_EQ(judge(GetParam(), end), Finish::Unknown);
}

TEST_P(EveryWire, DoubtsToolUseWithoutACall) {
  AnswerEnd end = calling(Finish::ToolUse);
  end.calls = 0;
  EXPECT_EQ(judge(GetParam(), end), Finish::Unknown);
}

TEST_P(EveryWire, TakesACallAtTheTokenCapForCut) {
  AnswerEnd end = calling(Finish::ToolUse);
  end.output_tokens_max = 20;
  for (const auto& [tokens, finish] : {std::pair(19, Finish::ToolUse), {20, Finish::Length}, {21, Finish::Length}}) {
    end.output_tokens = tokens;
    EXPECT_EQ(judge(GetParam(), end), finish) << tokens;
  }
}

TEST_P(EveryWire, DoubtsACompleteAnswerWhoseCallsAreNotWhole) {
  AnswerEnd end = calling(Finish::Complete);
  end.calls_are_whole = false;
  EXPECT_EQ(judge(GetParam(), end), Finish::Unknown);
  end.calls = 0;
  EXPECT_EQ(judge(GetParam(), end), Finish::Complete);
}

std::vector<Wire> every_wire() {
  std::vector<Wire> all;
  for (const WireEntry& entry : wires()) all.push_back(entry.wire);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Wires, EveryWire, ::testing::ValuesIn(every_wire()),
                         [](const auto& tested) { return std::string(wire_name(tested.param)); });

TEST(Acceptance, IsWhatEachWireNeeds) {
  AnswerEnd uncounted = calling(Finish::ToolUse);
  uncounted.output_tokens_max = 20;
  AnswerEnd unclosed = calling(Finish::ToolUse);
  unclosed.calls_are_whole = false;
  EXPECT_EQ(judge(Wire::OpenAiChat, uncounted), Finish::Unknown);
  EXPECT_EQ(judge(Wire::OpenAiChat, unclosed), Finish::ToolUse) << "its bytes are judged at the boundary";
  EXPECT_EQ(judge(Wire::OpenAiChat, calling(Finish::Complete)), Finish::ToolUse);
  EXPECT_EQ(judge(Wire::OpenAiResponses, uncounted), Finish::Unknown);
  EXPECT_EQ(judge(Wire::OpenAiResponses, unclosed), Finish::Unknown);
  EXPECT_EQ(judge(Wire::OpenAiResponses, calling(Finish::Complete)), Finish::ToolUse);
  EXPECT_EQ(judge(Wire::Anthropic, uncounted), Finish::ToolUse);
  EXPECT_EQ(judge(Wire::Anthropic, unclosed), Finish::Unknown);
  EXPECT_EQ(judge(Wire::Anthropic, calling(Finish::Complete)), Finish::Unknown) << "it says tool_use where it means it";
}

TEST(Acceptance, PrefersTheWorseOfTwoReasons) {
  EXPECT_EQ(more_conservative(Finish::ToolUse, Finish::Complete), Finish::ToolUse);
  EXPECT_EQ(more_conservative(Finish::Complete, Finish::Length), Finish::Length);
  EXPECT_EQ(more_conservative(Finish::Unknown, Finish::ToolUse), Finish::Unknown);
}

}  // namespace
}  // namespace assay::providers

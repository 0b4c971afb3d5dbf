#include "chat/context.h"

#include <gmock/gmock.h>

#include "chat/compaction.h"
#include "chat/edit.h"
#include "chat/prompt_assembly.h"
#include "chat/transition_fixture.h"
#include "structured/outcome.h"
#include "structured/request_state.h"

namespace assay::chat {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ContextTest : public TransitionsTest {
 protected:
  ContextTest() { model.id = kModel; }

  [[nodiscard]] TurnView view() const {
    return TurnView{.chat = chat.chat, .history = chat.messages, .tools = {}, .model = model};
  }
  // The texts that a model would be shown.
  [[nodiscard]] std::vector<std::string> shown() const {
    std::vector<std::string> texts;
    for (const PromptRow& row : prompt_rows(chat.messages, kModel)) {
      for (const PromptPart& part : row.content) {
        if (const auto* piece = std::get_if<TextPart>(&part)) texts.push_back(piece->text);
      }
    }
    return texts;
  }
  static GeneratedStep summary(std::string words, structured::Finish finish = structured::Finish::Complete) {
    GeneratedStep step;
    step.finish = finish;
    step.usage.output_tokens = 7;
    if (!words.empty()) step.parts.emplace_back(TextPart{.text = std::move(words)});
    return step;
  }
  void compact(std::string words) {
    must(RequestCompaction{});
    own();
    ASSERT_TRUE(std::holds_alternative<Compact>(decide_turn(view())));
    const StepPlan plan = assemble_summary(view(), summary(std::move(words)));
    ASSERT_TRUE(std::holds_alternative<EndTurn>(plan.then));
    must(FinishTurn{.fence = fence(), .rows = plan.rows, .receipt = std::nullopt});
  }

  ModelDescription model;
};

TEST_F(ContextTest, AClearedConversationIsNotShownToTheModelAgain) {
  finish();
  must(ClearContext{});
  EXPECT_EQ(chat.state(), State::W);
  must(message(text("afresh")));
  EXPECT_THAT(shown(), ElementsAre("afresh"));
  EXPECT_EQ(chat.messages.size(), 6u) << "clients keep all of it";
}

TEST_F(ContextTest, TellsClientsByACallAndItsResult) {
  finish();
  must(ClearContext{});
  const auto& shown_call = std::get<ToolCallPart>(last(1).content.at(0));
  const auto& shown_result = std::get<ToolResultPart>(last().content.at(0));
  EXPECT_EQ(shown_call.name, "chat_cleared");
  EXPECT_EQ(shown_result.call_id, shown_call.id);
  EXPECT_EQ(last(1).visibility, Visibility::User);
  EXPECT_EQ(last(2).visibility, Visibility::Model);
  const std::string first_id = shown_call.id;
  must(message(text("afresh")));
  own();
  finish();
  must(ClearContext{});
  EXPECT_NE(std::get<ToolCallPart>(last(1).content.at(0)).id, first_id);
}

TEST_F(ContextTest, SystemRowsOutliveABoundary) {
  CreateChat input = new_chat();
  input.system_prompt = "be brief";
  chat = MemoryChat(*create(input));
  own();
  finish();
  must(ClearContext{});
  must(message(text("afresh")));
  EXPECT_THAT(build_prompt(view(), Generate{}).system, ElementsAre("be brief"));
}

TEST_F(ContextTest, RefusesWhereNothingIsToBeForgotten) {
  finish();
  must(ClearContext{});
  must_not(ClearContext{}, RefusalKind::NothingToDo);
  must_not(RequestCompaction{}, RefusalKind::NothingToDo);
}

TEST_F(ContextTest, ClearingClearsTheError) {
  break_off();
  must(ClearContext{});
  EXPECT_EQ(chat.state(), State::W);
  EXPECT_EQ(chat.chat.last_error, std::nullopt);
}

TEST_F(ContextTest, AClearRevivesNoRequest) {
  chat = MemoryChat(*create(new_chat(asking(kFirst))));
  own();
  finish("done", structured::succeeded(kFirst, "1"));
  must(ClearContext{});
  const auto active = structured::active_request(row_views(chat.messages));
  ASSERT_TRUE(active.has_value());
  EXPECT_FALSE(active->has_value());
}

TEST_F(ContextTest, AnEditBeforeABoundaryLiftsIt) {
  finish();
  must(message(text("second")));
  own();
  finish();
  must(ClearContext{});
  EditMessage input;
  input.message_id = 3;
  input.content = text("instead");
  must(input);
  EXPECT_THAT(shown(), ElementsAre("hello", "done", "instead"));
}

TEST_F(ContextTest, ASummaryStandsForWhatItSumsUp) {
  finish();
  compact("they said hello");
  EXPECT_EQ(chat.state(), State::W);
  EXPECT_FALSE(chat.chat.compaction_due);
  must(message(text("go on")));
  EXPECT_THAT(shown(), ElementsAre(HasSubstr("they said hello"), "go on"));
  const auto& result = std::get<ToolResultPart>(last(1).content.at(0));
  EXPECT_EQ(result.result, R"({"summary":"they said hello","source":"manual"})");
  EXPECT_EQ(last(2).usage.output_tokens, 7);
}

TEST_F(ContextTest, ASecondSummarySumsUpFromTheFirstOn) {
  finish();
  compact("one");
  must_not(RequestCompaction{}, RefusalKind::NothingToDo);
  must(message(text("go on")));
  own();
  finish("more");
  must(RequestCompaction{});
  const Prompt prompt = compaction_prompt(view());
  ASSERT_EQ(prompt.rows.size(), 4u);
  EXPECT_THAT(std::get<TextPart>(prompt.rows[0].content[0]).text, HasSubstr("one"));
  EXPECT_THAT(std::get<TextPart>(prompt.rows[3].content[0]).text, StartsWith("Write a summary"));
  EXPECT_TRUE(prompt.tools.empty());
}

TEST_F(ContextTest, ACompactionPromotesTheQueueWhenItIsDone) {
  must(message(asking(kFirst)));
  break_off();
  compact("all of it");
  EXPECT_EQ(chat.state(), State::R0);
  EXPECT_EQ(last().content, asking(kFirst));
  EXPECT_FALSE(chat.chat.compaction_due);
  EXPECT_TRUE(std::holds_alternative<Generate>(decide_turn(view())));
}

TEST_F(ContextTest, ACompactionBeginsWithFreshAttempts) {
  must(RecordGenerationAttempt{.fence = fence()});
  break_off();
  EXPECT_EQ(chat.chat.generation_attempt, 1);
  must(RequestCompaction{});
  EXPECT_EQ(chat.chat.generation_attempt, 0);
  EXPECT_EQ(chat.chat.last_error, std::nullopt);
}

TEST_F(ContextTest, WhateverEndsTheTurnEndsTheCompaction) {
  finish();
  must(RequestCompaction{});
  own();
  must(Interrupt{});
  must(FinishInterruption{.fence = fence(), .rows = {}, .receipt = std::nullopt});
  EXPECT_FALSE(chat.chat.compaction_due);
  must(RequestCompaction{});
  own();
  break_off();
  EXPECT_FALSE(chat.chat.compaction_due);
  must(RequestCompaction{});
  EditMessage input;
  input.message_id = 1;
  input.content = text("instead");
  must(input);
  EXPECT_FALSE(chat.chat.compaction_due);
}

TEST_F(ContextTest, NoPartOfASummaryIsTakenForTheWhole) {
  finish();
  for (const auto finish : {structured::Finish::Length, structured::Finish::Refusal, structured::Finish::ContentFilter,
                            structured::Finish::ToolUse, structured::Finish::Unknown, structured::Finish::Error}) {
    EXPECT_TRUE(std::holds_alternative<FailTurn>(assemble_summary(view(), summary("part", finish)).then));
  }
  EXPECT_TRUE(std::holds_alternative<FailTurn>(assemble_summary(view(), summary(" \n")).then));
  EXPECT_TRUE(assemble_summary(view(), summary("")).rows.empty());
}

TEST_F(ContextTest, ABoundaryIsNoStepAndNoInput) {
  chat = MemoryChat(*create(new_chat(asking(kFirst))));
  own();
  must(CommitStep{.fence = fence(), .rows = {assistant(text("working"))}});
  must(CommitStep{.fence = fence(), .rows = boundary_rows("so far", kSummarizedNotice, "{}", 9)});
  const auto active = structured::active_request(row_views(chat.messages));
  ASSERT_TRUE(active.has_value() && active->has_value()) << "compressed rows are read too";
  EXPECT_EQ((*active)->request.request_id, kFirst);
  EXPECT_EQ((*active)->steps, 1) << "budgets outlive a compaction";
}

}  // namespace
}  // namespace assay::chat

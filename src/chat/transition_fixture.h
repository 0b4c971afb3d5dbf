#pragma once
// One chat in memory and short names for what happens to it: for the tests of transitions.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "chat/memory_chat.h"
#include "chat/transitions.h"

namespace assay::chat {

inline const UserId kUser = *UserId::parse("00000000-0000-4000-8000-000000000001");
inline const RunnerId kRunner = *RunnerId::parse("00000000-0000-4000-8000-000000000002");
inline const ModelConfigId kModel = *ModelConfigId::parse("00000000-0000-4000-8000-000000000003");
inline const ModelConfigId kOtherModel = *ModelConfigId::parse("00000000-0000-4000-8000-000000000004");
inline const RequestId kFirst = *RequestId::parse("11111111-1111-4111-8111-111111111111");
inline const RequestId kSecond = *RequestId::parse("22222222-2222-4222-8222-222222222222");

inline Content text(std::string value) { return {TextPart{.text = std::move(value)}}; }

inline Content asking(RequestId id) {
  return {TextPart{.text = "ask"},
          structured::RequestPart{.request_id = id, .name = "n", .description = std::nullopt, .schema = "{}"}};
}

inline CreateChat new_chat(Content content = text("hello")) {
  CreateChat input;
  input.owner_id = kUser;
  input.title = "t";
  input.model_config = kModel;
  input.content = std::move(content);
  return input;
}

inline SendMessage message(Content content, BusyBehavior behavior = BusyBehavior::Queue) {
  SendMessage input;
  input.content = std::move(content);
  input.created_by = kUser;
  input.busy_behavior = behavior;
  return input;
}

inline NewMessage assistant(Content content) {
  NewMessage row;
  row.role = Role::Assistant;
  row.content = std::move(content);
  return row;
}

inline ToolCallPart call(std::string id) {
  return {.id = std::move(id),
          .name = "t",
          .arguments = "{}",
          .rejected_arguments = false,
          .provider_executed = false,
          .provider_state = ""};
}

// A chat in R0 whose runner is kRunner.
class TransitionsTest : public ::testing::Test {
 protected:
  void SetUp() override { own(); }

  void own() { chat.chat.runner_id = kRunner; }
  [[nodiscard]] Fence fence() const { return fence_of(chat.chat, kRunner); }

  template <class Input>
  void must(const Input& input) {
    const State from = chat.state();
    const auto refusal = chat.apply(input);
    ASSERT_FALSE(refusal.has_value()) << refusal->message;
    EXPECT_NE(chat.state(), State::Invalid) << "from " << name_of(from);
  }
  template <class Input>
  void must_not(const Input& input, RefusalKind kind) {
    const auto before = chat.chat.snapshot_version;
    const auto refusal = chat.apply(input);
    ASSERT_TRUE(refusal.has_value());
    EXPECT_EQ(refusal->kind, kind) << refusal->message;
    EXPECT_EQ(chat.chat.snapshot_version, before);
  }

  void finish(std::string answer = "done", std::optional<structured::OutcomePart> receipt = std::nullopt) {
    must(FinishTurn{.fence = fence(), .rows = {assistant(text(std::move(answer)))}, .receipt = std::move(receipt)});
  }
  void break_off() {
    ChatError error;
    error.message = "broken";
    must(FinishError{.fence = fence(), .rows = {}, .error = error, .receipt = std::nullopt});
  }

  [[nodiscard]] const Message& last(std::size_t back = 0) const {
    return chat.messages.at(chat.messages.size() - 1 - back);
  }
  [[nodiscard]] static std::string text_of(const Message& row) { return std::get<TextPart>(row.content.at(0)).text; }

  MemoryChat chat{*create(new_chat())};
};

}  // namespace assay::chat

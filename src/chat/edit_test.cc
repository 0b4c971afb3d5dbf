#include "chat/edit.h"

#include <gmock/gmock.h>

#include "chat/transition_fixture.h"
#include "structured/outcome.h"

namespace assay::chat {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const RequestId kThird = *RequestId::parse("33333333-3333-4333-8333-333333333333");
const RequestId kFresh = *RequestId::parse("44444444-4444-4444-8444-444444444444");

EditMessage edit(std::int64_t id, EditedFormat format = ClearFormat{}) {
  EditMessage input;
  input.message_id = id;
  input.content = text("instead");
  input.format = std::move(format);
  input.created_by = kUser;
  return input;
}
KeepFormat kept() { return KeepFormat{.request_id = kFresh, .is_admitted = true}; }

class EditTest : public TransitionsTest {
 protected:
  // Rows of the last transaction, told apart by what they are.
  [[nodiscard]] std::vector<std::string> inserted() const {
    std::vector<std::string> rows;
    for (const Message& row : chat.messages) {
      if (row.revision != chat.chat.snapshot_version) continue;
      if (const auto* outcome =
              row.content.empty() ? nullptr : std::get_if<structured::OutcomePart>(&row.content.back()))
        rows.push_back(std::string(structured::name_of(outcome->error->code)) + " " + outcome->request_id.to_string());
      else
        rows.push_back(row.role == Role::Tool ? "result" : "message");
    }
    return rows;
  }
  [[nodiscard]] std::vector<std::int64_t> deleted() const {
    std::vector<std::int64_t> ids;
    for (const Message& row : chat.deleted) ids.push_back(row.id);
    return ids;
  }
  [[nodiscard]] const structured::RequestPart* request() const { return request_of(last().content); }
};

TEST_F(EditTest, DeletesTheSuffixClearsTheQueueAndBeginsATurn) {
  finish();
  must(message(text("second")));
  own();
  must(message(text("queued")));
  must(edit(1));
  EXPECT_EQ(chat.state(), State::R0);
  EXPECT_THAT(deleted(), ElementsAre(1, 2, 3));
  EXPECT_THAT(chat.queue, IsEmpty());
  EXPECT_EQ(text_of(last()), "instead");
  EXPECT_EQ(last().created_by, kUser);
  EXPECT_EQ(chat.messages.size(), 1u);
}

TEST_F(EditTest, KeepsWhatStandsBeforeTheMessage) {
  finish();
  must(message(text("second")));
  must(edit(3));
  EXPECT_THAT(deleted(), ElementsAre(3));
  EXPECT_EQ(chat.messages.size(), 3u);
}

TEST_F(EditTest, SupersedesEveryOwedRequestOfSuffixAndQueueInOrder) {
  chat = MemoryChat(*create(new_chat(asking(kFirst))));
  own();
  must(message(asking(kSecond)));
  must(message(asking(kThird)));
  must(edit(1));
  EXPECT_THAT(inserted(), ElementsAre("superseded " + kFirst.to_string(), "superseded " + kSecond.to_string(),
                                      "superseded " + kThird.to_string(), "message"));
  EXPECT_THAT(deleted(), ElementsAre(1)) << "the new receipts stay";
}

TEST_F(EditTest, CancelsNoCompletedRequestAgain) {
  chat = MemoryChat(*create(new_chat(asking(kFirst))));
  own();
  finish("done", structured::succeeded(kFirst, "1"));
  must(edit(1));
  EXPECT_THAT(inserted(), ElementsAre("message"));
  EXPECT_THAT(deleted(), ElementsAre(1, 2, 3)) << "its receipt goes with the suffix";
  EXPECT_EQ(chat.count_receipts(kFirst), 1u);
}

TEST_F(EditTest, CountsDeletedReceiptsAsExisting) {
  chat = MemoryChat(*create(new_chat(asking(kFirst))));
  own();
  must(edit(1, kept()));  // kFirst superseded
  finish("done", structured::succeeded(kFresh, "1"));
  must(edit(3));
  const std::int64_t third = last().id;
  must(edit(third));
  EXPECT_EQ(chat.count_receipts(kFirst), 1u);
  EXPECT_EQ(chat.count_receipts(kFresh), 1u);
}

TEST_F(EditTest, KeepsTheFormatUnderAFreshRequest) {
  chat = MemoryChat(*create(new_chat(asking(kFirst))));
  own();
  finish("done", structured::succeeded(kFirst, "1"));
  must(edit(1, kept()));
  ASSERT_NE(request(), nullptr);
  EXPECT_EQ(request()->request_id, kFresh);
  EXPECT_EQ(request()->schema, "{}");
  EXPECT_EQ(request()->name, "n");
}

TEST_F(EditTest, KeepsOrdinaryTextOrdinary) {
  must(edit(1, KeepFormat{.request_id = kFresh, .is_admitted = false}));
  EXPECT_EQ(request(), nullptr);
}

TEST_F(EditTest, ClearsAndReplacesTheFormat) {
  chat = MemoryChat(*create(new_chat(asking(kFirst))));
  own();
  must(edit(1, ClearFormat{}));
  EXPECT_EQ(request(), nullptr);
  must(edit(last().id, structured::RequestPart{
                           .request_id = kThird, .name = "other", .description = std::nullopt, .schema = "true"}));
  ASSERT_NE(request(), nullptr);
  EXPECT_EQ(request()->request_id, kThird);
  EXPECT_EQ(request()->schema, "true");
}

TEST_F(EditTest, KeepingASchemaPassesTheGateOrChangesNothing) {
  chat = MemoryChat(*create(new_chat(asking(kFirst))));
  own();
  const EditMessage input = edit(1, KeepFormat{.request_id = kFresh, .is_admitted = false});
  must_not(input, RefusalKind::InvalidInput);
  EXPECT_EQ(chat.apply(input)->field, "response_format");
  EXPECT_EQ(chat.count_receipts(kFirst), 0u);
}

TEST_F(EditTest, KeepsNoSchemaThatIsNotAcceptedAnyMore) {
  chat = MemoryChat(*create(new_chat(asking(kFirst))));
  std::get<structured::RequestPart>(chat.messages[0].content[1]).schema = R"({"$ref":"#"})";
  EXPECT_EQ(chat.apply(edit(1, kept()))->field, "response_format");
}

TEST_F(EditTest, RefusesAFormatInAModeThatHasNone) {
  chat = MemoryChat(*create(new_chat(asking(kFirst))));
  chat.chat.plan_mode = "plan";
  EXPECT_EQ(chat.apply(edit(1, kept()))->field, "response_format");
  chat.chat.plan_mode = "";
  chat.chat.mode = "explore";
  EXPECT_EQ(chat.apply(edit(1, kept()))->field, "response_format");
  EXPECT_FALSE(chat.apply(edit(1, ClearFormat{})));
}

TEST_F(EditTest, AnUnreadableMessageIsEditedOnlyWithAFormatThatIsSaid) {
  chat = MemoryChat(*create(new_chat(asking(kFirst))));
  chat.messages[0].content.clear();
  chat.messages[0].corruption = structured::Corruption{.what = "bad", .request_id = kFirst};
  EXPECT_EQ(chat.apply(edit(1, kept()))->field, "response_format");
  must(edit(1, ClearFormat{}));
  EXPECT_THAT(inserted(), ElementsAre("superseded " + kFirst.to_string(), "message"));
}

TEST_F(EditTest, FindsOnlyWhatAClientSeesAndAPersonWrote) {
  CreateChat input = new_chat();
  input.system_prompt = "be brief";
  chat = MemoryChat(*create(input));
  own();
  finish();
  must_not(edit(1), RefusalKind::NotFound);  // for models alone
  must_not(edit(3), RefusalKind::InvalidInput);
  must_not(edit(4), RefusalKind::NotFound);
  must(edit(2));
  must_not(edit(2), RefusalKind::NotFound);
}

TEST_F(EditTest, RefusesEmptyContentAndArchivedChats) {
  EditMessage empty = edit(1);
  empty.content.clear();
  must_not(empty, RefusalKind::InvalidInput);
  finish();
  must(SetArchived{.archived = true});
  must_not(edit(1), RefusalKind::Archived);
}

TEST_F(EditTest, ObsoletesRunningWork) {
  const Fence before = fence();
  must(edit(1));
  EXPECT_NE(fence(), before);
  must_not(CommitStep{.fence = before, .rows = {}}, RefusalKind::Stale);
}

TEST_F(EditTest, LeavesNoCallWithoutItsResultAndNoDeadline) {
  must(CommitStep{.fence = fence(), .rows = {assistant({call("open")})}});
  chat.chat.status = Status::RequiresAction;
  chat.chat.requires_action_deadline = WallTime{};
  must(edit(1));
  EXPECT_TRUE(outstanding_calls(chat.messages).empty());
  EXPECT_EQ(chat.chat.requires_action_deadline, std::nullopt);
}

TEST_F(EditTest, AnswersACallThatStandsOpenBeforeTheMessage) {
  must(CommitStep{.fence = fence(), .rows = {assistant({call("open")})}});
  Effects squeezed;
  squeezed.insert.push_back(text_row(Role::User, Visibility::Both, "squeezed in"));
  chat.carry_out(squeezed);
  must(edit(3));
  EXPECT_THAT(inserted(), ElementsAre("result", "message"));
  EXPECT_TRUE(outstanding_calls(chat.messages).empty());
}

TEST_F(EditTest, TakesModelAndEffortFromTheEditedMessage) {
  finish();
  SendMessage other = message(text("second"));
  other.model_config = kOtherModel;
  other.reasoning_effort = "high";
  must(other);
  must(edit(1));
  EXPECT_EQ(last().model_config, kModel);
  EXPECT_EQ(chat.chat.last_model_config, kModel);
  EXPECT_EQ(chat.chat.reasoning_effort, std::nullopt);
  EditMessage input = edit(last().id);
  input.model_config = kOtherModel;
  input.reasoning_effort = "low";
  must(input);
  EXPECT_EQ(last().model_config, kOtherModel);
  EXPECT_EQ(chat.chat.last_model_config, kOtherModel);
  EXPECT_EQ(chat.chat.reasoning_effort, "low");
}

TEST_F(EditTest, ClearsTheError) {
  break_off();
  must(edit(1));
  EXPECT_EQ(chat.chat.last_error, std::nullopt);
  EXPECT_EQ(chat.state(), State::R0);
}

}  // namespace
}  // namespace assay::chat

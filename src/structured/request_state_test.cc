#include "structured/request_state.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "structured/outcome.h"

namespace assay::structured {
namespace {

const RequestId kFirst = *RequestId::parse("11111111-1111-4111-8111-111111111111");
const RequestId kSecond = *RequestId::parse("22222222-2222-4222-8222-222222222222");

// Builds rows; owns their parts.
class History {
 public:
  RowView& add(RowRole role, RowVisibility visibility = RowVisibility::Both) {
    RowView& row = rows_.emplace_back();
    row.id = static_cast<std::int64_t>(rows_.size()) * 10;
    row.role = role;
    row.visibility = visibility;
    row.text_parts = 1;
    return row;
  }
  RowView& user() { return add(RowRole::User); }
  RowView& asks(RequestId id) {
    RowView& row = user();
    row.requests.push_back(&requests_.emplace_back(
        RequestPart{.request_id = id, .name = "n", .description = std::nullopt, .schema = "{}"}));
    return row;
  }
  RowView& step() { return add(RowRole::Assistant); }
  RowView& tool() { return add(RowRole::Tool); }
  RowView& corrective() { return add(RowRole::User, RowVisibility::Model); }
  RowView& control(RowView& row, RequestId id, ControlKind kind, bool answers_finalizer = false) {
    ControlPart part{.request_id = id,
                     .kind = kind,
                     .value = kind == ControlKind::Candidate ? "1" : "",
                     .finish = kind == ControlKind::Candidate ? Finish::ToolUse : Finish::Complete,
                     .answers_finalizer = answers_finalizer};
    row.controls.push_back(&controls_.emplace_back(part));
    return row;
  }
  RowView& candidate(RequestId id = kFirst) { return control(step(), id, ControlKind::Candidate); }
  RowView& rejection(bool answers_finalizer = true, RequestId id = kFirst) {
    return control(step(), id, ControlKind::Rejection, answers_finalizer);
  }
  RowView& invalidation(RequestId id = kFirst) {
    return control(add(RowRole::User, RowVisibility::User), id, ControlKind::Invalidation);
  }
  RowView& receipt(RequestId id = kFirst) {
    RowView& row = add(RowRole::Assistant, RowVisibility::User);
    row.outcomes.push_back(&outcomes_.emplace_back(ended(id, OutcomeCode::NotProduced)));
    return row;
  }
  RowView& corrupt(RowView& row, std::optional<RequestId> id = std::nullopt) {
    row.corruption = &corruptions_.emplace_back(Corruption{.what = "bad", .request_id = id});
    return row;
  }

  [[nodiscard]] auto active() const {
    const std::vector<RowView> rows(rows_.begin(), rows_.end());
    return active_request(rows);
  }
  [[nodiscard]] auto closed() const {
    const std::vector<RowView> rows(rows_.begin(), rows_.end());
    return closed_request(rows);
  }

 private:
  std::deque<RowView> rows_;
  std::deque<RequestPart> requests_;
  std::deque<ControlPart> controls_;
  std::deque<OutcomePart> outcomes_;
  std::deque<Corruption> corruptions_;
};

void expect_none(const History& history) {
  const auto active = history.active();
  ASSERT_TRUE(active.has_value()) << active.error().what;
  EXPECT_FALSE(active->has_value());
}

ActiveRequest expect_active(const History& history) {
  const auto active = history.active();
  EXPECT_TRUE(active.has_value()) << active.error().what;
  EXPECT_TRUE(active->has_value());
  return active && *active ? **active : ActiveRequest{};
}

void expect_corrupt(const History& history, std::optional<RequestId> id) {
  const auto active = history.active();
  ASSERT_FALSE(active.has_value());
  EXPECT_FALSE(active.error().what.empty());
  EXPECT_EQ(active.error().request_id, id);
}

TEST(ActiveRequest, IsNoneInAnEmptyHistory) { expect_none(History()); }

TEST(ActiveRequest, IsTheLatestMessagesOwn) {
  History history;
  history.user();
  history.asks(kFirst);
  const ActiveRequest active = expect_active(history);
  EXPECT_EQ(active.request.request_id, kFirst);
  EXPECT_EQ(active.row_id, 20);
  EXPECT_EQ(active.steps, 0);
  EXPECT_EQ(active.candidate, std::nullopt);
}

TEST(ActiveRequest, EndsWithALaterMessageEvenWithoutFormat) {
  History history;
  history.asks(kFirst);
  history.step();
  history.user();
  expect_none(history);
}

TEST(ActiveRequest, IsReplacedByALaterRequest) {
  History history;
  history.asks(kFirst);
  history.rejection();
  history.asks(kSecond);
  history.step();
  const ActiveRequest active = expect_active(history);
  EXPECT_EQ(active.request.request_id, kSecond);
  EXPECT_EQ(active.steps, 1);
  EXPECT_EQ(active.rejections, 0);
}

TEST(ActiveRequest, OutlivesModelOnlyRowsReceiptsAndControlRows) {
  History history;
  history.asks(kFirst);
  history.corrective();
  history.receipt(kSecond);
  history.candidate();
  history.invalidation();
  history.add(RowRole::System, RowVisibility::Model);
  EXPECT_EQ(expect_active(history).request.request_id, kFirst);
}

TEST(ActiveRequest, IgnoresAModelOnlyCopyOfItsMessage) {
  History history;
  history.asks(kFirst);
  RowView& copy = history.asks(kFirst);
  copy.visibility = RowVisibility::Model;
  EXPECT_EQ(expect_active(history).row_id, 10);
}

TEST(ActiveRequest, IsClosedByItsReceiptForGood) {
  History history;
  history.asks(kFirst);
  history.rejection();
  history.receipt();
  expect_none(history);
  EXPECT_EQ(history.closed(), kFirst);
  history.step();
  history.corrective();
  expect_none(history);
}

TEST(ActiveRequest, IsNotClosedByAnothersReceipt) {
  History history;
  history.asks(kFirst);
  history.receipt(kSecond);
  EXPECT_EQ(expect_active(history).request.request_id, kFirst);
  EXPECT_EQ(history.closed(), std::nullopt);
}

TEST(ActiveRequest, CountsStepsOverRealAnswersAlone) {
  History history;
  history.asks(kFirst);
  history.step();
  history.tool();
  history.tool();
  history.rejection();
  history.corrective();
  history.receipt(kSecond);
  history.add(RowRole::Assistant, RowVisibility::User);   // what compaction shows
  history.add(RowRole::Assistant, RowVisibility::Model);  // a summary
  history.step();
  const ActiveRequest active = expect_active(history);
  EXPECT_EQ(active.steps, 3);
  EXPECT_EQ(active.rejections, 1);
}

TEST(ActiveRequest, RemembersWhetherAnyRejectionAnsweredAFinalizer) {
  History history;
  history.asks(kFirst);
  history.rejection(false);
  EXPECT_FALSE(expect_active(history).rejection_answered_finalizer);
  history.rejection(true);
  history.rejection(false);
  const ActiveRequest active = expect_active(history);
  EXPECT_TRUE(active.rejection_answered_finalizer);
  EXPECT_EQ(active.rejections, 3);
}

TEST(ActiveRequest, HoldsACandidateUntilItIsInvalidated) {
  History history;
  history.asks(kFirst);
  history.candidate();
  EXPECT_EQ(expect_active(history).candidate, (Candidate{.value = "1", .row_id = 20}));
  history.invalidation();
  EXPECT_EQ(expect_active(history).candidate, std::nullopt);
  history.candidate();
  EXPECT_EQ(expect_active(history).candidate, (Candidate{.value = "1", .row_id = 40}));
}

TEST(ActiveRequest, TakesAControlFromTheStepsToolRow) {
  History history;
  history.asks(kFirst);
  history.step();
  history.control(history.tool(), kFirst, ControlKind::Candidate);
  EXPECT_TRUE(expect_active(history).candidate.has_value());
}

TEST(ActiveRequest, CountsControlsOfItsOwnIdAlone) {
  History history;
  history.asks(kFirst);
  history.candidate(kSecond);
  history.rejection(true, kSecond);
  const ActiveRequest active = expect_active(history);
  EXPECT_EQ(active.candidate, std::nullopt);
  EXPECT_EQ(active.rejections, 0);
}

TEST(ActiveRequest, FailsClosedOnTwoControlsOfOneRow) {
  History history;
  history.asks(kFirst);
  history.control(history.rejection(), kFirst, ControlKind::Rejection);
  expect_corrupt(history, kFirst);
}

TEST(ActiveRequest, FailsClosedOnTwoControlsOfOneStep) {
  History history;
  history.asks(kFirst);
  history.rejection();
  history.control(history.tool(), kFirst, ControlKind::Rejection);
  expect_corrupt(history, kFirst);
}

TEST(ActiveRequest, NeverPicksTheLastOfTwoCandidates) {
  History history;
  history.asks(kFirst);
  history.candidate();
  history.candidate();
  expect_corrupt(history, kFirst);
}

TEST(ActiveRequest, FailsClosedOnARejectionAfterACandidate) {
  History history;
  history.asks(kFirst);
  history.candidate();
  history.rejection();
  expect_corrupt(history, kFirst);
}

TEST(ActiveRequest, FailsClosedOnAnInvalidationOfNothing) {
  History history;
  history.asks(kFirst);
  history.invalidation();
  expect_corrupt(history, kFirst);
}

TEST(ActiveRequest, FailsClosedOnACandidateFromAStepThatWasNotComplete) {
  for (const Finish finish : {Finish::Complete, Finish::Refusal, Finish::ContentFilter, Finish::Length, Finish::Pause,
                              Finish::Error, Finish::Unknown}) {
    History history;
    history.asks(kFirst);
    RowView& row = history.step();
    const ControlPart part{.request_id = kFirst,
                           .kind = ControlKind::Candidate,
                           .value = "1",
                           .finish = finish,
                           .answers_finalizer = false};
    row.controls.push_back(&part);
    expect_corrupt(history, kFirst);
  }
}

TEST(ActiveRequest, FailsClosedOnControlsInTheWrongPlace) {
  {
    History history;
    history.asks(kFirst);
    history.control(history.tool(), kFirst, ControlKind::Rejection);
    expect_corrupt(history, kFirst);
  }
  {
    History history;
    history.asks(kFirst);
    history.step();
    history.control(history.corrective(), kFirst, ControlKind::Rejection);
    expect_corrupt(history, kFirst);
  }
  {
    History history;
    history.asks(kFirst);
    history.candidate();
    history.control(history.step(), kFirst, ControlKind::Invalidation);
    expect_corrupt(history, kFirst);
  }
}

TEST(ActiveRequest, FailsClosedOnARequestThatIsNoUsersMessage) {
  History history;
  history.asks(kFirst);
  history.asks(kSecond).role = RowRole::Assistant;
  expect_corrupt(history, kFirst);
}

TEST(ActiveRequest, FailsClosedOnTwoRequestsOfOneMessage) {
  History history;
  RowView& row = history.asks(kFirst);
  const RequestPart other{.request_id = kSecond, .name = "n", .description = std::nullopt, .schema = "{}"};
  row.requests.push_back(&other);
  expect_corrupt(history, std::nullopt);
}

TEST(ActiveRequest, FailsClosedOnOneRequestOfTwoMessages) {
  History history;
  history.asks(kFirst);
  history.asks(kFirst);
  expect_corrupt(history, kFirst);
}

TEST(ActiveRequest, OwesNoSecondReceiptWhereOutcomesAreOdd) {
  History twice;
  twice.asks(kFirst);
  twice.receipt();
  twice.receipt();
  expect_corrupt(twice, std::nullopt);

  History misplaced;
  misplaced.asks(kFirst);
  misplaced.receipt().visibility = RowVisibility::Both;
  expect_corrupt(misplaced, std::nullopt);
}

TEST(ActiveRequest, FailsClosedOnUnreadableRowsOfItsTurn) {
  History message;
  message.corrupt(message.user(), kFirst);
  expect_corrupt(message, kFirst);

  History unreadable_id;
  unreadable_id.corrupt(unreadable_id.user());
  expect_corrupt(unreadable_id, std::nullopt);

  History step;
  step.asks(kFirst);
  step.corrupt(step.step());
  expect_corrupt(step, kFirst);

  History ordinary;
  ordinary.user();
  ordinary.corrupt(ordinary.step());
  expect_corrupt(ordinary, std::nullopt);

  History closed;
  closed.corrupt(closed.user(), kFirst);
  closed.receipt();
  expect_corrupt(closed, std::nullopt);
}

TEST(ActiveRequest, DoesNotMindWhatLiesBeforeTheLatestMessage) {
  History history;
  history.asks(kFirst);
  history.corrupt(history.step());
  history.candidate();
  history.candidate();
  history.asks(kSecond);
  EXPECT_EQ(expect_active(history).request.request_id, kSecond);
}

}  // namespace
}  // namespace assay::structured

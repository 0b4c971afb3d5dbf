#include "live/sync.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::live {
namespace {

struct Names {
  std::string operator()(const HistoryResetEvent&) const { return "history_reset"; }
  std::string operator()(const MessageEvent& event) const { return "message " + std::to_string(event.message.id); }
  std::string operator()(const QueueEvent& event) const { return "queue " + std::to_string(event.queue.size()); }
  std::string operator()(const StatusEvent& event) const {
    return event.status == chat::Status::Waiting          ? "waiting"
           : event.status == chat::Status::Running        ? "running"
           : event.status == chat::Status::RequiresAction ? "requires_action"
                                                          : "other status";
  }
  std::string operator()(const ErrorEvent& event) const { return "error " + event.error.message; }
  std::string operator()(const ActionRequiredEvent& event) const {
    std::string ids = "calls";
    for (const auto& call : event.calls) ids += " " + call.id;
    return ids;
  }
  std::string operator()(const RetryEvent& event) const { return "retry " + std::to_string(event.retry.attempt); }
  std::string operator()(const PreviewResetEvent&) const { return "preview_reset"; }
  std::string operator()(const PartEvent&) const { return "part"; }
};

std::string names(const std::vector<Event>& events) {
  std::string text;
  for (const auto& event : events) text += (text.empty() ? "" : ", ") + std::visit(Names{}, event);
  return text;
}

chat::Message message(std::int64_t id) {
  chat::Message row;
  row.id = id;
  return row;
}

store::SyncRead read_of(std::int64_t snapshot, std::int64_t history, chat::Status status) {
  store::SyncRead read;
  read.chat.snapshot_version = snapshot;
  read.chat.history_version = history;
  read.chat.status = status;
  return read;
}

chat::ChatError error_of(std::string text) {
  chat::ChatError error;
  error.message = std::move(text);
  return error;
}

std::string advance(SyncState& state, store::SyncRead read) {
  return names(state.advance(std::move(read), SyncState::Kind::Increment));
}

TEST(SyncState, TellsEverythingInTheFixedOrder) {
  SyncState state(StreamStart{});
  store::SyncRead read = read_of(5, 5, chat::Status::Error);
  read.chat.queue_version = 4;
  read.chat.last_error = error_of("down");
  read.chat.retry_state.emplace().attempt = 2;
  read.messages = {message(1), message(2)};
  read.queue.emplace().emplace_back();
  EXPECT_EQ(names(state.advance(std::move(read), SyncState::Kind::WholeHistory)),
            "history_reset, message 1, message 2, queue 1, other status, error down, retry 2, preview_reset");
}

TEST(SyncState, TellsTheStatusFirstEvenWithoutNews) {
  SyncState state(StreamStart{.after_message_id = 9, .snapshot_version = 0});
  EXPECT_EQ(advance(state, read_of(3, 0, chat::Status::Waiting)), "waiting");
}

TEST(SyncState, SaysNothingWhereNothingChanged) {
  SyncState state(StreamStart{});
  advance(state, read_of(3, 3, chat::Status::Waiting));
  EXPECT_EQ(advance(state, read_of(4, 3, chat::Status::Waiting)), "");
  EXPECT_EQ(state.cursor().snapshot_version, 4);
}

TEST(SyncState, FiltersByMessageIdInTheFirstReadAlone) {
  SyncState state(StreamStart{.after_message_id = 9, .snapshot_version = 0});
  EXPECT_EQ(state.cursor().after_message_id, 9);
  EXPECT_EQ(state.cursor().snapshot_version, 0);
  EXPECT_EQ(state.cursor().queue_version, -1);
  advance(state, read_of(3, 3, chat::Status::Running));
  EXPECT_EQ(state.cursor().after_message_id, 0);
  EXPECT_EQ(state.cursor().snapshot_version, 3);
  EXPECT_EQ(state.cursor().queue_version, 0);
}

TEST(SyncState, EndsATurnWithItsMessageBeforeItsStatus) {
  SyncState state(StreamStart{});
  advance(state, read_of(3, 3, chat::Status::Running));
  store::SyncRead read = read_of(6, 6, chat::Status::Waiting);
  read.messages = {message(2)};
  EXPECT_EQ(advance(state, std::move(read)), "message 2, waiting, preview_reset");
}

TEST(SyncState, TellsTheEndOfATurnThatLayBetweenTwoReads) {
  SyncState state(StreamStart{});
  advance(state, read_of(3, 3, chat::Status::Waiting));
  store::SyncRead read = read_of(9, 8, chat::Status::Waiting);
  read.messages = {message(2), message(3)};
  EXPECT_EQ(advance(state, std::move(read)), "message 2, message 3, waiting, preview_reset");
}

TEST(SyncState, TellsARepeatedErrorOfANewTurn) {
  SyncState state(StreamStart{});
  store::SyncRead read = read_of(3, 3, chat::Status::Error);
  read.chat.last_error = error_of("down");
  EXPECT_EQ(advance(state, read), "other status, error down, preview_reset");
  read.chat.snapshot_version = 4;
  EXPECT_EQ(advance(state, read), "");
  read.chat.snapshot_version = 8;
  read.chat.history_version = 7;
  EXPECT_EQ(advance(state, read), "other status, error down, preview_reset");
}

store::SyncRead asking(std::int64_t version, const std::vector<std::string>& ids) {
  store::SyncRead read = read_of(version, version, chat::Status::RequiresAction);
  for (const std::string& id : ids) read.pending_calls.emplace_back().id = id;
  return read;
}

TEST(SyncState, TellsTheClientsCallsAfterTheStatus) {
  SyncState state(StreamStart{});
  advance(state, read_of(3, 3, chat::Status::Running));
  store::SyncRead read = asking(4, {"a", "b"});
  read.messages = {message(2)};
  EXPECT_EQ(advance(state, read), "message 2, requires_action, calls a b, preview_reset");
  EXPECT_TRUE(state.is_busy());
  read.messages.clear();
  read.chat.snapshot_version = 5;
  EXPECT_EQ(advance(state, read), "") << "a queued message or its receipt repeats nothing";
}

TEST(SyncState, TellsTheClientsCallsToWhoeverComesBack) {
  SyncState resumed(StreamStart{.after_message_id = 0, .snapshot_version = 4});
  EXPECT_EQ(advance(resumed, asking(4, {"a"})), "requires_action, calls a, preview_reset");
  SyncState late(StreamStart{.after_message_id = 9, .snapshot_version = 0});
  EXPECT_EQ(advance(late, asking(4, {"a"})), "requires_action, calls a, preview_reset");
}

TEST(SyncState, TellsNewCallsWhereTheEarlierOnesWereAnsweredBetweenTwoReads) {
  SyncState state(StreamStart{});
  advance(state, asking(4, {"a"}));
  EXPECT_EQ(advance(state, asking(8, {"b"})), "requires_action, calls b, preview_reset");
}

TEST(SyncState, ResetsThePreviewForANewAttempt) {
  SyncState state(StreamStart{});
  advance(state, read_of(3, 3, chat::Status::Running));
  store::SyncRead read = read_of(4, 3, chat::Status::Running);
  read.chat.generation_attempt = 1;
  EXPECT_EQ(advance(state, read), "preview_reset");
  EXPECT_EQ(state.episode(), (EpisodeKey{.history_version = 3, .generation_attempt = 1}));
  read.chat.snapshot_version = 5;
  read.chat.retry_state.emplace().attempt = 1;
  read.chat.retry_state_version = 5;
  EXPECT_EQ(advance(state, read), "retry 1");
  read.chat.snapshot_version = 6;
  read.chat.retry_state.reset();
  read.chat.retry_state_version = 6;
  read.chat.generation_attempt = 2;
  EXPECT_EQ(advance(state, read), "preview_reset");
}

TEST(SyncState, KeepsThePreviewWhenAReceiptArrives) {
  SyncState state(StreamStart{});
  store::SyncRead read = read_of(4, 3, chat::Status::Running);
  read.chat.generation_attempt = 1;
  advance(state, read);
  const EpisodeKey before = state.episode();
  read.chat.snapshot_version = 5;
  read.messages = {message(12)};
  EXPECT_EQ(advance(state, read), "message 12");
  EXPECT_EQ(state.episode(), before);
}

TEST(SyncState, TellsTheQueueWhenItMovesAndAlsoThatItIsEmpty) {
  SyncState state(StreamStart{});
  store::SyncRead read = read_of(3, 3, chat::Status::Running);
  read.queue.emplace();
  EXPECT_EQ(advance(state, read), "running, preview_reset");
  read.chat.snapshot_version = 4;
  read.chat.queue_version = 4;
  read.queue.emplace().resize(2);
  EXPECT_EQ(advance(state, read), "queue 2");
  read.chat.snapshot_version = 5;
  read.chat.queue_version = 5;
  read.queue.emplace();
  EXPECT_EQ(advance(state, read), "queue 0");
  read.chat.snapshot_version = 6;
  EXPECT_EQ(advance(state, read), "");
}

TEST(SyncState, AsksForTheWholeHistoryOnlyWhenAClientMayHoldDeletedRows) {
  store::SyncRead read = read_of(7, 7, chat::Status::Running);
  read.deleted = {2};
  SyncState fresh(StreamStart{.after_message_id = 1, .snapshot_version = 0});
  EXPECT_FALSE(fresh.needs_whole_history(read));
  const SyncState resumed(StreamStart{.after_message_id = 0, .snapshot_version = 3});
  EXPECT_TRUE(resumed.needs_whole_history(read));
  fresh.advance(read, SyncState::Kind::Increment);
  EXPECT_TRUE(fresh.needs_whole_history(read));
  read.deleted.clear();
  EXPECT_FALSE(fresh.needs_whole_history(read));
}

TEST(SyncState, AsksForTheWholeHistoryWhereTheClientIsAheadOfTheDatabase) {
  const SyncState resumed(StreamStart{.after_message_id = 0, .snapshot_version = 9});
  EXPECT_TRUE(resumed.needs_whole_history(read_of(8, 8, chat::Status::Waiting)));
  EXPECT_FALSE(resumed.needs_whole_history(read_of(9, 8, chat::Status::Waiting)));
}

TEST(SyncState, ResumesFromASnapshotWithAStatus) {
  SyncState state(StreamStart{.after_message_id = 0, .snapshot_version = 3});
  EXPECT_EQ(state.cursor().snapshot_version, 3);
  store::SyncRead read = read_of(5, 2, chat::Status::Waiting);
  read.messages = {message(4)};
  EXPECT_EQ(advance(state, std::move(read)), "message 4, waiting, preview_reset");
}

}  // namespace
}  // namespace assay::live

// The loop of one connection against a real database: when it reads, what it tells, and what ends it.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chat/transitions.h"
#include "live/stream.h"
#include "net/event.h"
#include "net/task_group.h"
#include "store/pool.h"
#include "tests/database/test_database.h"

namespace assay::live {
namespace {

using test_database::in_test_time;

struct Names {
  std::string operator()(const HistoryResetEvent&) const { return "history_reset"; }
  std::string operator()(const MessageEvent& event) const { return "message " + std::to_string(event.message.id); }
  std::string operator()(const QueueEvent&) const { return "queue"; }
  std::string operator()(const StatusEvent&) const { return "status"; }
  std::string operator()(const ErrorEvent&) const { return "error"; }
  std::string operator()(const ActionRequiredEvent& event) const {
    return "action_required " + std::to_string(event.calls.size());
  }
  std::string operator()(const RetryEvent&) const { return "retry"; }
  std::string operator()(const PreviewResetEvent&) const { return "preview_reset"; }
  std::string operator()(const PartEvent& event) const {
    return "part " + std::to_string(event.episode->parts()[event.index].seq);
  }
};

class RecordingSink final : public EventSink {
 public:
  net::Task<bool> send(std::vector<Event> events, std::int64_t resume_point) override {
    for (const auto& event : events) told += std::visit(Names{}, event) + ", ";
    if (resume_point > 0) last_resume_point = resume_point;
    arrived.set();
    co_return !is_gone;
  }
  [[nodiscard]] net::StopToken closed() const override { return stop.token(); }

  // What was told since the last call, once it holds `text`.
  net::Task<std::string> told_with(std::string text) {
    while (!told.contains(text)) {
      const auto woken = co_await arrived.wait(in_test_time());
      if (woken != net::WaitOutcome::Signalled) co_return told + "(nothing more came)";
      arrived.clear();
    }
    co_return std::exchange(told, {});
  }

  std::string told;
  std::int64_t last_resume_point = 0;
  bool is_gone = false;
  net::Event arrived;
  net::StopSource stop;
};

class StreamTest : public test_database::StoreTest {
 public:
  using Steps = net::Task<> (*)(StreamTest& test);

  // Opens a stream beside the test, which steps on, and closes it in the end.
  void with_stream(Steps steps, StreamStart start = StreamStart()) { run(stream_beside(steps, start)); }

  // One transaction with the given effects.
  net::Task<> commit(chat::Effects effects) {
    store::Decide decide = [effects = std::move(effects)](const chat::LockedChat&) { return chat::Decision(effects); };
    chat::ReadPlan plan;
    auto committed = co_await chats().transit(chat.id, std::move(plan), std::move(decide), in_test_time());
    EXPECT_TRUE(committed.has_value());
    if (committed) chat = committed->chat;
  }
  net::Task<> begin_attempt() {
    chat::Effects effects;
    effects.generation_attempt = chat.generation_attempt + 1;
    co_await commit(std::move(effects));
    episodes.begin(chat.id, chat.history_version, chat.generation_attempt);
  }
  void preview(std::string text) {
    episodes.append(chat.id, chat::Role::Assistant, chat::TextPart{.text = std::move(text)});
  }
  static chat::Effects answer() {
    chat::NewMessage row;
    row.role = chat::Role::Assistant;
    row.content.emplace_back(chat::TextPart{.text = "answer"});
    chat::Effects effects;
    effects.insert.push_back(std::move(row));
    return effects;
  }
  // Tells subscribers that something happened, without a commit.
  void hint() {
    store::ChatHint hint;
    hint.chat = chat.id;
    hint.snapshot_version = chat.snapshot_version + 1;
    store_->notifications().publish(hint);
  }
  std::uint64_t statements() { return store_->pool().counters().statements; }
  void sql(const std::string& text) { database.sql(text); }
  void cut_connections() { database.cut_connections(); }

  chat::Chat chat;
  Episodes episodes;
  StreamMetrics metrics;
  RecordingSink sink;
  std::optional<StreamEnd> end;
  net::Event ended;

 protected:
  void SetUp() override {
    StoreTest::SetUp();
    chat = create_chat().chat;
  }

 private:
  net::Task<> stream_beside(Steps steps, StreamStart start) {
    net::TaskGroup group(loop);
    group.spawn("stream", keep_end(start));
    co_await steps(*this);
    sink.stop.stop(net::StopReason::PeerClosed);
    co_await group.join();
  }
  net::Task<> keep_end(StreamStart start) {
    StreamSources sources{.chats = chats(),
                          .notifications = store_->notifications(),
                          .episodes = episodes,
                          .clock = system_clock(),
                          .metrics = metrics};
    end = co_await run_stream(sources, chat.id, start, sink);
    ended.set();
  }
};

net::Task<> ask_the_client(StreamTest& test) {
  co_await test.sink.told_with("status");
  co_await test.begin_attempt();
  co_await test.sink.told_with("preview_reset");
  test.preview("x");
  chat::Effects effects = StreamTest::answer();
  chat::ToolCallPart call;
  call.id = "c1";
  effects.insert[0].content.emplace_back(std::move(call));
  effects.status = chat::Status::RequiresAction;
  effects.requires_action_after_ms = 60'000;
  co_await test.commit(std::move(effects));
  const std::string told = co_await test.sink.told_with("action_required");
  EXPECT_EQ(told, "part 1, message 2, status, action_required 1, preview_reset, ");
}

TEST_F(StreamTest, AsksTheClientOnceTheStepAndItsStatusAreTold) { with_stream(ask_the_client); }

TEST_F(StreamTest, AsksAClientThatComesBack) {
  with_stream(ask_the_client);
  sink.told.clear();
  end.reset();
  ended.clear();
  sink.stop = net::StopSource();
  with_stream(
      [](StreamTest& test) -> net::Task<> {
        const std::string told = co_await test.sink.told_with("action_required");
        EXPECT_EQ(told, "status, action_required 1, preview_reset, ");
      },
      StreamStart{.after_message_id = 2, .snapshot_version = 0});
}

net::Task<> send_many_parts(StreamTest& test) {
  constexpr int kParts = 500;
  co_await test.sink.told_with("status");
  co_await test.begin_attempt();
  co_await test.sink.told_with("preview_reset");
  const auto before = test.statements();
  for (int i = 0; i < kParts; ++i) test.preview("x");
  test.preview("y");
  co_await test.sink.told_with("part " + std::to_string(kParts + 1) + ",");
  // A poll may fall into this time; a read for each part would show.
  EXPECT_LT(test.statements() - before, 20u);
}

TEST_F(StreamTest, ReadsTheDatabaseForCommitsAndNeverForParts) {
  with_stream(send_many_parts);
  EXPECT_EQ(end, StreamEnd::ClientGone);
  EXPECT_EQ(metrics.open, 0);
  EXPECT_EQ(metrics.opened, 1);
}

net::Task<> commit_with_a_tail(StreamTest& test) {
  const std::string first = co_await test.sink.told_with("preview_reset");
  EXPECT_EQ(first, "message 1, status, preview_reset, ");
  EXPECT_EQ(test.sink.last_resume_point, test.chat.snapshot_version);
  co_await test.begin_attempt();
  test.preview("a");
  const std::string started = co_await test.sink.told_with("part 1");
  EXPECT_EQ(started, "preview_reset, part 1, ");
  // The last part, the commit and the end of the preview come before the stream looks.
  auto effects = StreamTest::answer();
  effects.status = chat::Status::Waiting;
  test.preview("b");
  co_await test.commit(std::move(effects));
  test.episodes.end(test.chat.id, test.episodes.current(test.chat.id)->key());
  const std::string finished = co_await test.sink.told_with("preview_reset");
  EXPECT_EQ(finished, "part 2, message 2, status, preview_reset, ");
}

TEST_F(StreamTest, ShowsTheLastPartsBeforeTheirMessage) { with_stream(commit_with_a_tail); }

net::Task<> delete_history(StreamTest& test) {
  co_await test.sink.told_with("preview_reset");
  auto effects = StreamTest::answer();
  effects.delete_messages.push_back(1);
  co_await test.commit(std::move(effects));
  const std::string told = co_await test.sink.told_with("preview_reset");
  EXPECT_EQ(told, "history_reset, message 2, preview_reset, ");
}

TEST_F(StreamTest, SendsTheWholeHistoryAfterADeletion) { with_stream(delete_history); }

net::Task<> see_only_the_rest(StreamTest& test) {
  const std::string told = co_await test.sink.told_with("preview_reset");
  EXPECT_EQ(told, "status, preview_reset, ");
  auto effects = StreamTest::answer();
  effects.delete_messages.push_back(1);
  co_await test.commit(std::move(effects));
  const std::string reset = co_await test.sink.told_with("preview_reset");
  EXPECT_EQ(reset, "history_reset, message 2, preview_reset, ");
}

TEST_F(StreamTest, FiltersTheFirstSyncAlone) {
  with_stream(see_only_the_rest, StreamStart{.after_message_id = 1, .snapshot_version = 0});
}

net::Task<> lose_the_hint(StreamTest& test) {
  co_await test.sink.told_with("preview_reset");
  // tidy: allow sql because only a write beside the store sends no hint
  test.sql("UPDATE chats SET snapshot_version = snapshot_version + 1, status = 'waiting'");
  const std::string told = co_await test.sink.told_with("status");
  EXPECT_EQ(told, "status, ");
}

TEST_F(StreamTest, LooksByItselfWhereNoHintCame) { with_stream(lose_the_hint); }

net::Task<> cut_the_database(StreamTest& test) {
  co_await test.sink.told_with("preview_reset");
  co_await test.begin_attempt();
  test.cut_connections();
  test.preview("a");
  co_await test.sink.told_with("part 1");
  co_await test.commit(StreamTest::answer());
  const std::string told = co_await test.sink.told_with("message 2");
  EXPECT_FALSE(told.contains("history_reset"));
}

TEST_F(StreamTest, OutlivesItsConnectionsToTheDatabase) { with_stream(cut_the_database); }

net::Task<> begin_twice(StreamTest& test) {
  co_await test.sink.told_with("preview_reset");
  co_await test.begin_attempt();
  test.preview("a");
  co_await test.sink.told_with("part 1");
  test.episodes.begin(test.chat.id, test.chat.history_version, test.chat.generation_attempt);
  co_await test.ended.wait(in_test_time());
}

TEST_F(StreamTest, EndsWhereThePreviewsNumberingWouldBreak) {
  with_stream(begin_twice);
  EXPECT_EQ(end, StreamEnd::PreviewRestart);
}

net::Task<> delete_the_chat(StreamTest& test) {
  co_await test.sink.told_with("preview_reset");
  // tidy: allow sql because nothing deletes chats yet
  test.sql("DELETE FROM chats");
  test.hint();
  co_await test.ended.wait(in_test_time());
}

TEST_F(StreamTest, EndsWithItsChat) {
  with_stream(delete_the_chat);
  EXPECT_EQ(end, StreamEnd::ChatGone);
}

net::Task<> leave(StreamTest& test) {
  test.sink.is_gone = true;
  co_await test.ended.wait(in_test_time());
}

TEST_F(StreamTest, EndsWhenTheClientTakesNoMore) {
  with_stream(leave);
  EXPECT_EQ(end, StreamEnd::ClientGone);
}

}  // namespace
}  // namespace assay::live

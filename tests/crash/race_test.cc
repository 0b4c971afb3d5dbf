// Races at named points, without a sleep: one replica is held where its commit stands, the other one takes what a
// client does meanwhile. The first commit under the chat's lock decides, and every request has one receipt.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>

#include "tests/crash/books.h"
#include "tests/harness/deployment.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kSchema = R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})";
constexpr const char* kScript =
    R"({"rules":[{"times":1,"reply":{"text":"Let me think about that.","fits_schema":true},"delivery":{"hold":"first"}},)"
    R"({"reply":{"text":"Once more.","fits_schema":true}}]})";

// `before.finish`: the answer is there and judged, nothing of it is committed. `sent.commit`: committed, and the
// replica does not know it. `answered.commit`: it knows, and has told nobody. `after.finish`: others may know as well.
// Commits of the held replica: 1 the chat, 2 the attempt, 3 the end with its candidate and receipt.
constexpr const char* kPoints[] = {"before.finish", "sent.commit:3", "answered.commit:3", "after.finish"};
bool is_committed(const std::string& point) { return point != "before.finish"; }

// One chat whose turn stands still at a point of the first replica, and another replica for the client.
class Held {
 public:
  explicit Held(const std::string& failpoints, ChildProcess::Environment more = {})
      : deployment_(kScript, with(std::move(more), failpoints), "assay-failpoints") {
    chat_ = deployment_.create_chat("message 1", json_schema_format(kSchema));
    accepted_.texts.insert("message 1");
    deployment_.simulator().await_point("first");
    ServerOptions options = deployment_.server_options();
    options.program = "assay";
    other_.emplace(options);
    http_.emplace(other_->url(), deployment_.token());
  }

  // Lets the model answer; returns once the replica stands still.
  void run_to_the_point() {
    deployment_.simulator().release("first");
    if (!process().wait_for_line(" hold")) throw std::runtime_error("not held: " + deployment_.log());
    process().await_stop();
  }
  void let_go() { process().send_signal(SIGCONT); }

  [[nodiscard]] Reply post(const std::string& path, const std::string& body = "") const {
    return http_->post("/api/v2/chats/" + chat_ + path, body);
  }
  // Its queued message's id, where it was queued.
  std::string send(const std::string& text, const std::string& more = "") {
    const Reply sent = post("/messages", R"({"content":[{"type":"text","text":")" + text + R"("}],"response_format":)" +
                                             json_schema_format(kSchema) + more + "}");
    EXPECT_EQ(sent.status, 200) << sent.body;
    accepted_.texts.insert(text);
    const json::Document reply = sent.json();
    const auto queued = reply.root().find("queued_message");
    return queued ? tests::text(*queued, "id") : "";
  }

  // Edits the first message; its format is kept.
  [[nodiscard]] Reply edit(const std::string& text) {
    std::string first;
    const json::Document page = deployment_.messages_at(*http_, chat_);
    for (const json::Value message : page.root().find("messages")->elements()) {
      if (tests::text(message, "role") == "user") first = tests::text(message, "id");
    }
    accepted_.texts.insert(text);
    return http_->send("PATCH", "/api/v2/chats/" + chat_ + "/messages/" + first,
                       R"({"content":[{"type":"text","text":")" + text + R"("}]})");
  }

  // Awaits rest at the other replica and looks through the books. The receipts, in order.
  std::vector<std::string> receipts() {
    EXPECT_TRUE(http_->follow("/api/v2/chats/" + chat_ + "/stream", [](const std::string& data) {
      return data.find(R"("status":{"status":"waiting"})") == std::string::npos;
    })) << other_->process().output();
    EXPECT_TRUE(is_at_rest(deployment_.database().url()));
    const Books books = balance(deployment_.database().url(), accepted_);
    EXPECT_THAT(books.faults, testing::IsEmpty());
    std::vector<std::string> found;
    const json::Document page = deployment_.messages_at(*http_, chat_);
    for (const json::Value message : page.root().find("messages")->elements()) {
      if (const auto output = message.find("structured_output")) found.emplace_back(output->raw());
    }
    std::reverse(found.begin(), found.end());  // the page has the newest first
    EXPECT_LE(found.size(), books.receipts) << "an edit hides those of what it deletes";
    return found;
  }
  [[nodiscard]] std::string history() const { return std::string(deployment_.messages_at(*http_, chat_).text()); }
  ChildProcess& process() { return deployment_.server().process(); }

 private:
  static ChildProcess::Environment with(ChildProcess::Environment more, const std::string& failpoints) {
    more["ASSAY_FAILPOINT"] = failpoints;
    return more;
  }

  Deployment deployment_;
  std::optional<Server> other_;
  std::optional<Http> http_;
  std::string chat_;
  Accepted accepted_;
};

class RaceAt : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Race, RaceAt, testing::ValuesIn(kPoints), [](const auto& point) {
  std::string name = point.param;
  std::replace_if(name.begin(), name.end(), [](char byte) { return byte == '.' || byte == ':'; }, '_');
  return name;
});

TEST_P(RaceAt, AnInterruptWinsExactlyWhereItCommitsFirst) {
  Held race(std::string(GetParam()) + "=hold");
  race.run_to_the_point();
  EXPECT_EQ(race.post("/interrupt").status, is_committed(GetParam()) ? 409 : 200);
  race.let_go();
  const auto receipts = race.receipts();
  ASSERT_EQ(receipts.size(), 1U);
  EXPECT_THAT(receipts[0], HasSubstr(is_committed(GetParam()) ? R"("status":"succeeded")" : R"("code":"interrupted")"));
}

TEST_P(RaceAt, AnInterruptingMessageComesAfterTheReceiptOfTheTurnThatItMeets) {
  Held race(std::string(GetParam()) + "=hold");
  race.run_to_the_point();
  race.send("message 2", R"(,"busy_behavior":"interrupt")");
  race.let_go();
  const auto receipts = race.receipts();
  ASSERT_EQ(receipts.size(), 2U);
  EXPECT_THAT(receipts[0], HasSubstr(is_committed(GetParam()) ? R"("status":"succeeded")" : R"("code":"interrupted")"));
  EXPECT_THAT(receipts[1], HasSubstr(R"("status":"succeeded")"));
}

// A receipt that exists already stays what it is, hidden with the turn that it ended.
TEST_P(RaceAt, AnEditSupersedesOnlyWhatIsStillOwed) {
  Held race(std::string(GetParam()) + "=hold");
  race.run_to_the_point();
  const Reply edited = race.edit("message 1, edited");
  EXPECT_EQ(edited.status, 200) << edited.body;
  race.let_go();
  const auto receipts = race.receipts();
  ASSERT_EQ(receipts.size(), is_committed(GetParam()) ? 1U : 2U);
  if (!is_committed(GetParam())) EXPECT_THAT(receipts[0], HasSubstr(R"("code":"superseded")"));
  EXPECT_THAT(receipts.back(), HasSubstr(R"("status":"succeeded")"));
  EXPECT_THAT(race.history(), Not(HasSubstr("Let me think"))) << "the edit deleted it, or it was never committed";
}

TEST_P(RaceAt, APromotionInterruptsTheTurnThatItMeets) {
  Held race(std::string(GetParam()) + "=hold");
  race.send("message 2");
  const std::string third = race.send("message 3");
  race.run_to_the_point();
  const Reply promoted = race.post("/queue/" + third + "/promote");
  EXPECT_EQ(promoted.status, 202) << promoted.body;
  race.let_go();
  const auto receipts = race.receipts();
  ASSERT_EQ(receipts.size(), 3U);
  // The second message was promoted with the end of the first turn, or it still waits behind the third one.
  const std::size_t interrupted = is_committed(GetParam()) ? 1 : 0;
  for (std::size_t i = 0; i < receipts.size(); ++i) {
    EXPECT_THAT(receipts[i], HasSubstr(i == interrupted ? R"("code":"interrupted")" : R"("status":"succeeded")"));
  }
}

TEST(Race, ASecondCompletionOfTheSameTurnIsRefused) {
  Held race("before.finish=hold", {{"ASSAY_LEASE_MS", "1000"}, {"ASSAY_HEARTBEAT_MS", "200"}});
  race.run_to_the_point();
  ASSERT_EQ(race.receipts().size(), 1U) << "the other replica took the chat and ended its turn";
  race.let_go();
  EXPECT_TRUE(race.process().wait_for_line("runner left"));
  const auto receipts = race.receipts();
  ASSERT_EQ(receipts.size(), 1U);
  EXPECT_THAT(race.history(), Not(HasSubstr("Let me think"))) << "of the late answer nothing is committed";
}

// The queued message was promoted with the first turn's end; its own turn has not begun.
TEST(Race, AnInterruptBetweenAPromotionAndItsTurnRepeatsNothingOfTheTurnBefore) {
  for (const char* points : {"after.finish=hold", "answered.commit:3=lose,before.read:2=hold"}) {
    SCOPED_TRACE(points);
    Held race(points);
    race.send("message 2");
    race.run_to_the_point();
    EXPECT_EQ(race.post("/interrupt").status, 200);
    race.let_go();
    const auto receipts = race.receipts();
    ASSERT_EQ(receipts.size(), 2U);
    EXPECT_THAT(receipts[0], HasSubstr(R"("status":"succeeded")"));
    EXPECT_THAT(receipts[1], HasSubstr(R"("code":"interrupted")"));
    const std::string history = race.history();
    EXPECT_EQ(history.find("Let me think"), history.rfind("Let me think")) << history;
  }
}

}  // namespace
}  // namespace assay::tests

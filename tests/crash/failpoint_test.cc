// kill -9 at every edge of every commit of a turn: another replica ends it, with one receipt.
#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>
#include <sstream>

#include "tests/crash/books.h"
#include "tests/harness/deployment.h"

namespace assay::tests {
namespace {

constexpr const char* kSchema = R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})";
// A rejected answer, one that the provider breaks off, then a good one.
constexpr const char* kScript =
    R"({"rules":[)"
    R"({"times":1,"reply":{"tool_calls":[{"name":"coder_structured_output","arguments":{"output":{"n":"no"}}}]}},)"
    R"({"times":1,"http":{"status":503,"headers":{"Retry-After":"0"},"body":{}}},)"
    R"({"when":{"user_contains":"impossible"},"http":{"status":400,"body":{}}},)"
    R"({"when":{"user_contains":"slow"},"reply":{"fits_schema":true},"delivery":{"hold":"slow"}},)"
    R"({"reply":{"fits_schema":true}}]})";

struct Point {
  const char* name;
  const char* question = "go";
  bool interrupts = false;
  const char* acquire_interval_ms = "100";
};
void PrintTo(const Point& point, std::ostream* out) { *out << point.name; }

// The first look for chats is that at the start. Commits: 1 the chat, 2 an attempt, 3 the rejected step, 4 an attempt,
// 5 the retry, 6 an attempt, 7 the end.
constexpr Point kPoints[] = {
    {"before.acquire:2", "go", false, "60000"},
    {"after.acquire"},
    {"before.attempt"},
    {"after.attempt"},
    {"before.step"},
    {"after.step"},
    {"before.retry"},
    {"after.retry"},
    {"before.finish"},
    {"after.finish"},
    {"before.commit:2"},
    {"sent.commit:2"},
    {"answered.commit:2"},
    {"before.commit:3"},
    {"sent.commit:3"},
    {"answered.commit:3"},
    {"before.commit:7"},
    {"sent.commit:7"},
    {"answered.commit:7"},
    {"before.heartbeat", "slow"},
    {"after.heartbeat", "slow"},
    {"before.error", "impossible"},
    {"after.error", "impossible"},
    {"before.interruption", "slow", true},
    {"after.interruption", "slow", true},
};

class KilledAt : public testing::TestWithParam<Point> {};

TEST_P(KilledAt, LeavesATurnThatAnotherReplicaEndsWithOneReceipt) {
  const Point point = GetParam();
  Deployment deployment(kScript,
                        {{"ASSAY_FAILPOINT", std::string(point.name) + "=kill"},
                         {"ASSAY_HEARTBEAT_MS", "100"},
                         {"ASSAY_ACQUIRE_INTERVAL_MS", point.acquire_interval_ms}},
                        "assay-failpoints");
  Accepted accepted;
  accepted.texts.insert(point.question);
  const std::string chat = deployment.create_chat(point.question, json_schema_format(kSchema));
  if (point.interrupts) {
    deployment.simulator().await_point("slow");
    const Reply interrupted = deployment.http().post("/api/v2/chats/" + chat + "/interrupt", "");
    EXPECT_EQ(interrupted.status, 200) << interrupted.body;
  }
  EXPECT_EQ(deployment.server().process().wait_for_exit(), -SIGKILL) << deployment.log();

  ServerOptions options = deployment.server_options();
  options.program = "assay";
  Server successor(options);
  deployment.simulator().release("slow");
  const Http http(successor.url(), deployment.token());
  ASSERT_TRUE(http.follow("/api/v2/chats/" + chat + "/stream", [](const std::string& data) {
    return data.find(R"("structured_output":)") == std::string::npos;
  })) << successor.process().output();
  ASSERT_TRUE(http.follow("/api/v2/chats/" + chat + "/stream", [](const std::string& data) {
    return data.find(R"("status":{"status":"waiting"})") == std::string::npos &&
           data.find(R"("status":{"status":"error"})") == std::string::npos;
  }));
  const Books books = balance(deployment.database().url(), accepted);
  EXPECT_EQ(books.receipts, 1U);
  EXPECT_THAT(books.faults, testing::IsEmpty());
}

std::string name_of(const testing::TestParamInfo<Point>& info) {
  std::string name = info.param.name;
  for (char& byte : name) {
    if (byte == '.' || byte == ':') byte = '_';
  }
  return name;
}
INSTANTIATE_TEST_SUITE_P(Failpoint, KilledAt, testing::ValuesIn(kPoints), name_of);

// The same where the turn waits for tools of a client that never answers.
class KilledWhileAsking : public testing::TestWithParam<const char*> {};

TEST_P(KilledWhileAsking, LeavesAWaitThatAnotherReplicaEndsAtItsDeadline) {
  Deployment deployment(
      R"({"rules":[{"when":{"has_tool_result":false},"reply":{"tool_calls":[{"name":"theirs","arguments":{}}]}},)"
      R"({"reply":{"fits_schema":true}}]})",
      {{"ASSAY_FAILPOINT", std::string(GetParam()) + "=kill"},
       {"ASSAY_CLIENT_TOOLS_TIMEOUT_MS", "300"},
       {"ASSAY_LEASE_MS", "1000"},
       {"ASSAY_HEARTBEAT_MS", "100"},
       {"ASSAY_ACQUIRE_INTERVAL_MS", "100"}},
      "assay-failpoints");
  Accepted accepted;
  accepted.texts.insert("go");
  const Reply created = deployment.http().post(
      "/api/v2/chats", R"({"organization_id":")" + deployment.organization() +
                           R"(","content":[{"type":"text","text":"go"}],"unsafe_dynamic_tools":[{"name":"theirs"}],)" +
                           R"("response_format":)" + json_schema_format(kSchema) + "}");
  ASSERT_EQ(created.status, 201) << created.body;
  const std::string chat = text(created.json().root(), "id");
  EXPECT_EQ(deployment.server().process().wait_for_exit(), -SIGKILL) << deployment.log();

  ServerOptions options = deployment.server_options();
  options.program = "assay";
  Server successor(options);
  const Http http(successor.url(), deployment.token());
  ASSERT_TRUE(http.follow("/api/v2/chats/" + chat + "/stream", [](const std::string& data) {
    return data.find(R"("status":{"status":"waiting"})") == std::string::npos;
  })) << successor.process().output();
  const Books books = balance(deployment.database().url(), accepted);
  EXPECT_EQ(books.receipts, 1U);
  EXPECT_THAT(books.faults, testing::IsEmpty());
  EXPECT_THAT(deployment.simulator().request_bodies().back(), testing::HasSubstr("did not answer this call in time"));
}

INSTANTIATE_TEST_SUITE_P(Failpoint, KilledWhileAsking,
                         testing::Values("before.ask", "after.ask", "before.timeout", "after.timeout"),
                         [](const auto& point) {
                           std::string name = point.param;
                           name[name.find('.')] = '_';
                           return name;
                         });

bool holds(const std::string& program, const std::string& text) {
  std::ifstream file(program, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  const std::string bytes = std::move(content).str();
  EXPECT_FALSE(bytes.empty()) << program;
  return bytes.find(text) != std::string::npos;
}

TEST(Failpoint, IsInNoBinaryButTheTests) {
  EXPECT_TRUE(holds(binary("assay-failpoints"), "ASSAY_FAILPOINT"));
  EXPECT_FALSE(holds(binary("assay"), "ASSAY_FAILPOINT"));
  EXPECT_FALSE(holds(binary("assay-server"), "ASSAY_FAILPOINT"));
}

}  // namespace
}  // namespace assay::tests

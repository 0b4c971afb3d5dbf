// What survives: kill -9 in the middle of a turn, takeover by another replica, shutdown, restart.
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/harness/deployment.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;

constexpr const char* kSchema = R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})";
constexpr const char* kHeldScript =
    R"({"rules":[{"times":1,"reply":{"tool_calls":[{"name":"coder_structured_output","arguments":{"output":{"n":1}}}]},"delivery":{"hold":"first"}},)"
    R"({"reply":{"tool_calls":[{"name":"coder_structured_output","arguments":{"output":{"n":2}}}]}}]})";

// Follows the chat's stream at one replica until its receipt says success.
bool reports_success(const Http& replica, const std::string& chat) {
  return replica.follow("/api/v2/chats/" + chat + "/stream", [](const std::string& data) {
    return data.find(R"("status":"succeeded")") == std::string::npos;
  });
}

std::string outcomes_of(Deployment& deployment, const std::string& chat) {
  return deployment.database().value("select count(*) from chat_messages where chat_id = '" + chat +
                                     R"(' and content @> '[{"type":"structured-output-outcome"}]')");
}

TEST(Durability, AKilledServersTurnEndsInExactlyOneReceiptAfterTheRestart) {
  Deployment deployment(kHeldScript);
  const std::string chat = deployment.create_chat("go", json_schema_format(kSchema));
  deployment.simulator().await_point("first");
  deployment.kill_and_restart();
  ASSERT_TRUE(deployment.await_end(chat)) << deployment.log();
  EXPECT_THAT(deployment.receipt(chat), HasSubstr(R"("value":{"n":2})"));
}

TEST(Durability, AnotherReplicaTakesAKilledOnesTurnOver) {
  Deployment deployment(kHeldScript);
  const std::string chat = deployment.create_chat("go", json_schema_format(kSchema));
  deployment.simulator().await_point("first");
  Server other(deployment.server_options());
  deployment.server().process().kill();
  const Http http(other.url(), deployment.token());
  EXPECT_TRUE(reports_success(http, chat));
  EXPECT_EQ(outcomes_of(deployment, chat), "1");
}

TEST(Durability, ShutdownHandsTheTurnOverAndExitsCleanly) {
  Deployment deployment(kHeldScript);
  const std::string chat = deployment.create_chat("go", json_schema_format(kSchema));
  deployment.simulator().await_point("first");
  Server other(deployment.server_options());
  EXPECT_EQ(deployment.server().stop(), 0) << deployment.log();
  const Http http(other.url(), deployment.token());
  EXPECT_TRUE(reports_success(http, chat));
  EXPECT_EQ(outcomes_of(deployment, chat), "1");
}

TEST(Durability, ARequestWhoseStoredFormIsCorruptFailsClosed) {
  Deployment deployment(kHeldScript);
  const std::string chat = deployment.create_chat("go", json_schema_format(kSchema));
  deployment.simulator().await_point("first");
  deployment.server().process().kill();
  deployment.database().sql(
      R"(update chat_messages set content = jsonb_set(content, '{1,structured_output_data,schema}', '"{\"type\":"') where chat_id = ')" +
      chat + "'");
  deployment.kill_and_restart();
  ASSERT_TRUE(deployment.await_end(chat)) << deployment.log();
  EXPECT_THAT(deployment.receipt(chat), HasSubstr(R"("code":"configuration_error")"));
}

TEST(Durability, AnUnreadableRowEndsItsTurnAndNoOther) {
  Deployment deployment(kHeldScript);
  const std::string chat = deployment.create_chat("go", json_schema_format(kSchema));
  deployment.simulator().await_point("first");
  deployment.server().process().kill();
  deployment.database().sql(
      R"(update chat_messages set content = content || '[{"type":"nonsense"}]'::jsonb where chat_id = ')" + chat + "'");
  deployment.kill_and_restart();
  ASSERT_TRUE(deployment.await_end(chat)) << deployment.log();
  EXPECT_THAT(deployment.receipt(chat), HasSubstr(R"("code":"configuration_error")"));
  EXPECT_THAT(deployment.ask("go", json_schema_format(kSchema)), HasSubstr(R"("value":{"n":2})"));
}

TEST(Durability, AFrozenOwnerWritesNothingWhenItWakesUp) {
  Deployment deployment(kHeldScript, {{"ASSAY_LEASE_MS", "1000"}, {"ASSAY_HEARTBEAT_MS", "200"}});
  const std::string chat = deployment.create_chat("go", json_schema_format(kSchema));
  deployment.simulator().await_point("first");
  Server other(deployment.server_options());
  deployment.server().process().send_signal(SIGSTOP);
  const Http http(other.url(), deployment.token());
  EXPECT_TRUE(reports_success(http, chat));
  deployment.server().process().send_signal(SIGCONT);
  deployment.simulator().release("first");
  EXPECT_TRUE(deployment.server().process().wait_for_line("runner left")) << deployment.log();
  EXPECT_THAT(deployment.receipt(chat), HasSubstr(R"("value":{"n":2})"));
}

TEST(Durability, TheTurnGoesOnWhenItsDatabaseConnectionsAreCut) {
  Deployment deployment(kHeldScript);
  const std::string chat = deployment.create_chat("go", json_schema_format(kSchema));
  deployment.simulator().await_point("first");
  deployment.database().cut_connections();
  deployment.simulator().release("first");
  ASSERT_TRUE(deployment.await_end(chat)) << deployment.log();
  EXPECT_THAT(deployment.receipt(chat), HasSubstr(R"("status":"succeeded")"));
}

}  // namespace
}  // namespace assay::tests

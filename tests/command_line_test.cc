// The commands as people and scripts use them.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "store/migrate.h"
#include "tests/harness/deployment.h"

namespace assay::tests {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFittingScript = R"({"rules":[{"reply":{"fits_schema":true}}]})";
constexpr const char* kTalkingScript = R"({"rules":[{"reply":{"text":"just words"}}]})";
constexpr const char* kSchema =
    R"({"type":"object","properties":{"command":{"const":"make"}},"required":["command"],"additionalProperties":false})";

ChildProcess::Environment client_of(Deployment& deployment) {
  return {{"ASSAY_SERVER", deployment.server().url()}, {"ASSAY_TOKEN", deployment.token()}};
}

TEST(Ask, PrintsTheValueAndExitsWithZero) {
  Deployment deployment(kFittingScript);
  const TemporaryFile schema(kSchema, ".json");
  const Finished asked =
      run_program(binary("assay"), {"ask", "--schema", schema.path(), "how?"}, client_of(deployment));
  EXPECT_EQ(asked.exit_code, 0) << asked.output;
  EXPECT_THAT(asked.output, EndsWith("{\"command\":\"make\"}\n"));
}

TEST(Ask, PrintsCodeAndReasonOfAFailureAndExitsWithOne) {
  Deployment deployment(kTalkingScript);
  const TemporaryFile schema(kSchema, ".json");
  const Finished asked =
      run_program(binary("assay"), {"ask", "--schema", schema.path(), "how?"}, client_of(deployment));
  EXPECT_EQ(asked.exit_code, 1) << asked.output;
  EXPECT_THAT(asked.output, HasSubstr("not_produced: "));
}

TEST(Ask, PrintsTextWithoutASchema) {
  Deployment deployment(kTalkingScript);
  const Finished asked = run_program(binary("assay"), {"ask", "how?"}, client_of(deployment));
  EXPECT_EQ(asked.exit_code, 0) << asked.output;
  EXPECT_THAT(asked.output, EndsWith("just words\n"));
}

TEST(Ask, SaysWhatIsWrongWithSchemaTokenAndServer) {
  Deployment deployment(kFittingScript);
  const TemporaryFile refused(R"({"$ref":"#"})", ".json");
  const Finished bad_schema =
      run_program(binary("assay"), {"ask", "--schema", refused.path(), "x"}, client_of(deployment));
  EXPECT_EQ(bad_schema.exit_code, 2);
  EXPECT_THAT(bad_schema.output, HasSubstr("schema refused at /$ref"));

  auto stranger = client_of(deployment);
  stranger["ASSAY_TOKEN"] = "nobody";
  const Finished unknown = run_program(binary("assay"), {"ask", "x"}, stranger);
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_THAT(unknown.output, HasSubstr("assay token create"));
  EXPECT_THAT(unknown.output, Not(HasSubstr("nobody")));

  const Finished alone =
      run_program(binary("assay"), {"ask", "x"}, {{"ASSAY_SERVER", "http://127.0.0.1:9"}, {"ASSAY_TOKEN", "t"}});
  EXPECT_EQ(alone.exit_code, 3);
  EXPECT_THAT(alone.output, HasSubstr("cannot reach the server"));
  EXPECT_EQ(run_program(binary("assay"), {"ask", "x"}).exit_code, 2) << "without a token";
}

TEST(Serve, RefusesATakenAddress) {
  Deployment deployment(kTalkingScript);
  ChildProcess::Environment environment{{"ASSAY_DATABASE_URL", deployment.database().url()},
                                        {"ASSAY_ADDRESS", deployment.server().url().substr(7)}};
  const Finished second = run_program(binary("assay"), {"serve"}, environment);
  EXPECT_EQ(second.exit_code, 4) << second.output;
  EXPECT_THAT(second.output, HasSubstr("--address"));
}

TEST(Serve, RefusesADatabaseThatANewerVersionMigrated) {
  test_database::TestDatabase database;
  database.sql("insert into schema_migrations (version, name) values (" + std::to_string(store::schema_version() + 1) +
               ", 'later')");
  const Finished old = run_program(binary("assay"), {"serve"},
                                   {{"ASSAY_DATABASE_URL", database.url()}, {"ASSAY_ADDRESS", "127.0.0.1:0"}});
  EXPECT_EQ(old.exit_code, 6) << old.output;
  EXPECT_THAT(old.output, HasSubstr("newer assay"));
}

TEST(Commands, RefuseFlagsThatDoNotGoTogether) {
  const Finished batch = run_program(binary("assay"), {"validate", "--batch", "schema.json"});
  EXPECT_EQ(batch.exit_code, 2);
  EXPECT_THAT(batch.output, HasSubstr("leave SCHEMA and INSTANCE out"));
  const Finished server =
      run_program(binary("assay"), {"ask", "--server", "127.0.0.1:8080", "x"}, {{"ASSAY_TOKEN", "t"}});
  EXPECT_EQ(server.exit_code, 2);
  EXPECT_THAT(server.output, HasSubstr("http://127.0.0.1:8080"));
}

TEST(Serve, SaysWhichSettingIsWrong) {
  const Finished wrong = run_program(binary("assay"), {"serve", "--address", "8080"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.output, HasSubstr("--address: '8080' is no address"));
  EXPECT_EQ(run_program(binary("assay"), {"serve", "--frobnicate"}).exit_code, 2);
  EXPECT_EQ(run_program(binary("assay"), {}).exit_code, 2);
}

TEST(Serve, HelpNamesEverySetting) {
  const Finished help = run_program(binary("assay"), {"serve", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* name : {"ASSAY_ADDRESS", "ASSAY_DATA_DIR", "ASSAY_DATABASE_URL", "ASSAY_EXPERIMENTS", "ASSAY_CONFIG",
                           "ASSAY_PROVIDER_URL", "ASSAY_PROVIDER_KEY", "ASSAY_PROVIDER_WIRE", "ASSAY_PROVIDER_MODEL"}) {
    EXPECT_THAT(help.output, HasSubstr(name));
  }
}

TEST(Serve, RunsItsOwnPostgresAndReusesItsData) {
  const TemporaryFile seat("", ".d");
  const std::string folder = seat.path() + "ata";
  Simulator simulator(kFittingScript);
  ServerOptions options;
  options.provider_url = simulator.url();
  options.more = {{"ASSAY_DATA_DIR", folder}, {"ASSAY_DATABASE_URL", ""}};
  std::string token;
  {
    Server server(options);
    const Finished made =
        run_program(binary("assay"), {"token", "create", "--user", "a"}, {{"ASSAY_DATA_DIR", folder}});
    ASSERT_EQ(made.exit_code, 0) << made.output;
    token = made.output.substr(0, made.output.size() - 1);
    token = token.substr(token.rfind('\n') + 1);
    EXPECT_EQ(Http(server.url(), token).get("/api/v2/users/me").status, 200);
    server.process().kill();
  }
  Server again(options);
  EXPECT_EQ(Http(again.url(), token).get("/api/v2/users/me").status, 200) << "the token outlives kill -9";
  EXPECT_EQ(again.stop(), 0) << again.process().output();
  std::filesystem::remove_all(folder);
}

TEST(Serve, StartsItsOwnPostgresAgainWhenItDies) {
  const TemporaryFile seat("", ".d");
  const std::string folder = seat.path() + "ata";
  ServerOptions options;
  options.more = {{"ASSAY_DATA_DIR", folder}, {"ASSAY_DATABASE_URL", ""}, {"ASSAY_PROVIDER_KEY", ""}};
  Server server(options);
  std::ifstream pid_file(folder + "/data/postmaster.pid");
  pid_t postgres = 0;
  pid_file >> postgres;
  ASSERT_GT(postgres, 0);
  ASSERT_EQ(::kill(postgres, SIGKILL), 0);
  EXPECT_TRUE(server.process().wait_for_line("is started again")) << server.process().output();
  EXPECT_TRUE(server.process().wait_for_line("runs again")) << server.process().output();
  const Finished made = run_program(binary("assay"), {"token", "create", "--user", "a"}, {{"ASSAY_DATA_DIR", folder}});
  EXPECT_EQ(made.exit_code, 0) << made.output;
  EXPECT_EQ(server.stop(), 0) << server.process().output();
  std::filesystem::remove_all(folder);
}

TEST(Token, RefusesANameThatIsNone) {
  test_database::TestDatabase database;
  EXPECT_EQ(run_program(binary("assay"), {"token", "create", "--user", "a b"}, {{"ASSAY_DATABASE_URL", database.url()}})
                .exit_code,
            2);
}

TEST(Migrate, IsHarmlessTwice) {
  test_database::TestDatabase database(test_database::TestDatabase::Schema::Empty);
  for (int i = 0; i < 2; ++i) {
    const Finished migrated = run_program(binary("assay"), {"migrate"}, {{"ASSAY_DATABASE_URL", database.url()}});
    EXPECT_EQ(migrated.exit_code, 0) << migrated.output;
  }
}

}  // namespace
}  // namespace assay::tests

// The triggers and constraints of the schema, in SQL: whatever code runs above, these hold.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "database/test_database.h"

namespace assay::store {
namespace {

using test_database::DatabaseTest;

constexpr const char* kChat = "11111111-1111-4111-8111-111111111111";
constexpr const char* kRequest = "22222222-2222-4222-8222-222222222222";
constexpr const char* kText = R"({"type": "text", "text": "structured-output-outcome"})";

std::string outcome(std::string_view request = kRequest,
                    std::string_view rest = R"("status": "succeeded", "value": "null")") {
  return fmt::format(R"({{"type": "structured-output-outcome", "structured_output_data": {{"request_id": "{}", {}}}}})",
                     request, rest);
}

class SchemaTest : public DatabaseTest {
 protected:
  void SetUp() override {
    database.sql(fmt::format(
        "insert into chats (id, organization_id, owner_id, title, client_type, last_model_config_id, status) "
        "values ('{0}', '{0}', '{0}', 't', 'api', '{0}', 'running')",
        kChat));
    insert("user", "both", fmt::format("[{}]", kText));
    advance();
    database.sql("update chats set generation_attempt = 3");
  }

  void advance() { database.sql("update chats set snapshot_version = snapshot_version + 1"); }
  [[nodiscard]] std::string row(std::string_view role, std::string_view visibility, std::string_view content) {
    return fmt::format("('{}', {}, '{}', '{}', '{}')", kChat, ++id_, role, visibility, content);
  }
  [[nodiscard]] static std::string insert_sql(std::string_view rows) {
    return fmt::format("insert into chat_messages (chat_id, id, role, visibility, content) values {}", rows);
  }
  void insert(std::string_view role, std::string_view visibility, std::string_view content) {
    database.sql(insert_sql(row(role, visibility, content)));
  }
  // snapshot, history version, attempt
  std::string versions() {
    return database.value("select concat_ws(' ', snapshot_version, history_version, generation_attempt) from chats");
  }
  std::string revision(int id) {
    return database.value(fmt::format("select revision from chat_messages where id = {}", id));
  }

  int id_ = 0;
};

TEST_F(SchemaTest, AMessageMovesHistoryAndEndsTheAttempt) {
  EXPECT_EQ(versions(), "2 1 3");
  insert("assistant", "both", fmt::format("[{}]", kText));
  EXPECT_EQ(versions(), "2 2 0");
  EXPECT_EQ(revision(2), "2");
}

TEST_F(SchemaTest, AReceiptOfTheExactShapeIsNoHistory) {
  insert("assistant", "user", fmt::format("[{}, {}]", kText, outcome()));
  EXPECT_EQ(versions(), "2 1 3");
  EXPECT_EQ(revision(2), "2");
}

TEST_F(SchemaTest, TheOrderOfAReceiptsPartsDoesNotMatter) {
  insert("assistant", "user", fmt::format("[{}, {}]", outcome(), kText));
  EXPECT_EQ(versions(), "2 1 3");
}

TEST_F(SchemaTest, RowsThatOnlyResembleReceiptsAreHistory) {
  const std::string receipt = fmt::format("[{}, {}]", kText, outcome());
  const std::vector<std::array<std::string, 3>> rows{
      {"assistant", "both", receipt},
      {"assistant", "model", receipt},
      {"user", "user", receipt},
      {"tool", "user", receipt},
      {"assistant", "user", fmt::format("[{}]", outcome())},
      {"assistant", "user", fmt::format("[{}, {}, {}]", kText, kText, outcome())},
      {"assistant", "user", fmt::format("[{}, {}]", R"({"type": "reasoning", "text": "x"})", outcome())},
      {"assistant", "user", fmt::format("[{}, {}]", kText, kText)},
      {"assistant", "user", fmt::format(R"([{}, {{"type": "tool-result", "result": {}}}])", kText, outcome())},
      {"assistant", "user", fmt::format(R"([{}, [{}]])", kText, outcome())},
      {"assistant", "user", R"(["structured-output-outcome", "text"])"},
      {"assistant", "user", "[]"},
      // Control rows fence, and so does whatever only speaks of outcomes.
      {"assistant", "user", fmt::format(R"([{}, {{"type": "structured-output-control"}}])", kText)},
      {"user", "user", fmt::format(R"([{}, {{"type": "structured-output-control"}}])", kText)},
      {"user", "both", fmt::format(R"([{}, {{"type": "structured-output-request"}}])", kText)},
      {"assistant", "user", fmt::format(R"([{}, {{"type": "text", "text": "structured-output-outcome"}}])", kText)},
      {"assistant", "user", fmt::format(R"([{}, {{"type": "text", "type2": "structured-output-outcome"}}])", kText)},
  };
  for (const auto& [role, visibility, content] : rows) {
    database.sql("begin");
    insert(role, visibility, content);
    EXPECT_EQ(versions(), "2 2 0") << role << ' ' << visibility << ' ' << content;
    database.sql("rollback");
    EXPECT_EQ(versions(), "2 1 3");
  }
}

TEST_F(SchemaTest, AMixedInsertCountsItsOrdinaryRows) {
  const std::string receipt = row("assistant", "user", fmt::format("[{}, {}]", kText, outcome()));
  const std::string ordinary = row("user", "both", fmt::format("[{}]", kText));
  database.sql(insert_sql(receipt + ", " + ordinary));
  EXPECT_EQ(versions(), "2 2 0");
}

TEST_F(SchemaTest, UpdatingOrDeletingAReceiptIsHistory) {
  insert("assistant", "user", fmt::format("[{}, {}]", kText, outcome()));
  advance();
  database.sql("update chat_messages set deleted = true where id = 2");
  EXPECT_EQ(versions(), "3 3 0");
  EXPECT_EQ(revision(2), "3");
  advance();
  database.sql("delete from chat_messages where id = 2");
  EXPECT_EQ(versions(), "4 4 0");
}

TEST_F(SchemaTest, AnUpdateThatChangesNothingMovesNothing) {
  advance();
  database.sql("update chat_messages set deleted = deleted, content = content");
  EXPECT_EQ(versions(), "3 1 3");
  EXPECT_EQ(revision(1), "1");
}

TEST_F(SchemaTest, ARequestHasOneOutcomeEver) {
  const std::string receipt = fmt::format("[{}, {}]", kText, outcome());
  insert("assistant", "user", receipt);
  EXPECT_EQ(database.refusal(insert_sql(row("assistant", "user", receipt))), "23505");
  database.sql("update chat_messages set deleted = true where id = 2");
  EXPECT_EQ(database.refusal(insert_sql(row("assistant", "user", receipt))), "23505");
  const std::string failed =
      fmt::format("[{}]", outcome(kRequest, R"("status": "failed", "error": {"code": "not_produced"})"));
  EXPECT_EQ(database.refusal(insert_sql(row("tool", "both", failed))), "23505");
  const std::string other = outcome("33333333-3333-4333-8333-333333333333");
  insert("assistant", "user", fmt::format("[{}, {}]", kText, other));
}

TEST_F(SchemaTest, AnOutcomeIsWhole) {
  const std::string error = R"("error": {"code": "interrupted", "message": "m"})";
  const std::vector<std::string> broken{
      outcome(kRequest, R"("status": "succeeded")"),
      outcome(kRequest, R"("status": "succeeded", "value": null)"),
      outcome(kRequest, R"("status": "succeeded", "value": 7)"),
      outcome(kRequest, R"("status": "succeeded", "value": "7", )" + error),
      outcome(kRequest, R"("status": "failed", "value": "7")"),
      outcome(kRequest, R"("status": "failed", "value": "7", )" + error),
      outcome(kRequest, R"("status": "canceled")"),
      outcome(kRequest, R"("status": "canceled", "error": "interrupted")"),
      outcome(kRequest, R"("status": "done", )" + error),
      outcome(kRequest, error),
      R"({"type": "structured-output-outcome"})",
      R"({"type": "structured-output-outcome", "structured_output_data": {"status": "succeeded", "value": "1"}})",
      outcome() + ", " + outcome("33333333-3333-4333-8333-333333333333"),
  };
  for (const std::string& part : broken) {
    EXPECT_EQ(database.refusal(insert_sql(row("assistant", "user", fmt::format("[{}, {}]", kText, part)))), "23514")
        << part;
  }
  EXPECT_EQ(
      database.refusal(insert_sql(row("assistant", "user", fmt::format("[{}, {}]", kText, outcome("not an id"))))),
      "22P02");
  EXPECT_EQ(database.refusal(insert_sql(row("assistant", "user", "{}"))), "23514");
  for (const std::string_view status : {"failed", "canceled"}) {
    database.sql("begin");
    insert("assistant", "user",
           fmt::format("[{}, {}]", kText, outcome(kRequest, fmt::format(R"("status": "{}", {})", status, error))));
    database.sql("rollback");
  }
}

TEST_F(SchemaTest, VersionsAreKeptByTriggersAlone) {
  EXPECT_NE(database.refusal("update chats set history_version = 9"), "");
  EXPECT_NE(database.refusal("update chats set queue_version = 9"), "");
  EXPECT_NE(database.refusal("update chats set queue_length = 9"), "");
  EXPECT_NE(database.refusal("update chats set retry_state_version = 9"), "");
  EXPECT_NE(database.refusal("update chats set snapshot_version = 1"), "");
  EXPECT_NE(database.refusal("update chat_messages set revision = 9"), "");
  EXPECT_NE(database.refusal("update chat_messages set id = 9"), "");
  EXPECT_NE(database.refusal(fmt::format("insert into chat_messages (chat_id, id, role, visibility, content, revision) "
                                         "values ('{}', 9, 'user', 'both', '[]', 1)",
                                         kChat)),
            "");
  EXPECT_EQ(versions(), "2 1 3");
}

TEST_F(SchemaTest, AMessageNeedsItsChat) {
  EXPECT_NE(database.refusal("insert into chat_messages (chat_id, id, role, visibility, content) "
                             "values (gen_random_uuid(), 1, 'user', 'both', '[]')"),
            "");
}

TEST_F(SchemaTest, RetryStateMovesItsVersionAndEndsWithTheAttempt) {
  const auto state = [this] {
    return database.value("select concat_ws(' ', retry_state, retry_state_version) from chats");
  };
  EXPECT_EQ(state(), "0");
  database.sql("update chats set retry_state = '{\"attempt\": 1}'");
  EXPECT_EQ(state(), "{\"attempt\": 1} 2");
  advance();
  database.sql("update chats set retry_state = '{\"attempt\": 1}'");
  EXPECT_EQ(state(), "{\"attempt\": 1} 2");
  database.sql("update chats set generation_attempt = generation_attempt + 1");
  EXPECT_EQ(state(), "3");
  database.sql("update chats set generation_attempt = 9, retry_state = '{\"attempt\": 2}'");
  EXPECT_EQ(state(), "{\"attempt\": 2} 3");
  advance();
  insert("user", "both", "[]");
  EXPECT_EQ(state(), "4") << "a change of history resets the attempt, which ends the retry state";
}

TEST_F(SchemaTest, TheQueueMovesItsVersion) {
  const auto queue = [this] { return database.value("select concat_ws(' ', queue_version, queue_length) from chats"); };
  const auto enqueue = [](int id) {
    return fmt::format(
        "insert into chat_queued_messages (chat_id, id, position, content, created_by) "
        "values ('{0}', {1}, {1}, '[]', '{0}')",
        kChat, id);
  };
  EXPECT_EQ(queue(), "0 0");
  database.sql(enqueue(1));
  database.sql(enqueue(2));
  EXPECT_EQ(queue(), "2 2");
  advance();
  database.sql("update chat_queued_messages set position = 3 where id = 1");
  EXPECT_EQ(queue(), "3 2");
  advance();
  database.sql("delete from chat_queued_messages where id = 1");
  EXPECT_EQ(queue(), "4 1");
  EXPECT_EQ(versions(), "4 1 3");
}

TEST_F(SchemaTest, ARollbackLeavesNoTrace) {
  database.sql("begin");
  advance();
  insert("assistant", "user", fmt::format("[{}, {}]", kText, outcome()));
  insert("user", "both", "[]");
  database.sql("rollback");
  EXPECT_EQ(versions(), "2 1 3");
  insert("assistant", "user", fmt::format("[{}, {}]", kText, outcome()));
  EXPECT_EQ(versions(), "2 1 3");
}

TEST_F(SchemaTest, DeletingAChatDeletesEverythingOfIt) {
  database.sql(fmt::format("insert into chat_heartbeats values ('{0}', '{0}', now(), false)", kChat));
  database.sql(
      fmt::format("insert into chat_queued_messages (chat_id, id, position, content, created_by) "
                  "values ('{0}', 1, 1, '[]', '{0}')",
                  kChat));
  database.sql("delete from chats");
  EXPECT_EQ(database.value("select (select count(*) from chat_messages) + (select count(*) from chat_heartbeats) + "
                           "(select count(*) from chat_queued_messages)"),
            "0");
}

TEST_F(SchemaTest, EveryKeyOfChatStateLeadsWithTheChat) {
  EXPECT_EQ(database.value("select count(*) from pg_index i join pg_attribute a on a.attrelid = i.indrelid "
                           "and a.attnum = i.indkey[0] where i.indisunique "
                           "and i.indrelid::regclass::text in ('chats', 'chat_messages', 'chat_queued_messages', "
                           "'chat_heartbeats') and a.attname not in ('id', 'chat_id')"),
            "0");
  EXPECT_EQ(database.value("select count(*) from pg_index i join pg_attribute a on a.attrelid = i.indrelid "
                           "and a.attnum = i.indkey[0] where i.indisunique and a.attname = 'id' "
                           "and i.indrelid::regclass::text like 'chat\\_%'"),
            "0");
}

// Nothing about structured output but what the messages hold.
TEST_F(SchemaTest, StructuredOutputHasNoTableAndNoColumn) {
  EXPECT_EQ(database.value("select count(*) from information_schema.columns where table_schema = 'public' "
                           "and (column_name ~ 'structured|outcome|request|receipt' "
                           "or table_name ~ 'structured|outcome|request|receipt')"),
            "0");
}

}  // namespace
}  // namespace assay::store

// With many idle chats and one long one every statement that a step or a client waits for goes by an index.
// ASSAY_SCALE_CHATS and ASSAY_SCALE_MESSAGES load more, ASSAY_SCALE_PRINT=1 prints the plans
// (scripts/explain-at-scale).
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <set>

#include "database/test_database.h"
#include "store/statements.h"

namespace assay::store {
namespace {

using test_database::Row;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kChats = 20'000;
constexpr std::int64_t kMessagesOfTheLongChat = 2'000;
constexpr const char* kLongChat = "00000000-0000-4000-8000-00000000aaaa";
constexpr const char* kOwner = "00000000-0000-4000-8000-00000000bbbb";
constexpr const char* kReplica = "00000000-0000-4000-8000-00000000cccc";

std::int64_t number_from(const char* variable, std::int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

class Plans : public test_database::DatabaseTest {
 protected:
  void SetUp() override {
    const std::int64_t chats = number_from("ASSAY_SCALE_CHATS", kChats);
    const std::int64_t messages = number_from("ASSAY_SCALE_MESSAGES", kMessagesOfTheLongChat);
    database.sql("set session_replication_role = replica");  // no triggers: the rows say their own versions
    // A thousand chats of one owner, the others of many; twenty have work, and a dead owner.
    database.sql(fmt::format(
        "insert into chats (id, organization_id, owner_id, title, client_type, last_model_config_id, status, "
        "worker_id, "
        "runner_id, last_message_id, history_version, updated_at) "
        "select gen_random_uuid(), '{1}', case when i % ({0} / 1000) = 0 then '{1}'::uuid else gen_random_uuid() end, "
        "'chat ' || i, 'api', '{1}', case when i % ({0} / 20) = 0 then 'running' when i % 50 = 0 then 'error' "
        "else 'waiting' end, case when i % ({0} / 20) = 0 then '{1}'::uuid end, "
        "case when i % ({0} / 20) = 0 then '{1}'::uuid end, 2, 1, now() - i * interval '1 second' "
        "from generate_series(1, {0}) i",
        chats, kOwner));
    database.sql(
        "insert into chat_messages (chat_id, id, role, visibility, content, revision) "
        "select c.id, m, case m when 1 then 'user' else 'assistant' end, 'both', "
        "'[{\"type\":\"text\",\"text\":\"some words of a chat\"}]', 1 from chats c, generate_series(1, 2) m");
    database.sql(fmt::format(
        "insert into chats (id, organization_id, owner_id, title, client_type, last_model_config_id, status, "
        "snapshot_version, history_version, last_message_id) values ('{0}', '{1}', '{1}', 'long', 'api', '{1}', "
        "'waiting', {2}, {2}, {2})",
        kLongChat, kOwner, messages));
    // Every tenth row is a receipt.
    database.sql(
        fmt::format("insert into chat_messages (chat_id, id, role, visibility, content, revision) "
                    "select '{}', m, case when m % 2 = 1 then 'user' else 'assistant' end, "
                    "case when m % 10 = 0 then 'user' else 'both' end, case when m % 10 = 0 then "
                    "jsonb_build_array(jsonb_build_object('type', 'text', 'text', '7'), jsonb_build_object("
                    "'type', 'structured-output-outcome', 'structured_output_data', jsonb_build_object("
                    "'request_id', gen_random_uuid(), 'status', 'succeeded', 'value', '7'))) else "
                    "jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat('words ', 40))) end, m "
                    "from generate_series(1, {}) m",
                    kLongChat, messages));
    database.sql(
        "insert into chat_queued_messages (chat_id, id, position, content, created_by) "
        "select id, 1, 1, '[{\"type\":\"text\",\"text\":\"later\"}]', id from chats where status = 'error'");
    database.sql(
        "insert into chat_submissions (chat_id, user_id, route, submission_key, digest, status, body) "
        "select id, owner_id, 'create', 'k', repeat('0', 64), 201, '{}' from chats");
    database.sql("set session_replication_role = origin");
    database.sql("analyze");
    newest_ = messages;
  }

  // The plan as it was executed, with the pages that it touched.
  std::string plan_of(const Statement& statement, const std::string& arguments) {
    if (prepared_.insert(statement.name).second) {
      database.sql("prepare \"" + statement.name + "\" as " + statement.sql);
    }
    database.sql("begin");
    std::string plan;
    for (const Row& row :
         database.sql("explain (analyze, buffers) execute \"" + statement.name + "\"(" + arguments + ")")) {
      plan += *row.front() + "\n";
    }
    database.sql("rollback");
    if (number_from("ASSAY_SCALE_PRINT", 0) != 0) fmt::print("--- {}\n{}", statement.name, plan);
    return plan;
  }

  struct Case {
    const Statement& statement;
    std::string arguments;
    const char* index;  // that the plan names
    std::int64_t pages_max;
  };

  [[nodiscard]] std::vector<Case> cases() const {
    const std::string chat = fmt::format("'{}'", kLongChat);
    const std::string none = "'{}'";
    // A limit on pages where the work must not grow with the chats, nor with the length of one.
    constexpr std::int64_t kAny = 1'000'000;
    constexpr std::int64_t kFew = 40;
    constexpr std::int64_t kPage = 300;            // fifty chats
    constexpr std::int64_t kSixteenChats = 1'000;  // taken, with their heartbeats
    return {
        {statements::kAcquire, fmt::format("'{}', 16, 20000", kReplica), "chats_with_work", kSixteenChats},
        {statements::kHeartbeat, fmt::format("'{}', array[{}]::uuid[], array['{}']::uuid[]", kReplica, chat, kOwner),
         "chats_pkey", kFew},
        {statements::kListChats, fmt::format("'{}', null, {}, '', null, 50, 0, null", kOwner, none), "chats_by_owner",
         kPage},
        {statements::kListChats, fmt::format("'{}', false, {}, '', {}, 50, 0, null", kOwner, none, chat),
         "chats_by_owner", kPage},
        {statements::kFindChat, chat, "chats_pkey", kFew},
        {statements::kLockChat, chat, "chats_pkey", kFew},
        {statements::kSyncMessages, fmt::format("{}, {}, 0", chat, newest_ - 2), "chat_messages_by_revision", kFew},
        {statements::kFirstSyncMessages, fmt::format("{}, {}", chat, newest_ - 2), "chat_messages_pkey", kFew},
        {statements::kSyncQueue, chat + ", -1", "chat_queued_messages_pkey", kFew},
        {statements::kQueue, chat, "chat_queued_messages_pkey", kFew},
        {statements::kMessagesDescending, fmt::format("{}, {}, 0, 51", chat, newest_ + 1), "chat_messages_pkey", kFew},
        {statements::kMessagesAscending, fmt::format("{}, {}, 10, 51", chat, newest_ + 1), "chat_messages_pkey", kFew},
        {statements::kOpenStep, fmt::format("{}, {}", chat, newest_ + 1), "chat_messages_pkey", kFew},
        {statements::kPendingStep, chat, "chats_pkey", kFew},
        {statements::kClosedRequests, fmt::format("{}, array['{}']::uuid[]", chat, kOwner), "chat_messages_one_outcome",
         kFew},
        {statements::kAllClosedRequests, chat, "chat_messages_one_outcome", kAny},
        {statements::kFindSubmission, fmt::format("{}, '{}', 'send', 'k'", chat, kOwner), "chat_submissions_pkey",
         kFew},
        {statements::kHistory, chat, "chat_messages_pkey", kAny},
    };
  }

  static std::int64_t pages_in(const std::string& plan) {
    std::int64_t pages = 0;
    const std::size_t buffers = plan.find("Buffers: ");
    const std::string line = plan.substr(buffers, plan.find('\n', buffers) - buffers);
    for (const char* kind : {"hit=", "read="}) {
      const std::size_t at = line.find(kind);
      if (at != std::string::npos)
        pages += std::strtoll(line.c_str() + at + std::string_view(kind).size(), nullptr, 10);
    }
    return pages;
  }

  std::int64_t newest_ = 0;

 private:
  std::set<std::string> prepared_;
};

TEST_F(Plans, GoByAnIndexWhateverTheNumberOfIdleChats) {
  // Both kinds of plan that a prepared statement can get.
  database.sql(statements::kConfigureSession.sql);
  for (const char* mode : {"force_custom_plan", "force_generic_plan"}) {
    database.sql(std::string("set plan_cache_mode = ") + mode);
    for (const Case& one : cases()) {
      const std::string plan = plan_of(one.statement, one.arguments);
      SCOPED_TRACE(fmt::format("{}, {}:\n{}", one.statement.name, mode, plan));
      EXPECT_THAT(plan, HasSubstr(one.index));
      EXPECT_THAT(plan, Not(HasSubstr("Seq Scan on chats")));
      EXPECT_THAT(plan, Not(HasSubstr("Seq Scan on chat_messages")));
      EXPECT_LE(pages_in(plan), one.pages_max);
    }
  }
}

}  // namespace
}  // namespace assay::store

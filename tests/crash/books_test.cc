// The books find what they are there to find.
#include "tests/crash/books.h"

#include <gmock/gmock.h>

#include "tests/harness/deployment.h"

namespace assay::tests {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSchema = R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})";

TEST(Books, BalanceAfterAnOrdinaryTurnAndNotAfterAnyTampering) {
  Deployment deployment(R"({"rules":[{"reply":{"fits_schema":true}}]})");
  test_database::TestDatabase& database = deployment.database();
  deployment.ask("message 1", json_schema_format(kSchema));
  const Accepted accepted{.requests = {}, .texts = {"message 1"}};
  EXPECT_TRUE(is_at_rest(database.url()));
  EXPECT_THAT(balance(database.url(), accepted).faults, IsEmpty());
  EXPECT_THAT(balance(database.url(), Accepted{.requests = {"never given"}, .texts = {"never said"}}).faults,
              testing::ElementsAre(HasSubstr("without a receipt"), HasSubstr("is lost")));

  // A copy of a row, as a second run of its step would write it.
  const auto copy_where = [&database](const std::string& condition) {
    database.sql(
        "insert into chat_messages (chat_id, id, role, visibility, content) "
        "select chat_id, id + 100, role, visibility, content from chat_messages where " +
        condition);
  };
  const auto faults = [&] { return balance(database.url(), accepted).faults; };
  copy_where("role = 'user' and id < 100");
  EXPECT_THAT(faults(), Contains(HasSubstr("stands there twice")));
  EXPECT_THAT(faults(), Contains(HasSubstr("asked twice")));
  copy_where("role = 'assistant' and visibility = 'both' and id < 100");
  EXPECT_THAT(faults(), Contains(HasSubstr("several candidates")));
  EXPECT_THAT(faults(), Contains(HasSubstr("without exactly one result")));
  database.sql("delete from chat_messages where visibility = 'user'");
  EXPECT_THAT(faults(), Contains(HasSubstr("a request without a receipt")));
}

}  // namespace
}  // namespace assay::tests

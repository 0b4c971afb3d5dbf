// The exhaustive search, and proof that it can fail. ASSAY_CLIENT_ACTIONS=N searches a larger world.
#include "tests/model/search.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>

namespace assay::model {
namespace {

using testing::HasSubstr;

std::string violation_without(Omitted rule, int client_actions) {
  return search(SearchOptions{.client_actions = client_actions, .client_tools = false, .omitted = rule})
      .violation.value_or("nothing was found");
}

void expect_balance(SearchOptions options) {
  if (const char* actions = std::getenv("ASSAY_CLIENT_ACTIONS")) options.client_actions = std::atoi(actions);
  const SearchResult result = search(options);
  fmt::print("{} states, {} steps, {} of the states at rest\n", result.states, result.steps, result.ends);
  EXPECT_FALSE(result.violation.has_value()) << *result.violation;
  EXPECT_GT(result.states, 10'000U);
}

TEST(Search, FindsAtMostOneReceiptAndInTheEndOne) {
  expect_balance({.client_actions = 2, .client_tools = false, .omitted = Omitted::Nothing});
}

TEST(Search, FindsThemWhereTheClientsToolsAreCalledToo) {
  expect_balance({.client_actions = 1, .client_tools = true, .omitted = Omitted::Nothing});
}

TEST(Search, MissesTheFence) { EXPECT_THAT(violation_without(Omitted::Fence, 2), HasSubstr("after")); }

TEST(Search, FindsTwoReceiptsWithoutFenceAndGuard) {
  EXPECT_THAT(violation_without(Omitted::FenceAndReceiptGuard, 2), HasSubstr("has 2 receipts"));
}

TEST(Search, MissesTheReceiptOfAnInterruption) {
  EXPECT_THAT(violation_without(Omitted::InterruptionReceipt, 1), HasSubstr("is closed and has 0 receipts"));
}

TEST(Search, MissesTheTakeoverOfADeadReplicasChat) {
  EXPECT_THAT(violation_without(Omitted::Takeover, 0), HasSubstr("nobody goes on"));
}

TEST(Search, MissesTheLimitOfAttempts) {
  EXPECT_THAT(violation_without(Omitted::AttemptLimit, 0), HasSubstr("a turn without end"));
}

TEST(Search, MissesTheAgeOfACutAnswersText) {
  EXPECT_THAT(violation_without(Omitted::PartialTextAge, 2), HasSubstr("repeats the text of"));
}

}  // namespace
}  // namespace assay::model

// The exhaustive search, and proof that it can fail. ASSAY_CLIENT_ACTIONS=N searches a larger world.
#include "tests/model/search.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>

namespace assay::model {
namespace {

using testing::HasSubstr;

std::string violation_without(Omitted rule, int client_actions) {
  return search(SearchOptions{.client_actions = client_actions, .omitted = rule})
      .violation.value_or("nothing was found");
}

TEST(Search, FindsAtMostOneReceiptAndInTheEndOne) {
  const char* more = std::getenv("ASSAY_CLIENT_ACTIONS");
  const SearchResult result =
      search(SearchOptions{.client_actions = more == nullptr ? 2 : std::atoi(more), .omitted = Omitted::Nothing});
  fmt::print("{} states, {} steps, {} of the states at rest\n", result.states, result.steps, result.ends);
  EXPECT_FALSE(result.violation.has_value()) << *result.violation;
  EXPECT_GT(result.states, 10'000U);
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

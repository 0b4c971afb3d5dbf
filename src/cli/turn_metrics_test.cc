#include "cli/turn_metrics.h"

#include <gmock/gmock.h>

namespace assay::cli {
namespace {

TEST(TurnMetrics, TellsWorkFromWaiting) {
  worker::TurnCounters counters;
  counters.runners = 5;
  counters.runners_waiting = 2;
  api::MetricsText text;
  write_turn_metrics(counters, text);
  const std::string page = text.take();
  EXPECT_THAT(page, testing::HasSubstr("assay_runners 5\n"));
  EXPECT_THAT(page, testing::HasSubstr("assay_runners_waiting 2\n"));
}

TEST(TurnMetrics, CountsReceiptsByStatus) {
  worker::TurnCounters counters;
  counters.receipts[static_cast<std::size_t>(structured::OutcomeStatus::Failed)] = 3;
  api::MetricsText text;
  write_turn_metrics(counters, text);
  const std::string page = text.take();
  EXPECT_THAT(page, testing::HasSubstr("assay_receipts_total{status=\"failed\"} 3\n"));
  EXPECT_THAT(page, testing::HasSubstr("assay_receipts_total{status=\"succeeded\"} 0\n"));
}

}  // namespace
}  // namespace assay::cli

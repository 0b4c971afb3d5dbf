#include "cli/turn_metrics.h"

#include "structured/outcome.h"

namespace assay::cli {

void write_turn_metrics(const worker::TurnCounters& counters, api::MetricsText& text) {
  using Type = api::MetricsText::Type;
  const auto count = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  text.begin("assay_runners", Type::Gauge, "Chats that this replica works on.");
  text.sample(count(counters.runners));
  text.begin("assay_runners_waiting", Type::Gauge, "Of them: chats that wait for their client's tools.");
  text.sample(count(counters.runners_waiting));
  text.begin("assay_chats_acquired_total", Type::Counter, "Chats that this replica took over to work on.");
  text.sample(count(counters.chats_acquired));
  text.begin("assay_chats_lost_total", Type::Counter, "Chats whose lease this replica lost.");
  text.sample(count(counters.chats_lost));
  text.begin("assay_model_calls_total", Type::Counter, "Model calls begun, retries included.");
  text.sample(count(counters.model_calls));
  text.begin("assay_model_call_failures_total", Type::Counter, "Model calls that failed.");
  text.sample(count(counters.model_call_failures));
  text.begin("assay_receipts_total", Type::Counter, "Receipts written by this replica's turns.");
  for (const auto status :
       {structured::OutcomeStatus::Succeeded, structured::OutcomeStatus::Failed, structured::OutcomeStatus::Canceled}) {
    text.sample(count(counters.receipts.at(static_cast<std::size_t>(status))),
                {{"status", structured::name_of(status)}});
  }
}

}  // namespace assay::cli

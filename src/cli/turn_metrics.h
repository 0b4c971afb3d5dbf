#pragma once
// The worker's counters on the metrics page.
#include "api/metrics.h"
#include "worker/turn_counters.h"

namespace assay::cli {

void write_turn_metrics(const worker::TurnCounters& counters, api::MetricsText& text);

}  // namespace assay::cli

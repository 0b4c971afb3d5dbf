#pragma once
// What the worker counts, for the metrics page. Only on the loop thread.
#include <array>
#include <cstddef>
#include <cstdint>

#include "structured/parts.h"

namespace assay::worker {

inline constexpr std::size_t kOutcomeStatuses = 3;

struct TurnCounters {
  std::uint64_t model_calls = 0;
  std::uint64_t model_call_failures = 0;
  std::uint64_t chats_acquired = 0;
  std::uint64_t chats_lost = 0;
  std::size_t runners = 0;                                 // at work now
  std::size_t runners_waiting = 0;                         // of them: until a client has answered its tools' calls
  std::array<std::uint64_t, kOutcomeStatuses> receipts{};  // by structured::OutcomeStatus
};

}  // namespace assay::worker

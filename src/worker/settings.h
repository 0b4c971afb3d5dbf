#pragma once
// What the worker is told by the configuration.
#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "base/uuid.h"

namespace assay::worker {

struct Settings {
  ReplicaId replica;
  Milliseconds lease{20'000};            // a replica silent for so long has lost its chats
  Milliseconds heartbeat{5'000};         // between two signs of life
  Milliseconds acquire_interval{1'000};  // between two looks for chats without an owner; notifications come sooner
  Milliseconds watch_interval{5'000};    // between two looks at a running turn's row; notifications come sooner
  std::int64_t attempts_max = 5;         // model calls of one step
  Milliseconds attempts_window{60'000};  // no further attempt begins later than this after the first
  std::int64_t attempts_total_max = 25;  // the same over takeovers: a step that keeps killing its replica ends too
  Milliseconds client_tools_timeout{300'000};  // what a client gets to answer the calls of its tools
  std::int64_t steps_max = 1200;               // model steps of one turn
  // Chats that one replica works on at a time; others wait for a free replica. Those that wait for their client do not
  // count: clients that never answer must not keep others from their turn.
  std::size_t runners_max = 256;
};

// Every database call of the worker ends by then; what it was for is decided anew from what is committed.
inline constexpr Milliseconds kStoreTimeout{15'000};
// Between two tries of a write that the database did not take.
inline constexpr Milliseconds kStoreRetryDelay{250};

}  // namespace assay::worker

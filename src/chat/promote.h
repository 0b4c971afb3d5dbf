#pragma once
// A queued message that is to run before the others. Its request keeps id and format.
#include <cstdint>

#include "chat/effects.h"

namespace assay::chat {

// After an error, or while a client's tools are pending, it enters history at once: the pending calls are canceled and
// a structured request that this ends is `interrupted`. While a turn runs, that turn is interrupted and the message
// follows it.
struct PromoteQueuedMessage {
  std::int64_t queue_id = 0;
};
ReadPlan reads_of(const PromoteQueuedMessage& input);
Decision decide(const LockedChat& locked, const PromoteQueuedMessage& input);

}  // namespace assay::chat

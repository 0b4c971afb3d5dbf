#pragma once
// How the one door carries out what a transition decided. Internal to store/.
#include <cstdint>
#include <optional>
#include <vector>

#include "chat/effects.h"
#include "store/chat_store.h"
#include "store/connection.h"

namespace assay::store {

// Which answers of the second exchange hold what.
struct WritePlan {
  std::optional<std::size_t> deleted;
  std::optional<std::size_t> inserted;
  std::optional<std::size_t> enqueued;
  std::size_t updated = 0;
};

// Queues the statements of `effects` for a chat whose row is locked; COMMIT is the caller's. Ids follow the chat's
// counters.
WritePlan queue_effects(Connection& connection, const chat::Effects& effects, const chat::Chat& chat,
                        std::int64_t last_queued_id);

// Puts together what was committed.
Result<Committed, StoreError> read_committed(const std::vector<Rows>& answers, const WritePlan& plan,
                                             chat::Effects effects, ChatId chat);

// Queues what `plan` asks for, and reads the answers from `first` on into `locked`.
void queue_reads(Connection& connection, ChatId chat, const chat::ReadPlan& plan);
Result<void, StoreError> read_plan(const std::vector<Rows>& answers, std::size_t first, const chat::ReadPlan& plan,
                                   chat::LockedChat& locked);

}  // namespace assay::store

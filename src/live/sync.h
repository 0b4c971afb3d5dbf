#pragma once
// What one client of a chat has been told, and what a fresh read of the database adds to it. Pure.
//
// The events of one read come in a fixed order that clients rely on: history_reset, messages, queue_update, status,
// error, action_required, retry, preview_reset. So the assistant's message with its usage precedes the status that ends
// a turn, `status: error` precedes the error, and `status: requires_action` the calls to answer.
#include <cstdint>
#include <optional>
#include <vector>

#include "chat/chat.h"
#include "live/event.h"
#include "store/chat_store.h"

namespace assay::live {

// Where a stream begins.
struct StreamStart {
  std::int64_t after_message_id = 0;  // rows up to here are left out of the first sync alone
  std::int64_t snapshot_version = 0;  // resume: everything up to this snapshot was received
};

class SyncState {
 public:
  explicit SyncState(StreamStart start) : after_message_id_(start.after_message_id) {
    snapshot_version_ = start.snapshot_version;
  }

  // For the next read.
  [[nodiscard]] store::SyncCursor cursor() const;

  // The client may hold rows that are deleted or were never there: the history must be sent again, from a read with
  // `whole_history_cursor`.
  [[nodiscard]] bool needs_whole_history(const store::SyncRead& read) const;
  [[nodiscard]] static store::SyncCursor whole_history_cursor() { return store::SyncCursor{}; }

  enum class Kind { Increment, WholeHistory };
  // The events of a successful read, which becomes what the client has been told. The first one always has a status.
  std::vector<Event> advance(store::SyncRead read, Kind kind);

  [[nodiscard]] bool has_synced() const { return status_.has_value(); }
  [[nodiscard]] std::int64_t snapshot_version() const { return snapshot_version_; }
  // The episode whose parts may be sent now. Depends on history and attempt alone, so that a receipt, which moves
  // neither, discards no preview.
  [[nodiscard]] EpisodeKey episode() const { return episode_; }
  // Whether more news is likely soon.
  [[nodiscard]] bool is_busy() const;

 private:
  std::int64_t after_message_id_ = 0;
  std::int64_t snapshot_version_ = 0;
  std::int64_t queue_version_ = -1;
  std::int64_t retry_state_version_ = 0;
  EpisodeKey episode_;
  std::optional<chat::Status> status_;  // empty: nothing was told yet
  std::optional<chat::ChatError> error_;
};

}  // namespace assay::live

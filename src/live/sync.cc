#include "live/sync.h"

#include <utility>

namespace assay::live {

store::SyncCursor SyncState::cursor() const {
  store::SyncCursor cursor;
  cursor.snapshot_version = snapshot_version_;
  cursor.queue_version = queue_version_;
  if (!has_synced()) cursor.after_message_id = after_message_id_;
  return cursor;
}

bool SyncState::needs_whole_history(const store::SyncRead& read) const {
  // A client without a snapshot holds nothing of this stream; what was deleted before is not its concern. One that is
  // ahead of the database holds what a restored or failed-over database does not know.
  if (snapshot_version_ == 0) return false;
  return !read.deleted.empty() || read.chat.snapshot_version < snapshot_version_;
}

std::vector<Event> SyncState::advance(store::SyncRead read, Kind kind) {
  std::vector<Event> events;
  const chat::Chat& chat = read.chat;
  const bool is_first = !has_synced();
  const bool history_moved = chat.history_version != episode_.history_version;
  const bool attempt_began = chat.generation_attempt != episode_.generation_attempt && chat.generation_attempt > 0;

  if (kind == Kind::WholeHistory) events.emplace_back(HistoryResetEvent{});
  for (auto& message : read.messages) events.emplace_back(MessageEvent{.message = std::move(message)});

  // A chat whose queue was never used has nothing to say about it.
  if (read.queue && chat.queue_version != 0 && chat.queue_version != queue_version_) {
    events.emplace_back(QueueEvent{.queue = std::move(*read.queue)});
  }

  // A whole turn, or a whole answer to the client's calls, may lie between two reads: then its end is told although the
  // status looks the same as before.
  const bool is_running = chat.status == chat::Status::Running || chat.status == chat::Status::Interrupting;
  const bool tells_status = is_first || chat.status != *status_ || (history_moved && !is_running);
  if (tells_status) events.emplace_back(StatusEvent{.status = chat.status});

  if (chat.last_error && (tells_status || chat.last_error != error_)) {
    events.emplace_back(ErrorEvent{.error = *chat.last_error});
  }
  if (tells_status && chat.status == chat::Status::RequiresAction) {
    events.emplace_back(ActionRequiredEvent{.calls = std::move(read.pending_calls)});
  }
  if (chat.retry_state && (is_first || chat.retry_state_version != retry_state_version_)) {
    events.emplace_back(RetryEvent{.retry = *chat.retry_state});
  }
  if (history_moved || attempt_began) events.emplace_back(PreviewResetEvent{});

  snapshot_version_ = chat.snapshot_version;
  queue_version_ = chat.queue_version;
  retry_state_version_ = chat.retry_state_version;
  episode_ = EpisodeKey{.history_version = chat.history_version, .generation_attempt = chat.generation_attempt};
  status_ = chat.status;
  error_ = chat.last_error;
  return events;
}

bool SyncState::is_busy() const {
  return status_ == chat::Status::Running || status_ == chat::Status::Interrupting ||
         status_ == chat::Status::RequiresAction;
}

}  // namespace assay::live

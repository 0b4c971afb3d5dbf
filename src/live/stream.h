#pragma once
// One client that watches one chat: turns commits and previews into events, in order, as long as the client stays.
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "base/uuid.h"
#include "live/episode.h"
#include "live/event.h"
#include "live/sync.h"
#include "net/stop.h"
#include "net/task.h"
#include "store/chat_store.h"
#include "store/notifications.h"

namespace assay::live {

// Hints can be lost, so a stream also looks by itself: often while a turn runs, rarely while the chat rests (ten
// thousand idle streams then cost some 300 short reads a second).
inline constexpr Milliseconds kPollBusy{2'000};
inline constexpr Milliseconds kPollIdle{30'000};
// One read: beyond it the database counts as away.
inline constexpr Milliseconds kReadTimeout{10'000};
// Preview parts of one frame, as many as the public API allows.
inline constexpr std::size_t kPartsPerSend = 256;
// Between two tries while the database is away. The client keeps its connection and the previews go on.
inline constexpr Milliseconds kRetryPause{1'000};

struct StreamMetrics {
  std::int64_t open = 0;
  std::int64_t opened = 0;
  std::int64_t events = 0;
};

// Lifetime: all of it outlives the stream.
struct StreamSources {
  store::ChatStore& chats;
  store::Notifications& notifications;
  Episodes& episodes;
  const Clock& clock;
  StreamMetrics& metrics;
};

// The client's side.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // Sends events in order. `resume_point`: the snapshot that the client has seen once it has all of them; 0: they
  // move nothing that is stored. False: the client is gone.
  virtual net::Task<bool> send(std::vector<Event> events, std::int64_t resume_point) = 0;
  [[nodiscard]] virtual net::StopToken closed() const = 0;
};

enum class StreamEnd {
  ClientGone,      // or the server shuts down
  ChatGone,        // deleted meanwhile
  PreviewRestart,  // the same attempt began twice: its numbering would have a gap, so the client must start anew
  Failed,          // the chat's data cannot be read
};

// Returns when the stream is over. Lifetime: the sources and the sink outlive the task.
net::Task<StreamEnd> run_stream(StreamSources sources, ChatId chat, StreamStart start, EventSink& sink);

}  // namespace assay::live

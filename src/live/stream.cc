#include "live/stream.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/log.h"
#include "net/event.h"

namespace assay::live {

namespace {

class OpenCount {
 public:
  explicit OpenCount(StreamMetrics& metrics) : metrics_(metrics) {
    ++metrics_.open;
    ++metrics_.opened;
  }
  ~OpenCount() { --metrics_.open; }
  OpenCount(const OpenCount&) = delete;
  OpenCount& operator=(const OpenCount&) = delete;

 private:
  StreamMetrics& metrics_;
};

class Stream {
 public:
  Stream(StreamSources sources, ChatId chat, StreamStart start, EventSink& sink)
      : sources_(sources),
        chat_(chat),
        sink_(sink),
        state_(start),
        open_(sources.metrics),
        subscription_(sources.notifications.subscribe(chat)),
        watch_(sources.episodes.watch(chat, [this] {
          preview_moved_ = true;
          subscription_.changed().set();
        })) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  net::Task<StreamEnd> run() {
    bool must_read = true;
    auto next_poll = Deadline::never();
    while (true) {
      if (must_read) {
        const Outcome outcome = co_await read();
        if (outcome == Outcome::Ended) co_return end_;
        // Counted from the read: a preview that flows must not put the poll off.
        next_poll = Deadline::after(sources_.clock, pause_after(outcome));
      }
      if (state_.has_synced()) {
        const bool goes_on = co_await send_parts();
        if (!goes_on) co_return end_;
      }
      const auto woken = co_await subscription_.changed().wait(next_poll, sink_.closed());
      if (woken == net::WaitOutcome::Stopped) co_return StreamEnd::ClientGone;
      must_read = news_may_be_stored(woken);
      subscription_.changed().clear();
      preview_moved_ = false;
    }
  }

 private:
  enum class Outcome { Done, Retry, Ended };

  [[nodiscard]] Milliseconds pause_after(Outcome outcome) const {
    if (outcome == Outcome::Retry) return kRetryPause;
    return state_.is_busy() ? kPollBusy : kPollIdle;
  }

  // Whether a wake-up calls for a read. A preview that grows does not: it is the hot path, and touches no database.
  bool news_may_be_stored(net::WaitOutcome woken) {
    if (woken == net::WaitOutcome::DeadlinePassed || !preview_moved_ || !state_.has_synced()) return true;
    if (subscription_.snapshot_hint() > state_.snapshot_version()) return true;
    // An episode of another attempt: the commit that opened it was not read yet. One look per attempt is enough.
    const auto current = sources_.episodes.current(chat_);
    if (!current || current->key() == state_.episode() || current->key() == looked_for_) return false;
    looked_for_ = current->key();
    return true;
  }

  net::Task<Outcome> read() {
    const auto deadline = Deadline::after(sources_.clock, kReadTimeout);
    auto kind = SyncState::Kind::Increment;
    auto found = co_await sources_.chats.read_sync(chat_, state_.cursor(), deadline);
    if (found && *found && state_.needs_whole_history(**found)) {
      kind = SyncState::Kind::WholeHistory;
      found = co_await sources_.chats.read_sync(chat_, SyncState::whole_history_cursor(), deadline);
    }
    if (!found) co_return failed(found.error());
    if (!*found) {
      end_ = StreamEnd::ChatGone;
      co_return Outcome::Ended;
    }
    // What was previewed before this commit goes out before it: a message follows its own parts.
    if (state_.has_synced()) {
      const bool goes_on = co_await send_parts();
      if (!goes_on) co_return Outcome::Ended;
    }
    auto events = state_.advance(std::move(**found), kind);
    if (events.empty()) co_return Outcome::Done;
    const bool sent = co_await send(std::move(events), state_.snapshot_version());
    if (!sent) co_return Outcome::Ended;
    co_return Outcome::Done;
  }

  Outcome failed(const store::StoreError& error) {
    using Kind = store::StoreErrorKind;
    if (error.kind == Kind::Unavailable || error.kind == Kind::Timeout || error.kind == Kind::InDoubt) {
      return Outcome::Retry;
    }
    log::error("a stream cannot read its chat", {{"chat", chat_.to_string()},
                                                 {"kind", store::to_string(error.kind)},
                                                 {"message", error.message},
                                                 {"sqlstate", error.sqlstate}});
    end_ = StreamEnd::Failed;
    return Outcome::Ended;
  }

  // The parts of the current attempt that were not sent yet; late joiners get them from the first on. In portions, so
  // that a crowd of late joiners neither holds up the loop nor keeps a whole episode rendered for each.
  net::Task<bool> send_parts() {
    if (!hold_episode()) co_return false;
    const std::shared_ptr<const Episode> episode = episode_;
    while (episode && sent_parts_ < episode->parts().size()) {
      std::vector<Event> events;
      const std::size_t end = std::min(episode->parts().size(), sent_parts_ + kPartsPerSend);
      for (; sent_parts_ < end; ++sent_parts_) events.emplace_back(PartEvent{.episode = episode, .index = sent_parts_});
      const bool sent = co_await send(std::move(events), 0);
      if (!sent) co_return false;
    }
    co_return true;
  }

  // Takes hold of the episode that belongs to what was read. False: its numbering began anew.
  bool hold_episode() {
    if (episode_ && episode_->key() != state_.episode()) episode_.reset();
    auto current = sources_.episodes.current(chat_);
    if (!current || current->key() != state_.episode() || current == episode_) return true;
    if (episode_ && sent_parts_ > 0) {
      end_ = StreamEnd::PreviewRestart;
      return false;
    }
    episode_ = std::move(current);
    sent_parts_ = 0;
    return true;
  }

  net::Task<bool> send(std::vector<Event> events, std::int64_t resume_point) {
    sources_.metrics.events += static_cast<std::int64_t>(events.size());
    co_return co_await sink_.send(std::move(events), resume_point);
  }

  StreamSources sources_;
  ChatId chat_;
  EventSink& sink_;
  SyncState state_;
  OpenCount open_;
  store::Subscription subscription_;
  Episodes::Watch watch_;
  bool preview_moved_ = false;
  EpisodeKey looked_for_;
  std::shared_ptr<const Episode> episode_;  // kept beyond its end, for its last parts
  std::size_t sent_parts_ = 0;
  StreamEnd end_ = StreamEnd::ClientGone;
};

}  // namespace

net::Task<StreamEnd> run_stream(StreamSources sources, ChatId chat, StreamStart start, EventSink& sink) {
  Stream stream(sources, chat, start, sink);
  co_return co_await stream.run();
}

}  // namespace assay::live

#pragma once
// Previews of running turns: the parts that a generation streams before its step is committed. They are kept in memory
// only, for clients that watch; losing them harms no commit.
//
// An episode is one generation attempt of one chat. Its parts are numbered from 1 without a gap. All calls belong to
// the event loop's thread.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "chat/message.h"

namespace assay::live {

// Bounds what one episode keeps. A turn that streams more goes on, and its clients see the rest when it is committed.
inline constexpr std::size_t kEpisodeBytesMax = std::size_t{1024} * 1024;

struct EpisodeKey {
  std::int64_t history_version = 0;
  std::int64_t generation_attempt = 0;
  friend bool operator==(const EpisodeKey&, const EpisodeKey&) = default;
};

// A piece of a tool call's arguments. Never of the finalizer's: its arguments are shown once they are committed.
struct ArgumentsDelta {
  std::string call_id;
  std::string name;
  std::string text;  // a fragment of JSON text
};

// What a preview shows: text and reasoning parts hold the new piece alone, calls and results are whole.
using PreviewContent = std::variant<chat::TextPart, chat::ReasoningPart, ArgumentsDelta, chat::ToolCallPart,
                                    chat::ToolResultPart, chat::SourcePart>;

struct PreviewPart {
  std::int64_t seq = 0;  // 1-based within its episode
  chat::Role role = chat::Role::Assistant;
  PreviewContent content;
};

class Episode {
 public:
  explicit Episode(EpisodeKey key) : key_(key) {}
  [[nodiscard]] EpisodeKey key() const { return key_; }
  // In order of seq; parts()[i].seq == i + 1.
  [[nodiscard]] const std::vector<PreviewPart>& parts() const { return parts_; }
  // Parts were left out because the episode is full.
  [[nodiscard]] bool is_truncated() const { return truncated_; }

 private:
  friend class Episodes;
  EpisodeKey key_;
  std::vector<PreviewPart> parts_;
  std::size_t bytes_ = 0;
  bool truncated_ = false;
};

// Requires: outlives its watches and whoever writes.
class Episodes {
 public:
  using Waker = std::function<void()>;

  // Calls the waker whenever the chat's episode begins, grows or ends; not from within a waker's own destruction.
  // Lifetime: until destroyed; movable, not copyable.
  class Watch {
   public:
    Watch() = default;
    Watch(Watch&& other) noexcept;
    Watch& operator=(Watch&& other) noexcept;
    ~Watch();

   private:
    friend class Episodes;
    Watch(Episodes* owner, ChatId chat, std::list<Waker>::iterator place) : owner_(owner), chat_(chat), place_(place) {}
    void release();

    Episodes* owner_ = nullptr;
    ChatId chat_;
    std::list<Waker>::iterator place_{};
  };

  // For the worker. `begin` replaces what the chat had; `append` without an episode is ignored.
  void begin(ChatId chat, std::int64_t history_version, std::int64_t generation_attempt);
  void append(ChatId chat, chat::Role role, PreviewContent content);
  // After the step's commit or when the attempt is given up; nothing where another episode has begun since. Whoever
  // holds the episode can still read its parts.
  void end(ChatId chat, EpisodeKey key);

  // For readers: the chat's current episode, or null.
  [[nodiscard]] std::shared_ptr<const Episode> current(ChatId chat) const;
  // Requires: `waker` only sets a flag or a signal; it neither starts nor ends watches.
  [[nodiscard]] Watch watch(ChatId chat, Waker waker);

  [[nodiscard]] std::size_t size() const { return episodes_.size(); }

 private:
  void wake(ChatId chat);

  std::unordered_map<ChatId, std::shared_ptr<Episode>> episodes_;
  std::unordered_map<ChatId, std::list<Waker>> wakers_;
};

}  // namespace assay::live

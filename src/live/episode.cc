#include "live/episode.h"

#include <utility>

namespace assay::live {

namespace {

struct TextBytes {
  std::size_t operator()(const chat::TextPart& part) const { return part.text.size(); }
  std::size_t operator()(const chat::ReasoningPart& part) const {
    return part.text.size() + part.provider_state.size();
  }
  std::size_t operator()(const ArgumentsDelta& part) const {
    return part.call_id.size() + part.name.size() + part.text.size();
  }
  std::size_t operator()(const chat::ToolCallPart& part) const {
    return part.id.size() + part.name.size() + part.arguments.size() + part.provider_state.size();
  }
  std::size_t operator()(const chat::ToolResultPart& part) const {
    return part.call_id.size() + part.name.size() + part.result.size() + part.provider_state.size();
  }
  std::size_t operator()(const chat::SourcePart& part) const {
    return part.id.size() + part.url.size() + part.title.size();
  }
};

// The part's own structure counts too, so that a flood of tiny deltas is bounded as well.
std::size_t bytes_of(const PreviewContent& content) { return sizeof(PreviewPart) + std::visit(TextBytes{}, content); }

}  // namespace

Episodes::Watch::Watch(Watch&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)), chat_(other.chat_), place_(other.place_) {}

Episodes::Watch& Episodes::Watch::operator=(Watch&& other) noexcept {
  if (this == &other) return *this;
  release();
  owner_ = std::exchange(other.owner_, nullptr);
  chat_ = other.chat_;
  place_ = other.place_;
  return *this;
}

Episodes::Watch::~Watch() { release(); }

void Episodes::Watch::release() {
  auto* owner = std::exchange(owner_, nullptr);
  if (owner == nullptr) return;
  const auto found = owner->wakers_.find(chat_);
  found->second.erase(place_);
  if (found->second.empty()) owner->wakers_.erase(found);
}

void Episodes::begin(ChatId chat, std::int64_t history_version, std::int64_t generation_attempt) {
  episodes_[chat] = std::make_shared<Episode>(
      EpisodeKey{.history_version = history_version, .generation_attempt = generation_attempt});
  wake(chat);
}

void Episodes::append(ChatId chat, chat::Role role, PreviewContent content) {
  const auto found = episodes_.find(chat);
  if (found == episodes_.end()) return;
  Episode& episode = *found->second;
  if (episode.truncated_) return;
  const std::size_t bytes = bytes_of(content);
  if (bytes > kEpisodeBytesMax - episode.bytes_) {
    episode.truncated_ = true;
    return;
  }
  episode.bytes_ += bytes;
  const auto seq = static_cast<std::int64_t>(episode.parts_.size()) + 1;
  episode.parts_.push_back(PreviewPart{.seq = seq, .role = role, .content = std::move(content)});
  wake(chat);
}

void Episodes::end(ChatId chat, EpisodeKey key) {
  const auto found = episodes_.find(chat);
  if (found == episodes_.end() || found->second->key() != key) return;
  episodes_.erase(found);
  wake(chat);
}

std::shared_ptr<const Episode> Episodes::current(ChatId chat) const {
  const auto found = episodes_.find(chat);
  if (found == episodes_.end()) return nullptr;
  return found->second;
}

Episodes::Watch Episodes::watch(ChatId chat, Waker waker) {
  auto& list = wakers_[chat];
  list.push_back(std::move(waker));
  return Watch(this, chat, std::prev(list.end()));
}

void Episodes::wake(ChatId chat) {
  const auto found = wakers_.find(chat);
  if (found == wakers_.end()) return;
  for (auto& waker : found->second) waker();
}

}  // namespace assay::live

#include "providers/think_splitter.h"

#include <algorithm>
#include <utility>

namespace assay::providers {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr std::string_view kWhiteSpace = " \t\r\n";

// The bytes at the end of `text` that may be the beginning of `tag`.
std::size_t possible_tag_bytes(std::string_view text, std::string_view tag) {
  for (std::size_t length = std::min(text.size(), tag.size() - 1); length > 0; --length) {
    if (tag.starts_with(text.substr(text.size() - length))) return length;
  }
  return 0;
}

}  // namespace

ThinkSplitter::Split ThinkSplitter::feed(std::string_view text) {
  Split split;
  if (state_ == State::Text) {
    split.text = text;
    return split;
  }
  waiting_ += text;
  if (state_ == State::BeforeTag) {
    const std::size_t begin = std::min(waiting_.find_first_not_of(kWhiteSpace), waiting_.size());
    const std::string_view rest = std::string_view(waiting_).substr(begin);
    if (rest.starts_with(kOpen)) {
      state_ = State::Reasoning;
      waiting_.erase(0, begin + kOpen.size());
    } else if (kOpen.starts_with(rest)) {
      return split;
    } else {
      state_ = State::Text;
      split.text = std::exchange(waiting_, {});
      return split;
    }
  }
  if (state_ == State::Reasoning) {
    const std::size_t end = waiting_.find(kClose);
    if (end == std::string::npos) {
      const std::size_t certain = waiting_.size() - possible_tag_bytes(waiting_, kClose);
      split.reasoning = waiting_.substr(0, certain);
      waiting_.erase(0, certain);
      return split;
    }
    split.reasoning = waiting_.substr(0, end);
    waiting_.erase(0, end + kClose.size());
    state_ = State::BeforeText;
  }
  const std::size_t begin = waiting_.find_first_not_of(kWhiteSpace);
  if (begin == std::string::npos) {
    waiting_.clear();
    return split;
  }
  state_ = State::Text;
  split.text = waiting_.substr(begin);
  waiting_.clear();
  return split;
}

ThinkSplitter::Split ThinkSplitter::finish() {
  Split split;
  std::string& target = state_ == State::Reasoning ? split.reasoning : split.text;
  target = std::exchange(waiting_, {});
  state_ = State::Text;
  return split;
}

}  // namespace assay::providers

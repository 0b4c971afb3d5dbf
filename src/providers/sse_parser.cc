#include "providers/sse_parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace assay::providers {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kMarkDone = 4;

}  // namespace

bool SseParser::feed(std::string_view bytes, const Sink& sink) {
  if (mark_bytes_seen_ != kMarkDone) bytes = without_byte_order_mark(bytes);
  while (!bytes.empty() && !is_oversized_) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    if (!append_to_line(bytes.substr(0, end))) break;
    if (end == std::string_view::npos) break;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line(sink);
  }
  return !is_oversized_;
}

void SseParser::finish(const Sink& sink) {
  if (is_oversized_) return;
  if (mark_bytes_seen_ != kMarkDone) {
    const std::size_t seen = std::exchange(mark_bytes_seen_, kMarkDone);
    append_to_line(kByteOrderMark.substr(0, seen));
  }
  if (!line_.empty() || is_comment_) end_line(sink);
  if (has_data_) dispatch(sink, true);
}

// The mark may be split over chunks; bytes that turn out to be no mark belong to the first line.
std::string_view SseParser::without_byte_order_mark(std::string_view bytes) {
  while (!bytes.empty() && mark_bytes_seen_ < kByteOrderMark.size()) {
    if (bytes.front() != kByteOrderMark[mark_bytes_seen_]) {
      append_to_line(kByteOrderMark.substr(0, mark_bytes_seen_));
      mark_bytes_seen_ = kMarkDone;
      return bytes;
    }
    ++mark_bytes_seen_;
    bytes.remove_prefix(1);
  }
  if (mark_bytes_seen_ == kByteOrderMark.size()) mark_bytes_seen_ = kMarkDone;
  return bytes;
}

bool SseParser::append_to_line(std::string_view bytes) {
  if (bytes.empty() || is_comment_) return true;
  if (line_.empty() && bytes.front() == ':') {
    is_comment_ = true;
    return true;
  }
  if (bytes.size() > event_bytes_max_ - std::min(event_bytes_max_, line_.size() + data_.size())) {
    is_oversized_ = true;
    line_ = {};
    data_ = {};
    return false;
  }
  line_.append(bytes);
  return true;
}

void SseParser::end_line(const Sink& sink) {
  if (std::exchange(is_comment_, false)) {
    sink(SseComment{});
    return;
  }
  if (line_.empty()) {
    if (has_data_) dispatch(sink, false);
    type_.clear();
    return;
  }
  read_field(line_);
  line_.clear();
}

void SseParser::read_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "data") {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  } else if (name == "event") {
    type_ = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    id_ = value;
  } else if (name == "retry") {
    std::int64_t wait_ms = 0;
    const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), wait_ms);
    if (error == std::errc() && rest == value.data() + value.size() && value.front() != '-') {
      retry_ = Milliseconds(wait_ms);
    }
  }
}

void SseParser::dispatch(const Sink& sink, bool is_unterminated) {
  SseEvent event;
  event.type = std::exchange(type_, {});
  event.data = std::exchange(data_, {});
  event.id = id_;
  event.is_unterminated = is_unterminated;
  has_data_ = false;
  sink(SseItem(std::move(event)));
}

}  // namespace assay::providers

#include "api/stream_frame.h"

#include <fmt/format.h>

#include "api/body.h"

namespace assay::api {

namespace {

constexpr char kResumeMark = 's';

}  // namespace

std::optional<live::StreamStart> parse_stream_start(std::string_view text) {
  live::StreamStart start;
  const bool resumes = text.starts_with(kResumeMark);
  const auto number = parse_integer(resumes ? text.substr(1) : text);
  if (!number || *number < 0) return std::nullopt;
  if (resumes)
    start.snapshot_version = *number;
  else
    start.after_message_id = *number;
  return start;
}

std::string resume_id(std::int64_t snapshot_version) { return fmt::format("{}{}", kResumeMark, snapshot_version); }

std::string sse_frame(std::string_view data, std::string_view id) {
  std::string frame;
  if (!id.empty()) frame.append("id: ").append(id).append("\n");
  while (true) {
    const auto end = data.find_first_of("\r\n");
    frame.append("data: ").append(data.substr(0, end)).append("\n");
    if (end == data.npos) break;
    data.remove_prefix(data.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
  }
  return frame.append("\n");
}

void for_each_frame(std::span<const std::string> events,
                    const std::function<void(std::span<const std::string>)>& emit) {
  std::size_t begin = 0;
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < events.size(); ++at) {
    const bool is_full = at - begin == kFrameEventsMax || bytes + events[at].size() > kFrameBytesMax;
    if (at > begin && is_full) {
      emit(events.subspan(begin, at - begin));
      begin = at;
      bytes = 0;
    }
    bytes += events[at].size();
  }
  if (begin < events.size()) emit(events.subspan(begin));
}

}  // namespace assay::api

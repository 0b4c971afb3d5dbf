#pragma once
// The text around the events of a stream: Server-Sent Events, groups, and the ids that resume. Pure.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "live/sync.h"

namespace assay::api {

// One WebSocket frame, or one write of Server-Sent Events, holds at most so many events, and is closed before it grows
// beyond so many bytes; an event that is larger goes alone. Clients of the public API read frames of up to 4 MiB.
inline constexpr std::size_t kFrameEventsMax = 256;
inline constexpr std::size_t kFrameBytesMax = std::size_t{1024} * 1024;

// Where a stream begins: a message id (`after_id`, rows up to it are known), or the id of a stream's event, which
// resumes exactly there. Nothing where the text is neither.
std::optional<live::StreamStart> parse_stream_start(std::string_view text);

// The `id` of an event stream's event after which everything up to the snapshot is known.
std::string resume_id(std::int64_t snapshot_version);

// `data:` lines of one event, with an `id:` where given; ends with the empty line.
std::string sse_frame(std::string_view data, std::string_view id);

// Groups the JSON texts of events so that the limits hold, in order; calls `emit` with each group.
void for_each_frame(std::span<const std::string> events, const std::function<void(std::span<const std::string>)>& emit);

}  // namespace assay::api

#pragma once
// The event-stream format of the WHATWG HTML standard ("Server-sent events", 9.2.6), read from bytes as they come.
//
// Lines end in LF, CRLF or CR; a chunk may end anywhere, inside a line end or a UTF-8 sequence too. The bytes of a
// value are handed on unchanged: whoever parses the data judges its encoding.
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/time.h"

namespace assay::providers {

// One event's lines together. A whole answer may come as one event (Responses' terminal event, an unstreamed reply).
inline constexpr std::size_t kEventBytesMax = 4 * 1024 * 1024;

struct SseEvent {
  std::string type;  // the `event` field; empty means `message`
  std::string data;  // lines joined by LF
  std::string id;    // the last `id` seen on the stream
  // The body ended before the blank line that would have dispatched it. The standard drops such an event and the
  // vendors' own clients deliver it: it counts only if it makes sense.
  bool is_unterminated = false;
  friend bool operator==(const SseEvent&, const SseEvent&) = default;
};

// A comment line; servers send them to keep a connection alive.
struct SseComment {
  friend bool operator==(const SseComment&, const SseComment&) = default;
};

using SseItem = std::variant<SseEvent, SseComment>;

class SseParser {
 public:
  using Sink = std::function<void(SseItem&&)>;

  explicit SseParser(std::size_t event_bytes_max = kEventBytesMax) : event_bytes_max_(event_bytes_max) {}

  // False once an event went over its size: nothing more is read. Memory stays within a few times that size.
  bool feed(std::string_view bytes, const Sink& sink);
  // The body has ended: hands on an event that lacks its blank line, marked so.
  void finish(const Sink& sink);

  [[nodiscard]] bool is_oversized() const { return is_oversized_; }
  // The reconnection time that the server asked for last.
  [[nodiscard]] std::optional<Milliseconds> retry() const { return retry_; }

 private:
  std::string_view without_byte_order_mark(std::string_view bytes);
  bool append_to_line(std::string_view bytes);
  void end_line(const Sink& sink);
  void read_field(std::string_view line);
  void dispatch(const Sink& sink, bool is_unterminated);

  std::size_t event_bytes_max_;
  std::string line_;
  std::string data_;
  std::string type_;
  std::string id_;
  std::optional<Milliseconds> retry_;
  std::size_t mark_bytes_seen_ = 0;  // of the byte order mark; kMarkDone when that is settled
  bool has_data_ = false;
  bool is_comment_ = false;  // the line at hand: its bytes are not kept
  bool after_cr_ = false;
  bool is_oversized_ = false;
};

}  // namespace assay::providers

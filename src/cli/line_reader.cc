#include "cli/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/check.h"

namespace assay::cli {

LineReader::LineReader(int descriptor, LineReaderOptions options)
    : descriptor_(descriptor), options_(std::move(options)) {
  ASSAY_CHECK(options_.line_bytes_max < kLineBlockBytes / 2, "lines must be far shorter than a block");
}

std::optional<std::string_view> LineReader::next_across_blocks() {
  const std::size_t cut_bytes = options_.line_bytes_max + 1;
  for (;;) {
    const auto left = static_cast<std::size_t>(end_ - next_);
    if (void* const found = std::memchr(next_, '\n', left)) {
      const std::string_view line = take(static_cast<char*>(found), 1);
      if (!std::exchange(is_cut_, false)) return line;
      continue;
    }
    if (is_cut_) {
      next_ = end_;
    } else if (left > cut_bytes) {  // even without the U+000D that may follow
      is_cut_ = true;
      const std::string_view line(next_, cut_bytes);
      next_ = end_;
      return line;
    }
    if (refill()) continue;
    if (next_ == end_ || fault_ != 0 || options_.stop.is_made()) return std::nullopt;
    return take(end_, 0);
  }
}

// Moves what is left to the buffer's begin and reads behind it; false at the end, on a fault, or when stopped.
bool LineReader::refill() {
  const auto left = static_cast<std::size_t>(end_ - next_);
  std::memmove(buffer_.get(), next_, left);
  next_ = buffer_.get();
  end_ = next_ + left;
  if (options_.on_refill) options_.on_refill();
  for (;;) {
    if (!await_input()) return false;
    const ssize_t count = ::read(descriptor_, buffer_.get() + left, kLineBlockBytes - left);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fault_ = errno;
    if (count <= 0) return false;
    end_ += count;
    bytes_read_ += static_cast<std::uint64_t>(count);
    return true;
  }
}

// False: asked to stop. A regular file is always ready.
bool LineReader::await_input() {
  if (options_.stop.descriptor >= 0) {
    pollfd waits[] = {{.fd = descriptor_, .events = POLLIN, .revents = 0},
                      {.fd = options_.stop.descriptor, .events = POLLIN, .revents = 0}};
    while (::poll(waits, 2, -1) < 0 && errno == EINTR && !options_.stop.is_made()) {
    }
  }
  return !options_.stop.is_made();
}

}  // namespace assay::cli

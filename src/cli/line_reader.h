#pragma once
// The lines of a file or a pipe, read in blocks into one buffer: no allocation for a line, memory independent of
// lengths.
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "json/limits.h"

namespace assay::cli {

// A block stays in the processor's second-level cache while its lines are worked on.
inline constexpr std::size_t kLineBlockBytes = 256 * 1024;

// A request to stop, made by a signal handler: first the flag, then the descriptor, so that no wait begins unaware.
struct StopRequest {
  const volatile std::sig_atomic_t* flag = nullptr;  // the number of the signal, or zero
  int descriptor = -1;                               // readable from then on

  [[nodiscard]] bool is_made() const { return flag != nullptr && *flag != 0; }
};

struct LineReaderOptions {
  std::size_t line_bytes_max;  // a longer line yields its first line_bytes_max + 1 bytes; the rest is passed over
  std::function<void()> on_refill = {};  // before each read, which may block
  StopRequest stop = {};                 // ends a wait for input; no read follows
};

// Lines end at U+000A or U+000D U+000A; the last one may lack its end.
class LineReader {
 public:
  // Borrows the descriptor. Requires: line_bytes_max is far below kLineBlockBytes.
  LineReader(int descriptor, LineReaderOptions options);

  // The next line without its end, with a NUL and json::kPaddingBytes readable bytes behind it; nothing at the end of
  // the input, when stopped, or on a fault. Lifetime of the view: until the next call.
  [[nodiscard]] std::optional<std::string_view> next() {
    void* const end = std::memchr(next_, '\n', static_cast<std::size_t>(end_ - next_));
    if (end == nullptr || is_cut_) [[unlikely]]
      return next_across_blocks();
    return take(static_cast<char*>(end), 1);
  }

  [[nodiscard]] int fault() const { return fault_; }  // errno of the read that failed, else 0
  [[nodiscard]] std::uint64_t bytes() const { return bytes_read_ - static_cast<std::uint64_t>(end_ - next_); }

 private:
  // Ends the line at `end`, behind which `passed` bytes are passed over.
  std::string_view take(char* end, std::size_t passed) {
    const char* const begin = next_;
    next_ = end + passed;
    if (end != begin && end[-1] == '\r') --end;
    *end = '\0';
    return {begin, static_cast<std::size_t>(end - begin)};
  }
  std::optional<std::string_view> next_across_blocks();
  bool refill();
  bool await_input();

  int descriptor_;
  LineReaderOptions options_;
  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kLineBlockBytes + json::kPaddingBytes);
  char* next_ = buffer_.get();
  char* end_ = buffer_.get();
  bool is_cut_ = false;  // next_ lies inside a line that was too long
  int fault_ = 0;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace assay::cli

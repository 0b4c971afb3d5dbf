#pragma once
// The part of reading that depends on the processor: where the tokens of a text begin, found 64 bytes at a time, and
// whether a text is UTF-8. Every kernel says the same; the tests run each that the machine can.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace assay::json {

inline constexpr std::size_t kBlockBytes = 64;
// A kernel may write so much behind the last token.
inline constexpr std::size_t kTokenSlack = 16;

// What one block leaves to the next.
struct BlockState {
  std::uint64_t in_string = 0;  // all ones: the last byte belongs to a string that goes on
  std::uint64_t escape = 0;     // 1: the last byte escapes what follows
  std::uint64_t scalar = 0;     // 1: the last byte belongs to a number or a literal
  std::uint64_t controls = 0;   // not 0: a string so far held a control character
  std::uint64_t high = 0;       // not 0: a byte so far was beyond ASCII
};

struct Kernel {
  std::string_view name;

  // Writes the offset of each token among `bytes` bytes to `tokens`, counted from `offset` for the first byte, and
  // copies the bytes to `to` unless it is null. A token begins at each of {}[]:, outside strings, at each quote, at
  // each backslash in a string that is not itself escaped, and at whatever else follows one of these or white space.
  // Returns the end of the tokens. Requires: whole blocks, but at the end of the text; room for a token a byte, and
  // kTokenSlack more.
  std::uint32_t* (*find_tokens)(BlockState& state, const char* from, char* to, std::size_t bytes, std::uint32_t offset,
                                std::uint32_t* tokens);

  // Whether all of it is well-formed.
  bool (*is_utf8)(std::string_view text);
};

// Those that this processor can run, the fastest first; the portable one is always the last.
[[nodiscard]] std::span<const Kernel> kernels();

}  // namespace assay::json

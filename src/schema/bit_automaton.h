#pragma once
// A position automaton (Glushkov) whose states are bits: each character of the text costs the same few word operations,
// whatever the pattern and whatever came before. Nothing is built or kept while matching.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "schema/pattern_syntax.h"

namespace assay::schema {

class BitAutomaton {
 public:
  static constexpr std::size_t kPositionsMax = 256;

  // Requires: at most kPositionsMax positions.
  explicit BitAutomaton(const PatternSyntax& syntax);

  // Unanchored search, as RE2's. Requires: valid UTF-8.
  [[nodiscard]] bool found_in(std::string_view text) const;

  // Word operations for one byte of text, at most.
  [[nodiscard]] std::size_t operations_per_byte() const;
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  friend class BitAutomatonBuilder;

  static constexpr std::size_t kWordsMax = kPositionsMax / 64;
  static constexpr unsigned kChunkBits = 4;
  static constexpr std::size_t kChunkRows = std::size_t{1} << kChunkBits;
  static constexpr std::size_t kAsciiSymbols = 128;

  // Positions that lead elsewhere than to themselves and their right neighbour, four at a time.
  struct Chunk {
    std::uint32_t word;
    std::uint32_t shift;
    std::size_t rows;  // index into rows_: for each combination of the four, where they lead
  };

  template <std::size_t Words>
  [[nodiscard]] bool run(std::string_view text) const;
  [[nodiscard]] std::size_t symbol_beyond_ascii(char32_t c) const;

  using Set = std::array<std::uint64_t, kWordsMax>;

  std::size_t words_ = 1;
  bool matches_everything_ = false;
  bool matches_empty_text_ = false;
  bool is_anchored_ = true;  // every alternative begins at the start
  Set enter_at_start_{};
  Set enter_anywhere_{};
  Set accept_anywhere_{};
  Set accept_at_end_{};
  Set goes_on_{};  // to the right neighbour
  Set stays_{};    // on itself
  Set jumps_{};    // what the chunks are about
  std::vector<Chunk> chunks_;
  std::vector<std::uint64_t> rows_;
  std::vector<char32_t> boundaries_;     // beyond ASCII, where one symbol ends and the next begins
  std::vector<std::uint64_t> readable_;  // for each symbol, the positions that read it
};

}  // namespace assay::schema

#include "schema/bit_automaton.h"

#include <algorithm>
#include <bit>

#include "schema/ascii.h"

namespace assay::schema {

class BitAutomatonBuilder {
 public:
  explicit BitAutomatonBuilder(BitAutomaton& automaton) : automaton_(automaton) {}

  void build(const PatternSyntax& syntax) {
    for (const PatternAlternative& alternative : syntax.alternatives) add(alternative);
    automaton_.words_ = std::max<std::size_t>((sets_.size() + 63) / 64, 1);
    build_symbols();
    build_steps();
  }

 private:
  using Set = BitAutomaton::Set;

  // What a part of the pattern can begin and end with.
  struct Fragment {
    bool is_nullable = true;
    Set first{};
    Set last{};
  };

  static void merge(Set& into, const Set& from) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] |= from[i];
  }
  static void insert(Set& set, std::size_t position) { set[position / 64] |= std::uint64_t{1} << (position % 64); }
  static bool has(const Set& set, std::size_t position) { return (set[position / 64] >> (position % 64) & 1U) != 0; }

  void add(const PatternAlternative& alternative) {
    const Fragment fragment = make(alternative.body);
    merge(automaton_.enter_at_start_, fragment.first);
    if (!alternative.at_start) {
      merge(automaton_.enter_anywhere_, fragment.first);
      automaton_.is_anchored_ = false;
    }
    merge(alternative.at_end ? automaton_.accept_at_end_ : automaton_.accept_anywhere_, fragment.last);
    if (!fragment.is_nullable) return;
    const bool is_whole_text = alternative.at_start && alternative.at_end;
    (is_whole_text ? automaton_.matches_empty_text_ : automaton_.matches_everything_) = true;
  }

  Fragment make(const PatternNode& node) {
    switch (node.kind) {
      case PatternNode::Kind::Set:
        return make_position(node.set);
      case PatternNode::Kind::Sequence: {
        Fragment all;
        for (const PatternNode& child : node.children) all = joined(all, make(child));
        return all;
      }
      case PatternNode::Kind::Choice: {
        Fragment any{.is_nullable = false, .first = {}, .last = {}};
        for (const PatternNode& child : node.children) {
          const Fragment next = make(child);
          any.is_nullable = any.is_nullable || next.is_nullable;
          merge(any.first, next.first);
          merge(any.last, next.last);
        }
        return any;
      }
      case PatternNode::Kind::Repetition:
        return make_repetition(node);
    }
    return {};
  }

  Fragment make_position(const CodePoints& set) {
    Fragment fragment{.is_nullable = false, .first = {}, .last = {}};
    insert(fragment.first, sets_.size());
    insert(fragment.last, sets_.size());
    sets_.push_back(&set);
    follow_.emplace_back();
    return fragment;
  }

  // x{2,} is xx+; x{2,4} is xx(x(x)?)?, so that each copy leads to the next one only.
  Fragment make_repetition(const PatternNode& node) {
    const PatternNode& child = node.children.front();
    Fragment all;
    if (node.max == PatternNode::kNoMaximum) {
      for (std::uint32_t i = 1; i < node.min; ++i) all = joined(all, make(child));
      Fragment loop = make(child);
      connect(loop.last, loop.first);
      loop.is_nullable = loop.is_nullable || node.min == 0;
      return joined(all, loop);
    }
    for (std::uint32_t i = 0; i < node.min; ++i) all = joined(all, make(child));
    std::vector<Fragment> optional;
    for (std::uint32_t i = node.min; i < node.max; ++i) optional.push_back(make(child));
    Fragment tail;
    for (auto fragment = optional.rbegin(); fragment != optional.rend(); ++fragment) {
      tail = joined(*fragment, tail);
      tail.is_nullable = true;
    }
    return joined(all, tail);
  }

  Fragment joined(const Fragment& left, const Fragment& right) {
    connect(left.last, right.first);
    Fragment both{.is_nullable = left.is_nullable && right.is_nullable, .first = left.first, .last = right.last};
    if (left.is_nullable) merge(both.first, right.first);
    if (right.is_nullable) merge(both.last, left.last);
    return both;
  }

  void connect(const Set& from, const Set& to) {
    for (std::size_t word = 0; word < from.size(); ++word) {
      for (std::uint64_t bits = from[word]; bits != 0; bits &= bits - 1) {
        merge(follow_[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))], to);
      }
    }
  }

  void build_symbols() {
    std::vector<char32_t>& boundaries = automaton_.boundaries_;
    for (const CodePoints* set : sets_) {
      for (const CodePoints::Range& range : set->ranges()) {
        for (const char32_t boundary : {range.first, static_cast<char32_t>(range.last + 1)}) {
          if (boundary > BitAutomaton::kAsciiSymbols) boundaries.push_back(boundary);
        }
      }
    }
    std::ranges::sort(boundaries);
    const auto repeated = std::ranges::unique(boundaries);
    boundaries.erase(repeated.begin(), repeated.end());
    automaton_.readable_.resize((BitAutomaton::kAsciiSymbols + boundaries.size() + 1) * automaton_.words_);
    for (std::size_t position = 0; position < sets_.size(); ++position) {
      for (const CodePoints::Range& range : sets_[position]->ranges()) {
        const std::size_t last = symbol_of(range.last);
        for (std::size_t symbol = symbol_of(range.first); symbol <= last; ++symbol) {
          automaton_.readable_[symbol * automaton_.words_ + position / 64] |= std::uint64_t{1} << (position % 64);
        }
      }
    }
  }

  [[nodiscard]] std::size_t symbol_of(char32_t c) const {
    return c < BitAutomaton::kAsciiSymbols ? c : automaton_.symbol_beyond_ascii(c);
  }

  void build_steps() {
    for (std::size_t position = 0; position < follow_.size(); ++position) {
      Set& follow = follow_[position];
      const auto take = [&](std::size_t target, Set& positions) {
        if (target >= follow_.size() || !has(follow, target)) return;
        insert(positions, position);
        follow[target / 64] &= ~(std::uint64_t{1} << (target % 64));
      };
      take(position, automaton_.stays_);
      take(position + 1, automaton_.goes_on_);
      if (follow != Set{}) insert(automaton_.jumps_, position);
    }
    for (std::size_t begin = 0; begin < follow_.size(); begin += BitAutomaton::kChunkBits) {
      const auto word = static_cast<std::uint32_t>(begin / 64);
      const auto shift = static_cast<std::uint32_t>(begin % 64);
      if ((automaton_.jumps_[word] >> shift & (BitAutomaton::kChunkRows - 1)) != 0) add_chunk(word, shift, begin);
    }
  }

  void add_chunk(std::uint32_t word, std::uint32_t shift, std::size_t begin) {
    std::vector<std::uint64_t>& rows = automaton_.rows_;
    automaton_.chunks_.push_back({.word = word, .shift = shift, .rows = rows.size()});
    for (std::size_t combination = 0; combination < BitAutomaton::kChunkRows; ++combination) {
      Set targets{};
      for (std::size_t bit = 0; bit < BitAutomaton::kChunkBits && begin + bit < follow_.size(); ++bit) {
        if ((combination >> bit & 1U) != 0) merge(targets, follow_[begin + bit]);
      }
      rows.insert(rows.end(), targets.begin(), targets.begin() + static_cast<std::ptrdiff_t>(automaton_.words_));
    }
  }

  BitAutomaton& automaton_;
  std::vector<const CodePoints*> sets_;  // of each position
  std::vector<Set> follow_;              // where each position leads
};

BitAutomaton::BitAutomaton(const PatternSyntax& syntax) { BitAutomatonBuilder(*this).build(syntax); }

std::size_t BitAutomaton::symbol_beyond_ascii(char32_t c) const {
  const auto above = std::ranges::upper_bound(boundaries_, c);
  return kAsciiSymbols + static_cast<std::size_t>(above - boundaries_.begin());
}

std::size_t BitAutomaton::operations_per_byte() const { return words_ * (chunks_.size() + 4); }

std::size_t BitAutomaton::memory_bytes() const {
  return sizeof *this + chunks_.capacity() * sizeof(Chunk) + rows_.capacity() * sizeof rows_[0] +
         boundaries_.capacity() * sizeof boundaries_[0] + readable_.capacity() * sizeof readable_[0];
}

bool BitAutomaton::found_in(std::string_view text) const {
  if (matches_everything_) return true;
  if (text.empty()) return matches_empty_text_;
  switch (words_) {
    case 1:
      return run<1>(text);
    case 2:
      return run<2>(text);
    case 3:
      return run<3>(text);
    default:
      return run<4>(text);
  }
}

template <std::size_t Words>
bool BitAutomaton::run(std::string_view text) const {
  using State = std::array<std::uint64_t, Words>;
  const auto cut = [](const Set& set) {
    State state;
    std::copy_n(set.begin(), Words, state.begin());
    return state;
  };
  const State goes_on = cut(goes_on_);
  const State stays = cut(stays_);
  const State accept = cut(accept_anywhere_);
  const State enter_anywhere = cut(enter_anywhere_);
  State enter = cut(enter_at_start_);
  State state{};  // the positions that the last character led to
  for (std::size_t at = 0; at < text.size();) {
    const bool is_single = is_ascii(text[at]);
    const std::size_t symbol =
        is_single ? static_cast<std::size_t>(text[at++]) : symbol_beyond_ascii(next_code_point(text, at));
    State next = enter;
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < Words; ++i) {
      const std::uint64_t right = state[i] & goes_on[i];
      next[i] |= (state[i] & stays[i]) | right << 1U | carry;
      carry = right >> 63U;
    }
    for (const Chunk& chunk : chunks_) {
      const std::uint64_t combination = state[chunk.word] >> chunk.shift & (kChunkRows - 1);
      const std::uint64_t* const row = rows_.data() + chunk.rows + combination * Words;
      for (std::size_t i = 0; i < Words; ++i) next[i] |= row[i];
    }
    const std::uint64_t* const readable = readable_.data() + symbol * Words;
    std::uint64_t accepted = 0;
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < Words; ++i) {
      state[i] = next[i] & readable[i];
      accepted |= state[i] & accept[i];
      any |= state[i];
    }
    if (accepted != 0) return true;
    if (any == 0 && is_anchored_) return false;
    enter = enter_anywhere;
  }
  std::uint64_t accepted = 0;
  for (std::size_t i = 0; i < Words; ++i) accepted |= state[i] & accept_at_end_[i];
  return accepted != 0;
}

}  // namespace assay::schema

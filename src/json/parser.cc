#include "json/parser.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <vector>

#include "json/characters.h"
#include "json/duplicates.h"
#include "json/error.h"
#include "json/fault.h"
#include "json/fingerprints.h"
#include "json/unescape.h"

namespace assay::json {
namespace {

std::uint64_t load64(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

constexpr std::uint32_t tag(Kind kind, bool flag, std::size_t size) {
  return static_cast<std::uint32_t>(kind) | (flag ? Node::kFlag : 0) |
         static_cast<std::uint32_t>(size << Node::kSizeShift);
}

struct Literal {
  std::uint64_t bytes;
  std::uint64_t mask;
  std::uint32_t size;
  std::uint32_t tag;
};

// By two bits in which the first letters differ. All three are one case: which it is, is hard to predict.
constexpr std::array<Literal, 4> kLiterals = [] {
  std::array<Literal, 4> literals{};
  literals.fill({.bytes = 1, .mask = 0, .size = 0, .tag = 0});  // equals nothing
  const auto add = [&](std::string_view word, Kind kind, bool flag) {
    Literal& literal = literals[word[0] >> 3 & 3];
    literal = {0, (std::uint64_t{1} << 8 * word.size()) - 1, static_cast<std::uint32_t>(word.size()),
               tag(kind, flag, word.size())};
    for (std::size_t i = 0; i < word.size(); ++i) literal.bytes |= static_cast<std::uint64_t>(word[i]) << 8 * i;
  };
  add("true", Kind::Boolean, true);
  add("false", Kind::Boolean, false);
  add("null", Kind::Null, false);
  return literals;
}();

// Behind the digits at `p`.
const char* skip_digits(const char* p) {
  while (is_digit(*p)) ++p;
  return p;
}

// Behind the exponent at `p` (an e), or null where it is malformed, or too large for a strict document.
const char* exponent_end(const char* p, bool strict) {
  ++p;
  if (*p == '+' || *p == '-') ++p;
  if (!is_digit(*p)) return nullptr;
  int magnitude = 0;
  for (; is_digit(*p); ++p) magnitude = std::min(magnitude * 10 + (*p - '0'), kExponentMagnitudeMax + 1);
  return strict && magnitude > kExponentMagnitudeMax ? nullptr : p;
}

// Behind the number at `p`, or null where it is none, or too long for a strict document.
[[gnu::always_inline]] inline const char* number_end(const char* const start, bool strict) {
  const char* p = start + (*start == '-' ? 1 : 0);
  const char* const digits = p;
  p = skip_digits(p);
  if (p == digits || (*digits == '0' && p != digits + 1)) return nullptr;
  if (*p == '.') {
    const char* const fraction = ++p;
    p = skip_digits(p);
    if (p == fraction) return nullptr;
  }
  if ((*p | 0x20) == 'e') {
    p = exponent_end(p, strict);
    if (p == nullptr) return nullptr;
  }
  if (p - start > static_cast<std::ptrdiff_t>(kNumberLiteralBytesMax) && strict) return nullptr;
  return p;
}

// Keeps a branch a branch: where its outcome is predicted, what follows need not wait for what was compared.
template <class T>
[[gnu::always_inline]] inline void keep_branch(T*& p) {
  asm volatile("" : "+r"(p));
}

// Says whether a text is a document, and no more; first_fault knows why it is not.
class Parser {
 public:
  Parser(Tape& tape, std::string_view source, char* copy, const Caps& caps, Dialect dialect, const Kernel& kernel)
      : tape_(tape),
        source_(source),
        copy_(copy),
        text_(copy == nullptr ? source.data() : copy),
        caps_(caps),
        dialect_(dialect),
        kernel_(kernel) {}

  [[nodiscard]] bool run();

 private:
  // The tokens of so much text are at hand at a time, so that they need no memory of its size.
  static constexpr std::size_t kWindowBytes = 64 * kBlockBytes;
  // Tokens that can be looked at without asking for more. Behind the last one all stand at the NUL that ends the text.
  static constexpr std::size_t kLookahead = 8;
  // Open containers around an object for which the latest keys are kept; deeper ones are looked at when they close.
  static constexpr std::size_t kKeptLevels = 32;

  void refill();
  void reserve_nodes();
  [[nodiscard]] bool read_escaped();
  [[nodiscard]] std::string_view content(const Node& node) const {
    return {node.flag() ? tape_.unescaped.get() + node.extra : text_ + node.offset + 1, node.size()};
  }
  [[nodiscard]] bool repeats_key(const Node& object, std::size_t count) const;
  [[nodiscard]] bool has_equal_keys(const Node& object, std::size_t count) const;

  Tape& tape_;
  const std::string_view source_;
  char* const copy_;
  const char* const text_;
  const Caps& caps_;
  const Dialect dialect_;
  const Kernel& kernel_;

  BlockState state_;
  std::size_t bytes_read_ = 0;  // by the kernel
  std::size_t unescaped_count_ = 0;
  // Where run() stands, while another member reads on.
  const std::uint32_t* token_ = tokens_;
  Node* node_ = nullptr;
  const std::uint32_t* tokens_end_ = tokens_;
  const std::uint32_t* refill_at_ = tokens_;
  LatestKeys kept_[kKeptLevels + 1];
  std::uint32_t tokens_[kLookahead + kWindowBytes + std::max(kTokenSlack, kLookahead)];
};

// Makes kLookahead tokens available, and room for their nodes.
void Parser::refill() {
  // Fewer than so many are left.
  std::memmove(tokens_, token_, kLookahead * sizeof *tokens_);
  std::uint32_t* end = tokens_ + (tokens_end_ - token_);
  token_ = tokens_;
  const std::size_t size = source_.size();
  do {
    const std::size_t bytes = std::min(size - bytes_read_, kWindowBytes);
    end = kernel_.find_tokens(state_, source_.data() + bytes_read_, copy_ == nullptr ? nullptr : copy_ + bytes_read_,
                              bytes, static_cast<std::uint32_t>(bytes_read_), end);
    bytes_read_ += bytes;
  } while (bytes_read_ < size && end < tokens_ + kLookahead);
  tokens_end_ = end;
  refill_at_ = end - kLookahead + 1;
  if (bytes_read_ == size) {
    std::fill_n(end, kLookahead, static_cast<std::uint32_t>(size));
    refill_at_ = std::end(tokens_);
  }
  reserve_nodes();
}

// A scalar takes at least two tokens, with what separates it from the next; only where a container opens, one token
// may be a node, and room has to be made again.
void Parser::reserve_nodes() {
  const auto used = static_cast<std::size_t>(node_ - tape_.nodes.get());
  const auto wanted = used + static_cast<std::size_t>(tokens_end_ - token_) / 2 + 2;
  if (wanted <= tape_.node_capacity) return;
  const std::size_t capacity = std::max(tape_.node_capacity * 2, wanted);
  auto nodes = std::make_unique_for_overwrite<Node[]>(capacity);
  if (used != 0) std::memcpy(nodes.get(), tape_.nodes.get(), used * sizeof(Node));
  tape_.nodes = std::move(nodes);
  tape_.node_capacity = capacity;
  node_ = tape_.nodes.get() + used;
}

// One loop over the tokens, with one copy of the scalars in objects and one in arrays. An open container's node keeps
// what its parent goes on with: `step` its place, `extra` its count.
bool Parser::run() {
  const bool strict = dialect_ == Dialect::Strict;
  const char* const text = text_;
  const std::uint32_t* token = nullptr;
  Node* nodes = nullptr;
  Node* node = nullptr;
  // The innermost container.
  std::uint32_t container = 0;
  std::uint32_t count = 0;
  LatestKeys latest{};
  std::size_t depth = 0;
  std::size_t keys = 0;

  const auto suspend = [&]() __attribute__((always_inline)) {
    token_ = token;
    node_ = node;
  };
  const auto resume = [&]() __attribute__((always_inline)) {
    token = token_;
    nodes = tape_.nodes.get();
    node = node_;
  };
  const auto refill_if_low = [&]() __attribute__((always_inline)) {
    if (token < refill_at_) [[likely]]
      return;
    suspend();
    refill();
    resume();
  };
  const auto append = [&](std::uint32_t node_tag, std::uint32_t step, std::uint32_t extra)
                          __attribute__((always_inline)) { *node++ = {*token, node_tag, step, extra}; };
  // Reads the string at the token; false: refused.
  const auto read_string = [&](auto print) __attribute__((always_inline)) {
    if (text[token[1]] == '"') [[likely]] {
      const std::uint32_t begin = token[0] + 1;
      const std::uint32_t size = token[1] - begin;
      append(tag(Kind::String, false, size), 1, print(text + begin, size));
      token += 2;
      return true;
    }
    suspend();
    if (!read_escaped()) return false;
    resume();
    print(tape_.unescaped.get() + node[-1].extra, node[-1].size());
    return true;
  };
  const auto no_print = [](const char*, std::size_t) __attribute__((always_inline)) { return std::uint32_t{0}; };
  const auto key_print = [&](const char* key, std::size_t size) __attribute__((always_inline)) {
    const std::uint32_t print = fingerprint(key, size);
    latest.add(print);
    return print;
  };
  // Appends the number or literal at the token; false: it does not end at `end`.
  const auto read_until = [&](const char* end, std::uint32_t node_tag) __attribute__((always_inline)) {
    if (end != text + token[1] && !is_space(*end)) return false;
    append(node_tag, 1, 0);
    ++token;
    return true;
  };
  // Reads the scalar at the token; false: there is none, or it is refused. Not a switch: a jump by a table is predicted
  // worse than these few branches.
  const auto read_scalar = [&]() __attribute__((always_inline)) {
    const char* const p = text + *token;
    const char first = *p;
    if (first == '"') return read_string(no_print);
    if (first <= '9') {
      if (first < '0' && first != '-') return false;
      const char* const end = number_end(p, strict);
      return end != nullptr && read_until(end, tag(Kind::Number, false, static_cast<std::size_t>(end - p)));
    }
    if (first == '{' || first == '[') return false;
    const Literal& literal = kLiterals[first >> 3 & 3];
    return (load64(p) & literal.mask) == literal.bytes && read_until(p + literal.size, literal.tag);
  };

  tape_.text = {text_, source_.size()};
  node_ = tape_.nodes.get();
  refill();
  resume();
  if (read_scalar()) goto end_of_text;
  goto open_container;

next_key:
  ++token;
key:
  refill_if_low();
  if (text[*token] != '"' || !read_string(key_print)) [[unlikely]]
    return false;
  ++count;
  if (text[*token] != ':') [[unlikely]]
    return false;
  ++token;
  if (!read_scalar()) goto open_container;
after_member:
  if (text[*token] == ',') [[likely]]
    goto next_key;
  if (text[*token] != '}') [[unlikely]]
    return false;
close_object:
  keys += count;
  if (count > LatestKeys::kKept || latest.may_repeat()) [[unlikely]] {
    if (strict && repeats_key(nodes[container], count)) return false;
  }
  goto close_container;

next_element:
  ++token;
element:
  refill_if_low();
  ++count;
  if (!read_scalar()) goto open_container;
after_element:
  if (text[*token] == ',') [[likely]]
    goto next_element;
  if (text[*token] != ']') [[unlikely]]
    return false;
close_array:
  if (count > caps_.elements_max) return false;
close_container: {
  Node& closed = nodes[container];
  container = closed.step;
  const std::uint32_t outer_count = closed.extra;
  closed.tag |= count << Node::kSizeShift;
  closed.step = static_cast<std::uint32_t>(node - &closed);
  closed.extra = *token + 1 - closed.offset;
  count = outer_count;
}
  --depth;
  latest = kept_[std::min(depth, kKeptLevels)];
  ++token;
  refill_if_low();
  if (depth == 0) goto end_of_text;
  if (nodes[container].kind() == Kind::Object) goto after_member;
  goto after_element;

open_container: {
  const char bracket = text[*token];
  if (bracket != '{' && bracket != '[') return false;
  const auto place = static_cast<std::uint32_t>(node - nodes);
  append(tag(bracket == '{' ? Kind::Object : Kind::Array, false, 0), container, count);
  ++token;
  suspend();
  reserve_nodes();
  resume();
  container = place;
  count = 0;
  kept_[std::min(depth, kKeptLevels)] = latest;
  if (depth >= kKeptLevels) kept_[kKeptLevels].doubt();
  latest = {};
  ++depth;
  if (bracket == '{') {
    if (text[*token] == '}') goto close_object;
    if (depth > caps_.depth_max) return false;
    goto key;
  }
  if (text[*token] == ']') goto close_array;
  if (depth > caps_.depth_max) return false;
  goto element;
}

end_of_text:
  const std::size_t values = static_cast<std::size_t>(node - nodes) - keys;
  if (*token != source_.size() || state_.controls != 0 || values > caps_.values_max) return false;
  return state_.high == 0 || kernel_.is_utf8(tape_.text);
}

// Reads the string at the token, in which there is an escape.
bool Parser::read_escaped() {
  // Unescaping never makes a string longer, so the text bounds what all its strings need.
  if (tape_.unescaped_capacity < source_.size() + kPaddingBytes) {
    tape_.unescaped_capacity = source_.size() + kPaddingBytes;
    tape_.unescaped = std::make_unique_for_overwrite<char[]>(tape_.unescaped_capacity);
  }
  const std::uint32_t quote = *token_;
  const char* const end = text_ + source_.size();
  char* const content = tape_.unescaped.get() + unescaped_count_;
  char* out = content;
  const char* run = text_ + quote + 1;
  EscapeFault fault;
  for (;;) {
    ++token_;
    if (token_ >= refill_at_) refill();
    const char* const stop = text_ + *token_;
    if (stop > run) {
      const auto plain = static_cast<std::size_t>(stop - run);
      std::memcpy(out, run, plain);
      out += plain;
    } else if (stop < run) {
      continue;  // The second half of a pair.
    }
    if (*stop != '\\') {
      if (*stop == '"') break;
      return false;
    }
    const Unescaped escape = unescape(stop, end, out, dialect_, fault);
    if (escape.next == nullptr) return false;
    run = escape.next;
    out = escape.out;
  }
  ++token_;
  const auto size = static_cast<std::size_t>(out - content);
  *node_++ = {quote, tag(Kind::String, true, size), 1, static_cast<std::uint32_t>(unescaped_count_)};
  unescaped_count_ += size;
  return true;
}

bool Parser::repeats_key(const Node& object, std::size_t count) const {
  const Node* key = &object + 1;
  const auto next_print = [&]() __attribute__((always_inline)) {
    const Node& node = *key;
    if (key[1].step == 1) [[likely]] {
      key += 2;
      keep_branch(key);
    } else {
      key += 1 + key[1].step;
    }
    return node.flag() ? fingerprint(content(node).data(), node.size()) : node.extra;
  };
  const bool may_repeat =
      count <= kFewPrintsMax ? few_may_repeat(count, next_print) : many_may_repeat(count, next_print);
  return may_repeat && has_equal_keys(object, count);
}

bool Parser::has_equal_keys(const Node& object, std::size_t count) const {
  std::vector<std::string_view> keys(count);
  const Node* key = &object + 1;
  for (std::string_view& next : keys) {
    next = content(*key);
    key += 1 + key[1].step;
  }
  return first_duplicate(keys) != kNoDuplicate;
}

}  // namespace

std::optional<Error> parse_tape(Tape& tape, std::string_view source, char* copy, const Caps& caps, Dialect dialect,
                                const Kernel& kernel) {
  tape.keys_are_unique = dialect == Dialect::Strict;
  if (Parser(tape, source, copy, caps, dialect, kernel).run()) [[likely]]
    return std::nullopt;
  // Were the two ever at odds, the text would still be refused.
  return first_fault(source, caps, dialect).value_or(Error{ErrorCode::UnexpectedCharacter, 0});
}

}  // namespace assay::json

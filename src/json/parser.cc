#include "json/parser.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "json/duplicates.h"
#include "json/error.h"
#include "json/fingerprints.h"
#include "json/string_scan.h"
#include "json/unescape.h"
#include "json/utf8.h"

namespace assay::json {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::uint32_t load32(const char* p) {
  std::uint32_t word;
  std::memcpy(&word, p, 4);
  return word;
}

std::uint32_t tag(Kind kind, bool flag, std::size_t size) {
  return static_cast<std::uint32_t>(kind) | (flag ? Node::kFlag : 0) |
         static_cast<std::uint32_t>(size << Node::kSizeShift);
}

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

// Behind the number at `p`, or null where number_fault says why not.
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
  if ((*p | 0x20) == 'e') p = exponent_end(p, strict);
  if (p - start > static_cast<std::ptrdiff_t>(kNumberLiteralBytesMax) && strict) return nullptr;
  return p;
}

// Keeps a branch a branch: where its outcome is predicted, what follows need not wait for what was compared.
template <class T>
[[gnu::always_inline]] inline void keep_branch(T*& p) {
  asm volatile("" : "+r"(p));
}

// An open container, as long as one inside it is read.
struct Frame {
  std::uint32_t node;
  std::uint32_t count;  // elements, or keys, so far
  std::size_t room;     // values that may still begin in it,
  std::size_t reserve;  // and how many more may elsewhere
  Kind kind;            // Null: the text itself, around the root
};

class FrameStack {
 public:
  [[gnu::always_inline]] void push(const Frame& frame) {
    if (size_ == capacity_) [[unlikely]]
      grow();
    frames_[size_++] = frame;
  }
  [[gnu::always_inline]] const Frame& pop() { return frames_[--size_]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const Frame* begin() const { return frames_; }
  [[nodiscard]] const Frame* end() const { return frames_ + size_; }

 private:
  static constexpr std::size_t kInline = 64;

  void grow() {
    auto larger = std::make_unique_for_overwrite<Frame[]>(capacity_ * 2);
    std::copy(begin(), end(), larger.get());
    heap_ = std::move(larger);
    frames_ = heap_.get();
    capacity_ *= 2;
  }

  Frame inline_[kInline];
  std::unique_ptr<Frame[]> heap_;
  Frame* frames_ = inline_;
  std::size_t size_ = 0;
  std::size_t capacity_ = kInline;
};

template <class Scan>
class Parser {
 public:
  Parser(Tape& tape, const Caps& caps, Dialect dialect)
      : tape_(tape), caps_(caps), dialect_(dialect), begin_(tape.text.data()), end_(begin_ + tape.text.size()) {}

  std::optional<Error> run();

 private:
  struct Free {  // where the next node goes, and where room ends
    Node* next;
    Node* limit;
  };
  struct LongString {
    const char* next;  // behind the string; null: refused, see refused_
    std::size_t size;
    std::uint32_t begin;  // in Tape::unescaped,
    bool is_unescaped;    // if it is there
  };

  [[nodiscard]] bool strict() const { return dialect_ == Dialect::Strict; }
  [[nodiscard]] std::uint32_t offset(const char* p) const { return static_cast<std::uint32_t>(p - begin_); }

  [[nodiscard]] std::string_view content(const Node& node) const {
    const char* data = node.flag() ? tape_.unescaped.get() + node.extra : begin_ + node.offset + 1;
    return {data, node.size()};
  }

  // The slow paths take and return values, so that the fast path's variables stay in registers.
  Free grow_nodes(const Node* next);
  LongString read_long_string(const char* quote);
  LongString read_escaped(const char* quote, const char* stop);
  Error number_fault(const char* start) const;
  Error literal_fault(const char* start) const;
  Error unexpected(const char* p) const;
  Error over_cap(const char* p, std::size_t reserve) const;
  Error scalar_fault(const char* p) const;
  std::optional<std::uint32_t> duplicate_key(std::uint32_t object, std::uint32_t count) const;
  bool repeats_key(std::uint32_t object, std::uint32_t count);
  Error earliest_fault(Error error) const;

  Tape& tape_;
  const Caps& caps_;
  const Dialect dialect_;
  const char* const begin_;
  const char* const end_;
  std::size_t unescaped_count_ = 0;
  bool high_byte_ = false;
  Error refused_{};
  FrameStack frames_;
};

// One loop over the tokens, with one copy of the scalars in objects and one in arrays. White space is looked for only
// where the expected byte is not there.
template <class Scan>
std::optional<Error> Parser<Scan>::run() {
  const bool is_strict = strict();
  const char* p = begin_;
  if (tape_.node_capacity == 0) grow_nodes(tape_.nodes.get());
  Node* node = tape_.nodes.get();
  const Node* node_limit = node + tape_.node_capacity;
  // The innermost container.
  Kind kind = Kind::Null;
  std::uint32_t container = 0;
  std::uint32_t count = 0;
  std::size_t room = caps_.values_max;
  std::size_t reserve = 0;
  Error error{};

  const auto append = [&](const char* at, std::uint32_t node_tag, std::uint32_t extra) __attribute__((always_inline)) {
    if (node == node_limit) [[unlikely]] {
      const Free free = grow_nodes(node);
      node = free.next;
      node_limit = free.limit;
    }
    *node++ = {offset(at), node_tag, 1, extra};
  };
  // Reads the string at the quote `p`; false: refused.
  const auto read_string = [&](auto print) __attribute__((always_inline)) {
    if (const char* const stop = Scan::short_stop(p + 1)) [[likely]] {
      const auto size = static_cast<std::size_t>(stop - p - 1);
      append(p, tag(Kind::String, false, size), print(p + 1, size));
      p = stop + 1;
      return true;
    }
    const LongString string = read_long_string(p);
    if (string.next == nullptr) [[unlikely]]
      return false;
    append(p, tag(Kind::String, string.is_unescaped, string.size),
           string.is_unescaped ? string.begin : print(p + 1, string.size));
    p = string.next;
    return true;
  };
  const auto no_print = [](const char*, std::size_t) __attribute__((always_inline)) { return std::uint32_t{0}; };
  // Reads the scalar at `p`; false: there is none, or it is refused; then other_value goes on.
  const auto read_scalar = [&]() __attribute__((always_inline)) {
    switch (*p) {
      case '"':
        return read_string(no_print);
      case 't':
        if (load32(p) != load32("true")) return false;
        append(p, tag(Kind::Boolean, true, 4), 0);
        p += 4;
        return true;
      case 'f':
        if (load32(p + 1) != load32("alse")) return false;
        append(p, tag(Kind::Boolean, false, 5), 0);
        p += 5;
        return true;
      case 'n':
        if (load32(p) != load32("null")) return false;
        append(p, tag(Kind::Null, false, 4), 0);
        p += 4;
        return true;
      case '-':
      case '0':
      case '1':
      case '2':
      case '3':
      case '4':
      case '5':
      case '6':
      case '7':
      case '8':
      case '9': {
        const char* const behind = number_end(p, is_strict);
        if (behind == nullptr) return false;
        append(p, tag(Kind::Number, false, static_cast<std::size_t>(behind - p)), 0);
        p = behind;
        return true;
      }
      default:
        return false;
    }
  };
  const auto skip_one_space = [&]() __attribute__((always_inline)) {
    if (*p == ' ') {
      ++p;
      keep_branch(p);
    }
  };

  p = Scan::skip_space(p);
  if (p == end_) return Error{ErrorCode::Empty, offset(p)};
  goto root;

key:
  if (*p != '"') [[unlikely]] {
    p = Scan::skip_space(p);
    if (*p != '"') {
      error = unexpected(p);
      goto fail;
    }
  }
  if (!read_string(fingerprint)) [[unlikely]]
    goto refused;
  ++count;
  if (*p != ':') [[unlikely]] {
    p = Scan::skip_space(p);
    if (*p != ':') {
      error = unexpected(p);
      goto fail;
    }
  }
  ++p;
  skip_one_space();
  if (room-- == 0) [[unlikely]]
    goto no_room;
member:
  if (!read_scalar()) goto other_value;
after_member:
  if (*p == ',') [[likely]] {
  next_key:
    ++p;
    skip_one_space();
    goto key;
  }
  if (*p == '}') [[likely]]
    goto close_container;
  p = Scan::skip_space(p);
  if (*p == ',') goto next_key;
  if (*p == '}') goto close_container;
  error = unexpected(p);
  goto fail;

next_element:
  ++p;
  skip_one_space();
first_element:
  if (room-- == 0) [[unlikely]]
    goto no_room;
  ++count;
element:
  if (!read_scalar()) goto other_value;
after_element:
  if (*p == ',') [[likely]]
    goto next_element;
  if (*p == ']') [[likely]]
    goto close_container;
  p = Scan::skip_space(p);
  if (*p == ',') goto next_element;
  if (*p == ']') goto close_container;
  error = unexpected(p);
  goto fail;

root:
  if (room-- == 0) [[unlikely]]
    goto no_room;
  if (read_scalar()) goto end_of_text;

other_value:
  switch (*p) {
    case '[':
    case '{':
      if (p[1] == *p + 2) {  // Closed at once: each closing bracket is two codes behind its opening one.
        append(p, tag(*p == '{' ? Kind::Object : Kind::Array, false, 0), 2);
        p += 2;
        goto after_value;
      }
      break;
    case ' ':
    case '\n':
    case '\t':
    case '\r':
      p = Scan::skip_space(p);
      if (kind == Kind::Object) goto member;
      goto element;
    default:
      error = scalar_fault(p);
      goto fail;
  }

  frames_.push({container, count, room, reserve, kind});
  container = static_cast<std::uint32_t>(node - tape_.nodes.get());
  kind = *p == '{' ? Kind::Object : Kind::Array;
  append(p, tag(kind, false, 0), 0);
  count = 0;
  ++p;
  reserve += room;
  // Too deep, only an empty container fits.
  room = frames_.size() > caps_.depth_max ? 0 : kind == Kind::Array ? std::min(reserve, caps_.elements_max) : reserve;
  reserve -= room;
  if (kind == Kind::Object) {
    if (*p == '"') [[likely]]
      goto key;
    p = Scan::skip_space(p);
    if (*p != '}') goto key;
  } else {
    if (is_space(*p)) p = Scan::skip_space(p);
    if (*p != ']') goto first_element;
  }

close_container: {
  ++p;
  if (kind == Kind::Object && is_strict && count > 1 && repeats_key(container, count)) [[unlikely]]
    goto refused;
  Node& closed = tape_.nodes[container];
  closed.tag |= count << Node::kSizeShift;
  closed.step = static_cast<std::uint32_t>(node - &closed);
  closed.extra = offset(p) - closed.offset;
  const std::size_t values_left = room + reserve;
  const Frame& outer = frames_.pop();
  container = outer.node;
  count = outer.count;
  kind = outer.kind;
  room = std::min(outer.room, values_left);
  reserve = values_left - room;
}
after_value:
  if (kind == Kind::Object) goto after_member;
  if (kind == Kind::Array) goto after_element;

end_of_text:
  p = Scan::skip_space(p);
  if (p != end_) {
    error = {ErrorCode::TrailingData, offset(p)};
    goto fail;
  }
  if (high_byte_) {
    const std::size_t invalid = first_invalid_utf8(tape_.text);
    if (invalid != std::string_view::npos) return Error{ErrorCode::InvalidUtf8, invalid};
  }
  return std::nullopt;

no_room:
  p = Scan::skip_space(p);
  error = over_cap(p, reserve);
  goto fail;
refused:
  error = refused_;
fail:
  frames_.push({container, count, room, reserve, kind});
  return earliest_fault(error);
}

template <class Scan>
typename Parser<Scan>::Free Parser<Scan>::grow_nodes(const Node* next) {
  const auto used = static_cast<std::size_t>(next - tape_.nodes.get());
  const std::size_t capacity = std::max(tape_.node_capacity * 2, tape_.text.size() / 8 + 16);
  auto nodes = std::make_unique_for_overwrite<Node[]>(capacity);
  if (used != 0) std::memcpy(nodes.get(), tape_.nodes.get(), used * sizeof(Node));
  tape_.nodes = std::move(nodes);
  tape_.node_capacity = capacity;
  return {tape_.nodes.get() + used, tape_.nodes.get() + capacity};
}

// A string that is not short, or not plain ASCII.
template <class Scan>
typename Parser<Scan>::LongString Parser<Scan>::read_long_string(const char* quote) {
  const StringStop stop = Scan::stop(quote + 1);
  high_byte_ |= stop.high_byte;
  if (*stop.at != '"') return read_escaped(quote, stop.at);
  return {stop.at + 1, static_cast<std::size_t>(stop.at - quote - 1), 0, false};
}

template <class Scan>
typename Parser<Scan>::LongString Parser<Scan>::read_escaped(const char* quote, const char* stop) {
  // Unescaping never makes a string longer, so the text bounds what all its strings need.
  if (tape_.unescaped_capacity < tape_.text.size() + kPaddingBytes) {
    tape_.unescaped_capacity = tape_.text.size() + kPaddingBytes;
    tape_.unescaped = std::make_unique_for_overwrite<char[]>(tape_.unescaped_capacity);
  }
  char* const content = tape_.unescaped.get() + unescaped_count_;
  char* out = content;
  for (const char* run = quote + 1;;) {
    const auto plain = static_cast<std::size_t>(stop - run);
    std::memcpy(out, run, plain);
    out += plain;
    if (*stop == '"') break;
    if (*stop != '\\') {
      refused_ = {stop == end_ ? ErrorCode::UnexpectedEnd : ErrorCode::ControlCharacter, offset(stop)};
      return {};
    }
    do {
      const Unescaped escape = unescape(stop, end_, out, dialect_);
      if (escape.next == nullptr) {
        refused_ = {escape.code, offset(escape.at)};
        return {};
      }
      stop = escape.next;
      out = escape.out;
    } while (*stop == '\\');
    run = stop;
    const StringStop next = Scan::stop(run);
    high_byte_ |= next.high_byte;
    stop = next.at;
  }
  const auto begin = static_cast<std::uint32_t>(unescaped_count_);
  const auto size = static_cast<std::size_t>(out - content);
  unescaped_count_ += size;
  return {stop + 1, size, begin, true};
}

template <class Scan>
Error Parser<Scan>::unexpected(const char* p) const {
  return {p == end_ ? ErrorCode::UnexpectedEnd : ErrorCode::UnexpectedCharacter, offset(p)};
}

// A value too many; where none begins, that is the fault. `reserve`: how many more values may begin elsewhere.
template <class Scan>
Error Parser<Scan>::over_cap(const char* p, std::size_t reserve) const {
  const bool begins_value = *p != '\0' && (is_digit(*p) || std::strchr("\"-tfn[{", *p) != nullptr);
  if (!begins_value) return unexpected(p);
  if (frames_.size() > caps_.depth_max) return {ErrorCode::TooDeep, offset(p)};
  return {reserve == 0 ? ErrorCode::TooManyValues : ErrorCode::TooManyElements, offset(p)};
}

// Why no value begins at `p`, or which fault its scalar has.
template <class Scan>
Error Parser<Scan>::scalar_fault(const char* p) const {
  switch (*p) {
    case '"':
      return refused_;
    case 't':
    case 'f':
    case 'n':
      return literal_fault(p);
    default:
      return *p == '-' || is_digit(*p) ? number_fault(p) : unexpected(p);
  }
}

template <class Scan>
Error Parser<Scan>::literal_fault(const char* start) const {
  const std::string_view word = *start == 't' ? "true" : *start == 'f' ? "false" : "null";
  const std::string_view rest(start, static_cast<std::size_t>(end_ - start));
  return {word.starts_with(rest) ? ErrorCode::UnexpectedEnd : ErrorCode::InvalidLiteral, offset(start)};
}

template <class Scan>
Error Parser<Scan>::number_fault(const char* start) const {
  const auto malformed = [&](const char* at) -> Error {
    if (strict() && at - start >= static_cast<std::ptrdiff_t>(kNumberLiteralBytesMax)) {
      return {ErrorCode::NumberTooLong, offset(start)};
    }
    return {at == end_ ? ErrorCode::UnexpectedEnd : ErrorCode::InvalidNumber, offset(at)};
  };
  const char* p = start + (*start == '-' ? 1 : 0);
  if (!is_digit(*p)) return malformed(p);
  if (*p == '0' && is_digit(p[1])) return malformed(p + 1);
  p = skip_digits(p);
  if (*p == '.') {
    ++p;
    if (!is_digit(*p)) return malformed(p);
    p = skip_digits(p);
  }
  if ((*p | 0x20) == 'e') {
    ++p;
    if (*p == '+' || *p == '-') ++p;
    if (!is_digit(*p)) return malformed(p);
    p = skip_digits(p);
  }
  const bool too_long = p - start > static_cast<std::ptrdiff_t>(kNumberLiteralBytesMax);
  return {too_long ? ErrorCode::NumberTooLong : ErrorCode::ExponentTooLarge, offset(start)};
}

// The offset of the first key read so far that equals an earlier one of the same object. Requires: count > 0.
template <class Scan>
std::optional<std::uint32_t> Parser<Scan>::duplicate_key(std::uint32_t object, std::uint32_t count) const {
  std::vector<std::string_view> keys;
  std::vector<std::uint32_t> offsets;
  keys.reserve(count);
  offsets.reserve(count);
  for (const Node* key = tape_.nodes.get() + object + 1;; key += 1 + key[1].step) {
    keys.push_back(content(*key));
    offsets.push_back(key->offset);
    // The last key's value may have no step yet.
    if (keys.size() == count) break;
  }
  const std::size_t duplicate = first_duplicate(keys);
  if (duplicate == kNoDuplicate) return std::nullopt;
  return offsets[duplicate];
}

template <class Scan>
bool Parser<Scan>::repeats_key(std::uint32_t object, std::uint32_t count) {
  const Node* key = tape_.nodes.get() + object + 1;
  const auto next_print = [&]() __attribute__((always_inline)) {
    const Node& node = *key;
    if (key[1].step == 1) [[likely]] {
      key += 2;
      keep_branch(key);
    } else {
      key += 1 + key[1].step;
    }
    return node.flag() ? fingerprint(tape_.unescaped.get() + node.extra, node.size()) : node.extra;
  };
  if (count <= kFewPrintsMax) {
    if (!few_may_repeat(count, next_print)) [[likely]]
      return false;
  } else {
    std::vector<std::uint32_t> prints(count);
    for (std::uint32_t& print : prints) print = next_print();
    if (!may_repeat(prints)) return false;
  }
  const auto duplicate = duplicate_key(object, count);
  if (!duplicate) return false;
  refused_ = {ErrorCode::DuplicateKey, *duplicate};
  return true;
}

// Duplicate keys are looked for when an object closes, and invalid UTF-8 at the end; an earlier one takes precedence
// over `error`.
template <class Scan>
Error Parser<Scan>::earliest_fault(Error error) const {
  if (strict()) {
    for (const Frame& frame : frames_) {
      if (frame.kind != Kind::Object || frame.count < 2) continue;
      const auto duplicate = duplicate_key(frame.node, frame.count);
      if (duplicate && *duplicate < error.offset) error = {ErrorCode::DuplicateKey, *duplicate};
    }
  }
  const std::size_t invalid = first_invalid_utf8(std::string_view(begin_, error.offset));
  if (invalid != std::string_view::npos) error = {ErrorCode::InvalidUtf8, invalid};
  return error;
}

template <class Scan>
std::optional<Error> parse(Tape& tape, const Caps& caps, Dialect dialect) {
  tape.keys_are_unique = dialect == Dialect::Strict;
  return Parser<Scan>(tape, caps, dialect).run();
}

}  // namespace

std::optional<Error> parse_tape(Tape& tape, const Caps& caps, Dialect dialect) {
  return parse<FastScan>(tape, caps, dialect);
}

std::optional<Error> parse_tape_scalar(Tape& tape, const Caps& caps, Dialect dialect) {
  return parse<ScalarScan>(tape, caps, dialect);
}

}  // namespace assay::json

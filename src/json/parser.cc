#include "json/parser.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "json/duplicates.h"
#include "json/error.h"
#include "json/string_scan.h"
#include "json/utf8.h"

namespace assay::json {
namespace {

// Objects up to this many keys compare all pairs of fingerprints; larger ones go to first_duplicate when they close.
constexpr std::uint32_t kPairedKeysMax = 32;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// -1: no hexadecimal digit.
int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The four digits at `p`, or -1. Stops at the first byte that is none, so never reads behind a terminating NUL.
int hex_quad(const char* p) {
  int value = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_digit(p[i]);
    if (digit < 0) return -1;
    value = value << 4 | digit;
  }
  return value;
}

// Tells most different keys apart: length, first and last eight bytes. Requires: eight bytes can be read at `key`.
std::uint32_t fingerprint(const char* key, std::size_t bytes) {
  std::uint64_t front;
  std::uint64_t back = 0;
  std::memcpy(&front, key, 8);
  if (bytes >= 8) {
    std::memcpy(&back, key + bytes - 8, 8);
  } else {
    front &= (std::uint64_t{1} << bytes * 8) - 1;
  }
  const std::uint64_t mixed = (front ^ bytes) * 0x9E3779B97F4A7C15 + back * 0xC2B2AE3D27D4EB4F;
  return static_cast<std::uint32_t>(mixed >> 32);
}

// Whether any of the first `count` equals `wanted`. Requires: the array can be read up to the next multiple of four.
bool contains(const std::uint32_t* fingerprints, std::uint32_t count, std::uint32_t wanted) {
#if defined(__SSE2__)
  const __m128i key = _mm_set1_epi32(static_cast<int>(wanted));
  for (std::uint32_t i = 0; i < count; i += 4) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(fingerprints + i));
    const int equal = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(block, key)));
    if (equal != 0 && i + static_cast<std::uint32_t>(__builtin_ctz(static_cast<unsigned>(equal))) < count) return true;
  }
  return false;
#else
  return std::find(fingerprints, fingerprints + count, wanted) != fingerprints + count;
#endif
}

// An open container.
struct Frame {
  std::uint32_t node;
  std::uint32_t count;              // elements, or keys, so far
  std::uint32_t fingerprints_base;  // objects: where its keys' fingerprints begin
  bool is_object;
};

template <class Scan>
class Parser {
 public:
  Parser(Tape& tape, const Caps& caps, Dialect dialect)
      : tape_(tape),
        caps_(caps),
        strict_(dialect == Dialect::Strict),
        begin_(tape.text.data()),
        end_(begin_ + tape.text.size()) {}

  std::optional<Error> run() {
    if (const char* fault = read()) return earliest_fault({code_, offset(fault)});
    if (scan_.saw_high_byte()) {
      const std::size_t invalid = first_invalid_utf8(tape_.text);
      if (invalid != std::string_view::npos) return Error{ErrorCode::InvalidUtf8, invalid};
    }
    return std::nullopt;
  }

 private:
  // Null on success, else where the fault is; code_ says which.
  const char* read();

  const char* fault(ErrorCode code, const char* at) {
    code_ = code;
    return at;
  }
  std::uint32_t offset(const char* p) const { return static_cast<std::uint32_t>(p - begin_); }

  static const char* skip_space(const char* p) {
    while (is_space(*p)) ++p;
    return p;
  }

  // What a byte that no token can begin with means.
  ErrorCode unexpected(const char* p) const {
    return p == end_ ? ErrorCode::UnexpectedEnd : ErrorCode::UnexpectedCharacter;
  }

  // A value too many; where none begins, that is the fault.
  const char* over_cap(ErrorCode code, const char* at) {
    const bool begins_value = *at != '\0' && (is_digit(*at) || std::strchr("\"-tfn[{", *at) != nullptr);
    return fault(begins_value ? code : unexpected(at), at);
  }

  void grow_nodes() {
    const std::size_t capacity = std::max(tape_.node_capacity * 2, tape_.text.size() / 8 + 16);
    auto nodes = std::make_unique_for_overwrite<Node[]>(capacity);
    if (tape_.nodes != nullptr) std::copy_n(tape_.nodes.get(), tape_.node_capacity, nodes.get());
    tape_.nodes = std::move(nodes);
    tape_.node_capacity = capacity;
  }

  Node& append() {
    if (node_count_ == tape_.node_capacity) [[unlikely]]
      grow_nodes();
    return tape_.nodes[node_count_++];
  }

  void append_scalar(Kind kind, bool flag, const char* p, std::size_t size) {
    append() = {offset(p), tag(kind, flag, size), 1, 0};
  }

  static std::uint32_t tag(Kind kind, bool flag, std::size_t size) {
    return static_cast<std::uint32_t>(kind) | (flag ? Node::kFlag : 0) |
           static_cast<std::uint32_t>(size << Node::kSizeShift);
  }

  // Each reads one token at `p` and returns the byte behind it, or null after setting code_ and fault_.
  const char* read_string(const char* p);
  const char* read_escaped(const char* p, const char* stop);
  const char* read_escape(const char* p, char*& out);
  const char* read_unicode_escape(const char* p, char*& out);
  const char* read_number(const char* p);
  const char* read_literal(const char* p);

  const char* refuse(ErrorCode code, const char* at) {
    code_ = code;
    fault_ = at;
    return nullptr;
  }

  void open(const char* p, bool is_object) {
    frames_.push_back({static_cast<std::uint32_t>(node_count_), 0, fingerprint_count_, is_object});
    append() = {offset(p), tag(is_object ? Kind::Object : Kind::Array, false, 0), 0, 0};
  }

  // False: a duplicate, with fault_ set.
  bool close(const char* behind) {
    const Frame& frame = frames_.back();
    if (strict_ && frame.is_object && frame.count > kPairedKeysMax) {
      if (const auto duplicate = duplicate_key(frame)) {
        fault_ = begin_ + *duplicate;
        return false;
      }
    }
    Node& node = tape_.nodes[frame.node];
    node.tag |= frame.count << Node::kSizeShift;
    node.step = static_cast<std::uint32_t>(node_count_) - frame.node;
    node.extra = offset(behind) - node.offset;
    fingerprint_count_ = frame.fingerprints_base;
    frames_.pop_back();
    return true;
  }

  // Notes the key just appended; false: it equals an earlier one.
  bool add_key() {
    Frame& frame = frames_.back();
    const std::uint32_t earlier = frame.count++;
    if (!strict_ || earlier >= kPairedKeysMax) return true;
    const std::string_view key = content(tape_.nodes[node_count_ - 1]);
    const std::uint32_t print = fingerprint(key.data(), key.size());
    if (fingerprints_.size() < fingerprint_count_ + kPairedKeysMax) {
      fingerprints_.resize(fingerprints_.size() * 2 + kPairedKeysMax);
    }
    std::uint32_t* prints = fingerprints_.data() + frame.fingerprints_base;
    prints[earlier] = print;
    ++fingerprint_count_;
    return !contains(prints, earlier, print) || !duplicate_key(frame);
  }

  std::string_view content(const Node& node) const {
    const char* data = node.flag() ? tape_.unescaped.get() + node.extra : begin_ + node.offset + 1;
    return {data, node.size()};
  }

  // The offset of the first key read so far that equals an earlier one of the same object.
  std::optional<std::uint32_t> duplicate_key(const Frame& frame) const {
    std::vector<std::string_view> keys;
    std::vector<std::uint32_t> offsets;
    keys.reserve(frame.count);
    offsets.reserve(frame.count);
    // The last key's value may still be open: it has no step yet, and is not stepped over.
    for (const Node* node = tape_.nodes.get() + frame.node + 1;; node += 1 + node[1].step) {
      keys.push_back(content(*node));
      offsets.push_back(node->offset);
      if (keys.size() == frame.count) break;
    }
    const std::size_t duplicate = first_duplicate(keys);
    if (duplicate == kNoDuplicate) return std::nullopt;
    return offsets[duplicate];
  }

  // Duplicates in large objects and invalid UTF-8 are looked for late; an earlier one takes precedence over `error`.
  Error earliest_fault(Error error) const {
    if (strict_) {
      for (const Frame& frame : frames_) {
        if (!frame.is_object || frame.count <= kPairedKeysMax) continue;
        const auto duplicate = duplicate_key(frame);
        if (duplicate && *duplicate < error.offset) error = {ErrorCode::DuplicateKey, *duplicate};
      }
    }
    const std::size_t invalid = first_invalid_utf8(std::string_view(begin_, error.offset));
    if (invalid != std::string_view::npos) error = {ErrorCode::InvalidUtf8, invalid};
    return error;
  }

  Tape& tape_;
  const Caps& caps_;
  const bool strict_;
  const char* const begin_;
  const char* const end_;
  Scan scan_;
  std::size_t node_count_ = 0;
  std::size_t unescaped_count_ = 0;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> fingerprints_;
  std::uint32_t fingerprint_count_ = 0;
  ErrorCode code_{};
  const char* fault_ = nullptr;
};

template <class Scan>
const char* Parser<Scan>::read() {
  std::size_t values = 0;
  const char* p = skip_space(begin_);
  if (p == end_) return fault(ErrorCode::Empty, p);

value:
  if (frames_.size() > caps_.depth_max) return over_cap(ErrorCode::TooDeep, p);
  if (values++ == caps_.values_max) return over_cap(ErrorCode::TooManyValues, p);
  switch (*p) {
    case '"':
      p = read_string(p);
      break;
    case 't':
    case 'f':
    case 'n':
      p = read_literal(p);
      break;
    case '[':
      open(p, false);
      p = skip_space(p + 1);
      if (*p == ']') goto end_container;
      goto element;
    case '{':
      open(p, true);
      p = skip_space(p + 1);
      if (*p == '}') goto end_container;
      goto key;
    default:
      if (*p != '-' && !is_digit(*p)) return fault(unexpected(p), p);
      p = read_number(p);
  }
  if (p == nullptr) return fault_;

after_value:
  p = skip_space(p);
  if (frames_.empty()) return p == end_ ? nullptr : fault(ErrorCode::TrailingData, p);
  if (frames_.back().is_object) {
    if (*p == ',') {
      p = skip_space(p + 1);
      goto key;
    }
    if (*p == '}') goto end_container;
  } else {
    if (*p == ',') {
      p = skip_space(p + 1);
      goto element;
    }
    if (*p == ']') goto end_container;
  }
  return fault(unexpected(p), p);

key:
  if (*p != '"') return fault(unexpected(p), p);
  {
    const char* quote = p;
    p = read_string(p);
    if (p == nullptr) return fault_;
    if (!add_key()) return fault(ErrorCode::DuplicateKey, quote);
  }
  p = skip_space(p);
  if (*p != ':') return fault(unexpected(p), p);
  p = skip_space(p + 1);
  goto value;

element:
  if (frames_.back().count++ == caps_.elements_max) return over_cap(ErrorCode::TooManyElements, p);
  goto value;

end_container:
  ++p;
  if (!close(p)) return fault(ErrorCode::DuplicateKey, fault_);
  goto after_value;
}

template <class Scan>
const char* Parser<Scan>::read_string(const char* p) {
  const char* stop = scan_.stop(p + 1);
  if (*stop != '"') return read_escaped(p, stop);
  append_scalar(Kind::String, false, p, static_cast<std::size_t>(stop - p - 1));
  return stop + 1;
}

template <class Scan>
const char* Parser<Scan>::read_escaped(const char* p, const char* stop) {
  // Unescaping never makes a string longer, so the rest of the text bounds what the rest of the strings need.
  if (unescaped_count_ == 0 && tape_.unescaped_capacity < tape_.text.size() + kPaddingBytes) {
    tape_.unescaped_capacity = tape_.text.size() + kPaddingBytes;
    tape_.unescaped = std::make_unique_for_overwrite<char[]>(tape_.unescaped_capacity);
  }
  char* const content = tape_.unescaped.get() + unescaped_count_;
  char* out = content;
  for (const char* run = p + 1;;) {
    const auto plain = static_cast<std::size_t>(stop - run);
    std::memcpy(out, run, plain);
    out += plain;
    if (*stop == '"') break;
    if (*stop != '\\') {
      return refuse(stop == end_ ? ErrorCode::UnexpectedEnd : ErrorCode::ControlCharacter, stop);
    }
    run = read_escape(stop, out);
    if (run == nullptr) return nullptr;
    stop = scan_.stop(run);
  }
  const auto bytes = static_cast<std::size_t>(out - content);
  append() = {offset(p), tag(Kind::String, true, bytes), 1, static_cast<std::uint32_t>(unescaped_count_)};
  unescaped_count_ += bytes;
  return stop + 1;
}

template <class Scan>
const char* Parser<Scan>::read_escape(const char* p, char*& out) {
  switch (p[1]) {
    case '"':
    case '\\':
    case '/':
      *out++ = p[1];
      return p + 2;
    case 'b':
      *out++ = '\b';
      return p + 2;
    case 'f':
      *out++ = '\f';
      return p + 2;
    case 'n':
      *out++ = '\n';
      return p + 2;
    case 'r':
      *out++ = '\r';
      return p + 2;
    case 't':
      *out++ = '\t';
      return p + 2;
    case 'u':
      return read_unicode_escape(p, out);
    default:
      if (p + 1 == end_) return refuse(ErrorCode::UnexpectedEnd, end_);
      return refuse(ErrorCode::InvalidEscape, p);
  }
}

template <class Scan>
const char* Parser<Scan>::read_unicode_escape(const char* p, char*& out) {
  const auto invalid = [this, p](const char* digits) {
    while (hex_digit(*digits) >= 0) ++digits;
    return digits == end_ ? refuse(ErrorCode::UnexpectedEnd, end_) : refuse(ErrorCode::InvalidEscape, p);
  };
  const int unit = hex_quad(p + 2);
  if (unit < 0) return invalid(p + 2);
  auto scalar = static_cast<char32_t>(unit);
  const char* behind = p + 6;
  if (unit >= 0xD800 && unit < 0xE000) {
    int low = -1;
    if (unit < 0xDC00 && behind[0] == '\\' && behind[1] == 'u') {
      low = hex_quad(behind + 2);
      if (low < 0 && strict_) return invalid(behind + 2);
    }
    if (low >= 0xDC00 && low < 0xE000) {
      scalar = 0x10000 + (static_cast<char32_t>(unit - 0xD800) << 10) + static_cast<char32_t>(low - 0xDC00);
      behind += 6;
    } else {
      if (strict_) return refuse(ErrorCode::LoneSurrogate, p);
      scalar = kReplacementCharacter;
    }
  }
  if (scalar == 0) {
    if (strict_) return refuse(ErrorCode::NulCharacter, p);
    scalar = kReplacementCharacter;
  }
  out = write_utf8(scalar, out);
  return behind;
}

template <class Scan>
const char* Parser<Scan>::read_number(const char* p) {
  const char* const start = p;
  const auto invalid = [this, start](const char* at) {
    if (strict_ && at - start >= static_cast<std::ptrdiff_t>(kNumberLiteralBytesMax)) {
      return refuse(ErrorCode::NumberTooLong, start);
    }
    return refuse(at == end_ ? ErrorCode::UnexpectedEnd : ErrorCode::InvalidNumber, at);
  };
  if (*p == '-') ++p;
  if (*p == '0') {
    ++p;
    if (is_digit(*p)) return invalid(p);
  } else {
    if (!is_digit(*p)) return invalid(p);
    while (is_digit(*p)) ++p;
  }
  if (*p == '.') {
    ++p;
    if (!is_digit(*p)) return invalid(p);
    while (is_digit(*p)) ++p;
  }
  bool exponent_too_large = false;
  if ((*p | 0x20) == 'e') {
    ++p;
    if (*p == '+' || *p == '-') ++p;
    if (!is_digit(*p)) return invalid(p);
    int magnitude = 0;
    for (; is_digit(*p); ++p) magnitude = std::min(magnitude * 10 + (*p - '0'), kExponentMagnitudeMax + 1);
    exponent_too_large = magnitude > kExponentMagnitudeMax;
  }
  const auto bytes = static_cast<std::size_t>(p - start);
  if (strict_) {
    if (bytes > kNumberLiteralBytesMax) return refuse(ErrorCode::NumberTooLong, start);
    if (exponent_too_large) return refuse(ErrorCode::ExponentTooLarge, start);
  }
  append_scalar(Kind::Number, false, start, bytes);
  return p;
}

template <class Scan>
const char* Parser<Scan>::read_literal(const char* p) {
  const std::string_view word = *p == 't' ? "true" : *p == 'f' ? "false" : "null";
  const std::string_view rest(p, static_cast<std::size_t>(end_ - p));
  if (!rest.starts_with(word)) {
    return refuse(word.starts_with(rest) ? ErrorCode::UnexpectedEnd : ErrorCode::InvalidLiteral, p);
  }
  append_scalar(*p == 'n' ? Kind::Null : Kind::Boolean, *p == 't', p, word.size());
  return p + word.size();
}

template <class Scan>
std::optional<Error> parse(Tape& tape, const Caps& caps, Dialect dialect) {
  const std::size_t size = tape.text.size();
  tape.text.reserve(size + kPaddingBytes);
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

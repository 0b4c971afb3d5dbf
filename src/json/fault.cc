#include "json/fault.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "json/characters.h"
#include "json/duplicates.h"
#include "json/error.h"
#include "json/limits.h"
#include "json/unescape.h"
#include "json/utf8.h"

namespace assay::json {
namespace {

class FaultFinder {
 public:
  FaultFinder(std::string_view text, const Caps& caps, Dialect dialect)
      : padded_(text), caps_(caps), dialect_(dialect) {
    padded_.append(kPaddingBytes, '\0');
    p_ = padded_.data();
    end_ = p_ + text.size();
  }

  std::optional<Error> find() {
    read_document();
    // Duplicate keys are looked for when an object closes, and invalid UTF-8 here; an earlier one takes precedence.
    while (!open_.empty()) close();
    const std::size_t read = fault_ ? fault_->offset : offset(end_);
    const std::size_t invalid = first_invalid_utf8({padded_.data(), read});
    if (invalid != std::string_view::npos) fault_ = {ErrorCode::InvalidUtf8, invalid};
    return fault_;
  }

 private:
  struct Container {
    bool is_object;
    std::size_t count;      // elements so far
    std::size_t first_key;  // in keys_
  };
  struct Key {
    std::string content;
    std::size_t offset;
  };

  [[nodiscard]] bool strict() const { return dialect_ == Dialect::Strict; }
  [[nodiscard]] std::size_t offset(const char* p) const { return static_cast<std::size_t>(p - padded_.data()); }
  void skip_space() {
    while (is_space(*p_)) ++p_;
  }
  void skip_digits() {
    while (is_digit(*p_)) ++p_;
  }

  bool refuse(ErrorCode code, const char* at) {
    fault_ = {code, offset(at)};
    return false;
  }
  // What stands at `p` is not what has to; or nothing does.
  bool refuse_unless_cut(ErrorCode code, const char* at) {
    return refuse(at == end_ ? ErrorCode::UnexpectedEnd : code, at);
  }
  bool refuse_character() { return refuse_unless_cut(ErrorCode::UnexpectedCharacter, p_); }

  void read_document();
  bool read_value();
  bool read_key();
  bool read_string(std::string& content);
  bool read_number();
  bool read_literal(std::string_view word);
  bool within_caps();
  void close();

  std::string padded_;  // a copy, followed by NULs, which end whatever is cut
  const Caps& caps_;
  const Dialect dialect_;
  const char* p_;
  const char* end_;
  std::optional<Error> fault_;
  std::size_t values_ = 0;
  std::vector<Container> open_;
  std::vector<Key> keys_;  // of the open objects
};

void FaultFinder::read_document() {
  skip_space();
  if (p_ == end_) {
    refuse(ErrorCode::Empty, p_);
    return;
  }
  if (!read_value()) return;
  while (!open_.empty()) {
    Container& inner = open_.back();
    skip_space();
    if (*p_ == (inner.is_object ? '}' : ']')) {
      ++p_;
      close();
      if (fault_) return;
      continue;
    }
    if (inner.count > 0) {
      if (*p_ != ',') {
        refuse_character();
        return;
      }
      ++p_;
    }
    if (inner.is_object && !read_key()) return;
    if (!read_value()) return;
  }
  skip_space();
  if (p_ != end_) refuse(ErrorCode::TrailingData, p_);
}

// Leaves behind a scalar, or inside a container.
bool FaultFinder::read_value() {
  skip_space();
  switch (*p_) {
    case '"': {
      std::string content;
      return within_caps() && read_string(content);
    }
    case 't':
      return within_caps() && read_literal("true");
    case 'f':
      return within_caps() && read_literal("false");
    case 'n':
      return within_caps() && read_literal("null");
    case '[':
    case '{':
      if (!within_caps()) return false;
      open_.push_back({*p_++ == '{', 0, keys_.size()});
      return true;
    default:
      if (*p_ == '-' || is_digit(*p_)) return within_caps() && read_number();
      return refuse_character();
  }
}

// Counts the value that begins here.
bool FaultFinder::within_caps() {
  if (open_.size() > caps_.depth_max) return refuse(ErrorCode::TooDeep, p_);
  if (values_++ >= caps_.values_max) return refuse(ErrorCode::TooManyValues, p_);
  if (open_.empty()) return true;
  Container& inner = open_.back();
  if (inner.count++ >= caps_.elements_max && !inner.is_object) return refuse(ErrorCode::TooManyElements, p_);
  return true;
}

bool FaultFinder::read_key() {
  skip_space();
  if (*p_ != '"') return refuse_character();
  Key key{{}, offset(p_)};
  if (!read_string(key.content)) return false;
  if (strict()) keys_.push_back(std::move(key));
  skip_space();
  if (*p_ != ':') return refuse_character();
  ++p_;
  return true;
}

bool FaultFinder::read_string(std::string& content) {
  for (++p_; *p_ != '"';) {
    if (static_cast<unsigned char>(*p_) < 0x20) return refuse_unless_cut(ErrorCode::ControlCharacter, p_);
    if (*p_ != '\\') {
      content += *p_++;
      continue;
    }
    std::array<char, 4> bytes;
    EscapeFault fault;
    const Unescaped escape = unescape(p_, end_, bytes.data(), dialect_, fault);
    if (escape.next == nullptr) return refuse(fault.code, fault.at);
    content.append(bytes.data(), escape.out);
    p_ = escape.next;
  }
  ++p_;
  return true;
}

bool FaultFinder::read_number() {
  const char* const start = p_;
  const auto exceeds = [&](std::ptrdiff_t bytes) {
    return strict() && bytes > static_cast<std::ptrdiff_t>(kNumberLiteralBytesMax);
  };
  const auto refuse_byte = [&](const char* at) {
    return exceeds(at + 1 - start) ? refuse(ErrorCode::NumberTooLong, start)
                                   : refuse_unless_cut(ErrorCode::InvalidNumber, at);
  };
  if (*p_ == '-') ++p_;
  if (!is_digit(*p_)) return refuse_byte(p_);
  if (*p_ == '0' && is_digit(p_[1])) return refuse_byte(p_ + 1);
  skip_digits();
  if (*p_ == '.') {
    ++p_;
    if (!is_digit(*p_)) return refuse_byte(p_);
    skip_digits();
  }
  int magnitude = 0;
  if (*p_ == 'e' || *p_ == 'E') {
    ++p_;
    if (*p_ == '+' || *p_ == '-') ++p_;
    if (!is_digit(*p_)) return refuse_byte(p_);
    for (; is_digit(*p_); ++p_) magnitude = std::min(magnitude * 10 + (*p_ - '0'), kExponentMagnitudeMax + 1);
  }
  if (exceeds(p_ - start)) return refuse(ErrorCode::NumberTooLong, start);
  if (strict() && magnitude > kExponentMagnitudeMax) return refuse(ErrorCode::ExponentTooLarge, start);
  return true;
}

bool FaultFinder::read_literal(std::string_view word) {
  const std::string_view rest(p_, static_cast<std::size_t>(end_ - p_));
  if (!rest.starts_with(word)) {
    return refuse(word.starts_with(rest) ? ErrorCode::UnexpectedEnd : ErrorCode::InvalidLiteral, p_);
  }
  p_ += word.size();
  return true;
}

void FaultFinder::close() {
  const std::size_t first_key = open_.back().first_key;
  open_.pop_back();
  const std::span<const Key> keys = std::span(keys_).subspan(first_key);
  if (keys.size() > 1) {
    std::vector<std::string_view> contents;
    for (const Key& key : keys) contents.push_back(key.content);
    const std::size_t duplicate = first_duplicate(contents);
    if (duplicate != kNoDuplicate && (!fault_ || keys[duplicate].offset < fault_->offset)) {
      fault_ = {ErrorCode::DuplicateKey, keys[duplicate].offset};
    }
  }
  keys_.resize(first_key);
}

}  // namespace

std::optional<Error> first_fault(std::string_view text, const Caps& caps, Dialect dialect) {
  return FaultFinder(text, caps, dialect).find();
}

}  // namespace assay::json

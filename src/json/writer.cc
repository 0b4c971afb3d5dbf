#include "json/writer.h"

#include <charconv>
#include <limits>
#include <utility>

#include "base/check.h"
#include "json/utf8.h"

namespace assay::json {
namespace {

// The character after the backslash, 'u' for the long form, 0 where none is needed.
char escape_of(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return static_cast<unsigned char>(c) < 0x20 ? 'u' : '\0';
  }
}

void append_escape(std::string& out, char c, char escape) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '\\';
  out += escape;
  if (escape != 'u') return;
  out += "00";
  out += kHex[static_cast<unsigned char>(c) >> 4];
  out += kHex[static_cast<unsigned char>(c) & 0xF];
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;
  const auto flush = [&](std::size_t end) { out.append(text, plain, end - plain); };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    std::size_t bytes = 1;
    if (static_cast<unsigned char>(c) >= 0x80) {
      bytes = utf8_sequence_bytes(text.substr(i));
      if (bytes == 0) {
        flush(i);
        bytes = utf8_ill_formed_bytes(text.substr(i));
        out += kReplacementUtf8;
        plain = i + bytes;
      }
    } else if (c == '\0') {
      flush(i);
      out += kReplacementUtf8;
      plain = i + 1;
    } else if (const char escape = escape_of(c); escape != '\0') {
      flush(i);
      append_escape(out, c, escape);
      plain = i + 1;
    }
    i += bytes;
  }
  flush(text.size());
  out += '"';
}

template <class Integer>
void append_number(std::string& out, Integer value) {
  char digits[std::numeric_limits<Integer>::digits10 + 3];
  const auto written = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, written.ptr);
}

}  // namespace

void Writer::separate() {
  ASSAY_CHECK(depth_ > 0 || text_.empty(), "a JSON text holds one value");
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

Writer& Writer::begin(char bracket) {
  separate();
  text_ += bracket;
  needs_comma_ = false;
  ++depth_;
  return *this;
}

Writer& Writer::end(char bracket) {
  ASSAY_CHECK(depth_ > 0, "no container is open");
  text_ += bracket;
  needs_comma_ = true;
  --depth_;
  return *this;
}

Writer& Writer::begin_object() { return begin('{'); }
Writer& Writer::end_object() { return end('}'); }
Writer& Writer::begin_array() { return begin('['); }
Writer& Writer::end_array() { return end(']'); }

Writer& Writer::key(std::string_view name) {
  ASSAY_CHECK(depth_ > 0, "a key needs an object");
  separate();
  append_quoted(text_, name);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

Writer& Writer::string(std::string_view text) {
  separate();
  append_quoted(text_, text);
  return *this;
}

Writer& Writer::signed_number(std::int64_t value) {
  separate();
  append_number(text_, value);
  return *this;
}

Writer& Writer::unsigned_number(std::uint64_t value) {
  separate();
  append_number(text_, value);
  return *this;
}

Writer& Writer::boolean(bool value) {
  separate();
  text_ += value ? "true" : "false";
  return *this;
}

Writer& Writer::null() {
  separate();
  text_ += "null";
  return *this;
}

Writer& Writer::raw(std::string_view json) {
  separate();
  text_ += json;
  return *this;
}

std::string Writer::take() {
  ASSAY_CHECK(depth_ == 0 && !text_.empty(), "the JSON text is not complete");
  needs_comma_ = false;
  return std::exchange(text_, {});
}

}  // namespace assay::json

#include "json/document.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "json/error.h"
#include "json/parser.h"

namespace assay::json {
namespace {

// The bytes of the string literal at `quote`, both quotes included. Requires: the literal is valid.
std::size_t literal_bytes(const char* quote) {
  const char* p = quote + 1;
  for (; *p != '"'; ++p) {
    if (*p == '\\') ++p;
  }
  return static_cast<std::size_t>(p + 1 - quote);
}

bool is_too_long(std::size_t size, const Caps& caps) { return size > std::min(caps.bytes_max, kDocumentBytesMax); }

}  // namespace

std::optional<Value> Value::find(std::string_view key) const {
  std::optional<Value> found;
  for (const Member member : members()) {
    if (member.key != key) continue;
    found = member.value;
    if (tape_->keys_are_unique) break;
  }
  return found;
}

std::string_view Value::raw() const {
  const char* begin = tape_->text.data() + node_->offset;
  switch (node_->kind()) {
    case Kind::Null:
    case Kind::Boolean:
    case Kind::Number:
      return {begin, node_->size()};
    case Kind::String:
      if (!node_->flag()) return {begin, node_->size() + 2};
      return {begin, literal_bytes(begin)};
    case Kind::Array:
    case Kind::Object:
      break;
  }
  return {begin, node_->extra};
}

Result<Document, Error> Document::parse(std::string text, const Caps& caps, Dialect dialect) {
  if (is_too_long(text.size(), caps)) return fail(Error{ErrorCode::TooLong, 0});
  auto tape = std::make_unique<Tape>();
  tape->owned = std::move(text);
  tape->owned.reserve(tape->owned.size() + kPaddingBytes);
  if (const auto error = parse_tape(*tape, tape->owned, nullptr, caps, dialect)) return fail(*error);
  return Document(std::move(tape));
}

Result<Value, Error> Reader::read(std::string_view text, const Caps& caps, Dialect dialect) {
  if (is_too_long(text.size(), caps)) return fail(Error{ErrorCode::TooLong, 0});
  Tape& tape = *tape_;
  if (tape.copied_capacity < text.size() + kPaddingBytes) {
    tape.copied_capacity = text.size() * 2 + kPaddingBytes;
    tape.copied = std::make_unique_for_overwrite<char[]>(tape.copied_capacity);
  }
  char* const copy = tape.copied.get();
  copy[text.size()] = '\0';
  if (const auto error = parse_tape(tape, text, copy, caps, dialect)) return fail(*error);
  return Value(tape, tape.nodes.get());
}

Result<Value, Error> Reader::read_in_place(std::string_view text, const Caps& caps, Dialect dialect) {
  if (is_too_long(text.size(), caps)) return fail(Error{ErrorCode::TooLong, 0});
  if (const auto error = parse_tape(*tape_, text, nullptr, caps, dialect)) return fail(*error);
  return Value(*tape_, tape_->nodes.get());
}

}  // namespace assay::json

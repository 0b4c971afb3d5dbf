#pragma once
// Why the raw boundary refused a document: codes, their names and texts, and where in the document.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "json/document.h"

namespace assay::json {

// One fault each. The offset that goes with it is the offending byte, or the first byte of the offending token
// (number, escape, key, value) where the token as a whole is at fault.
enum class ErrorCode : std::uint8_t {
  TooLong,              // more than Caps::bytes_max; nothing was read
  Empty,                // no value at all
  UnexpectedEnd,        // the text ends inside a value
  UnexpectedCharacter,  // no token can begin, or go on, here
  TrailingData,         // anything but white space after the value
  InvalidLiteral,       // neither true, false nor null
  InvalidNumber,
  ControlCharacter,  // a raw byte below U+0020 in a string
  InvalidEscape,
  InvalidUtf8,
  LoneSurrogate,     // an escape of half a surrogate pair
  NulCharacter,      // U+0000 written as an escape
  DuplicateKey,      // the second of two equal keys of one object
  NumberTooLong,     // more than kNumberLiteralBytesMax
  ExponentTooLarge,  // magnitude over kExponentMagnitudeMax
  TooDeep,           // more than Caps::depth_max
  TooManyValues,     // more than Caps::values_max
  TooManyElements,   // more than Caps::elements_max
};

// The code in snake_case, stable for clients.
[[nodiscard]] std::string_view code_name(ErrorCode code);

// One short English sentence with the byte offset; never echoes input.
[[nodiscard]] std::string describe(const Error& error);

struct LineColumn {
  std::size_t line;    // from 1; lines end at U+000A
  std::size_t column;  // from 1, in bytes
};

// An offset behind the end counts as the end.
[[nodiscard]] LineColumn line_and_column(std::string_view text, std::size_t offset);

}  // namespace assay::json

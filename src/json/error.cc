#include "json/error.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "json/limits.h"

namespace assay::json {
namespace {

std::string sentence(ErrorCode code) {
  switch (code) {
    case ErrorCode::TooLong:
      return "the document is too long";
    case ErrorCode::Empty:
      return "the document holds no JSON value";
    case ErrorCode::UnexpectedEnd:
      return "the document ends inside a value";
    case ErrorCode::UnexpectedCharacter:
      return "unexpected character";
    case ErrorCode::TrailingData:
      return "unexpected data after the value";
    case ErrorCode::InvalidLiteral:
      return "expected true, false or null";
    case ErrorCode::InvalidNumber:
      return "invalid number";
    case ErrorCode::ControlCharacter:
      return "unescaped control character in a string";
    case ErrorCode::InvalidEscape:
      return "invalid escape in a string";
    case ErrorCode::InvalidUtf8:
      return "invalid UTF-8";
    case ErrorCode::LoneSurrogate:
      return "unpaired surrogate escape";
    case ErrorCode::NulCharacter:
      return "the character U+0000 is not allowed";
    case ErrorCode::DuplicateKey:
      return "duplicate key in an object";
    case ErrorCode::NumberTooLong:
      return fmt::format("number longer than {} bytes", kNumberLiteralBytesMax);
    case ErrorCode::ExponentTooLarge:
      return fmt::format("number with an exponent beyond {}", kExponentMagnitudeMax);
    case ErrorCode::TooDeep:
      return "values are nested too deeply";
    case ErrorCode::TooManyValues:
      return "too many values";
    case ErrorCode::TooManyElements:
      return "too many elements in an array";
  }
  ASSAY_CHECK(false, "not an error code");
}

}  // namespace

std::string_view code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::TooLong:
      return "too_long";
    case ErrorCode::Empty:
      return "empty";
    case ErrorCode::UnexpectedEnd:
      return "unexpected_end";
    case ErrorCode::UnexpectedCharacter:
      return "unexpected_character";
    case ErrorCode::TrailingData:
      return "trailing_data";
    case ErrorCode::InvalidLiteral:
      return "invalid_literal";
    case ErrorCode::InvalidNumber:
      return "invalid_number";
    case ErrorCode::ControlCharacter:
      return "control_character";
    case ErrorCode::InvalidEscape:
      return "invalid_escape";
    case ErrorCode::InvalidUtf8:
      return "invalid_utf8";
    case ErrorCode::LoneSurrogate:
      return "lone_surrogate";
    case ErrorCode::NulCharacter:
      return "nul_character";
    case ErrorCode::DuplicateKey:
      return "duplicate_key";
    case ErrorCode::NumberTooLong:
      return "number_too_long";
    case ErrorCode::ExponentTooLarge:
      return "exponent_too_large";
    case ErrorCode::TooDeep:
      return "too_deep";
    case ErrorCode::TooManyValues:
      return "too_many_values";
    case ErrorCode::TooManyElements:
      return "too_many_elements";
  }
  ASSAY_CHECK(false, "not an error code");
}

std::string describe(const Error& error) {
  if (error.code == ErrorCode::TooLong || error.code == ErrorCode::Empty) return sentence(error.code);
  return fmt::format("{} at byte {}", sentence(error.code), error.offset);
}

LineColumn line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line_ends = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t last = before.rfind('\n');
  return {line_ends + 1, before.size() - (last == std::string_view::npos ? 0 : last + 1) + 1};
}

}  // namespace assay::json

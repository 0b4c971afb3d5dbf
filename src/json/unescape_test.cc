#include "json/unescape.h"

#include <gtest/gtest.h>

#include <string>

#include "json/limits.h"

namespace assay::json {
namespace {

// What the escape reads as, or its refusal as "code@offset".
std::string read(std::string text, Dialect dialect = Dialect::Strict) {
  const std::size_t size = text.size();
  text.append(kPaddingBytes, '\0');
  char out[4];
  EscapeFault fault;
  const Unescaped result = unescape(text.data(), text.data() + size, out, dialect, fault);
  if (result.next == nullptr) return std::string(code_name(fault.code)) + "@" + std::to_string(fault.at - text.data());
  return {out, result.out};
}

TEST(JsonUnescape, ReadsEveryKind) {
  EXPECT_EQ(read("\\\""), "\"");
  EXPECT_EQ(read("\\\\"), "\\");
  EXPECT_EQ(read("\\/"), "/");
  EXPECT_EQ(read("\\b"), "\b");
  EXPECT_EQ(read("\\f"), "\f");
  EXPECT_EQ(read("\\n"), "\n");
  EXPECT_EQ(read("\\r"), "\r");
  EXPECT_EQ(read("\\t"), "\t");
  EXPECT_EQ(read("\\u00e9"), "\u00e9");
  EXPECT_EQ(read("\\u20AC"), "\u20ac");
  EXPECT_EQ(read("\\uD83D\\ude00"), "\U0001F600");
  EXPECT_EQ(read("\\uffff"), "\uffff");
}

TEST(JsonUnescape, RefusesTheRest) {
  for (int letter = 1; letter < 256; ++letter) {
    if (std::string_view("\"\\/bfnrtu").contains(static_cast<char>(letter))) continue;
    EXPECT_EQ(read({'\\', static_cast<char>(letter)}), "invalid_escape@0") << letter;
  }
  EXPECT_EQ(read("\\u12g4"), "invalid_escape@0");
  EXPECT_EQ(read("\\u123\""), "invalid_escape@0");
  EXPECT_EQ(read("\\ud83d\\u12g4"), "invalid_escape@6");
  EXPECT_EQ(read("\\u0000"), "nul_character@0");
  EXPECT_EQ(read("\\ud800x"), "lone_surrogate@0");
  EXPECT_EQ(read("\\ud800\\n"), "lone_surrogate@0");
  EXPECT_EQ(read("\\ud800\\u0041"), "lone_surrogate@0");
  EXPECT_EQ(read("\\udc00\\ud800"), "lone_surrogate@0");
}

TEST(JsonUnescape, KnowsACutText) {
  for (const std::string text :
       {"\\", "\\u", "\\u1", "\\u123", "\\ud83d", "\\ud83d\\", "\\ud83d\\u", "\\ud83d\\ude0"}) {
    EXPECT_EQ(read(text), "unexpected_end@" + std::to_string(text.size())) << text;
  }
}

TEST(JsonUnescape, ReplacesWhenLenient) {
  EXPECT_EQ(read("\\u0000", Dialect::Lenient), "\uFFFD");
  EXPECT_EQ(read("\\ud800\\u0041", Dialect::Lenient), "\uFFFD");
  EXPECT_EQ(read("\\udc00", Dialect::Lenient), "\uFFFD");
}

}  // namespace
}  // namespace assay::json

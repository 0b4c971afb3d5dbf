#include "structured/plain_text.h"

#include <gtest/gtest.h>

namespace assay::structured {
namespace {

TEST(PlainText, KeepsOrdinaryText) { EXPECT_EQ(plain_text("na\xC3\xAFve text", 100), "na\xC3\xAFve text"); }

TEST(PlainText, FoldsWhiteSpaceAndControlCharacters) {
  EXPECT_EQ(plain_text("  a\n\tb\x01\x7F"
                       "c\xC2\x85"
                       "d \r\n",
                       100),
            "a b c d");
}

TEST(PlainText, ReplacesNulAndIllFormedUtf8) {
  EXPECT_EQ(plain_text(std::string_view("a\0b", 3), 100), "a b");
  EXPECT_EQ(plain_text("a\xFF"
                       "b\xE2\x82",
                       100),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
}

TEST(PlainText, CutsBetweenCodePoints) {
  EXPECT_EQ(plain_text("ab\xE2\x82\xAC", 5), "ab\xE2\x82\xAC");
  EXPECT_EQ(plain_text("ab\xE2\x82\xAC", 4), "ab");
  EXPECT_EQ(plain_text("a b", 2), "a");
  EXPECT_EQ(plain_text("", 0), "");
}

}  // namespace
}  // namespace assay::structured

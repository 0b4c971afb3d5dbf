#include "schema/excerpt.h"

#include <gtest/gtest.h>

namespace assay::schema {
namespace {

TEST(Excerpt, KeepsWhatFits) {
  EXPECT_EQ(excerpt("", 5), "");
  EXPECT_EQ(excerpt("12345", 5), "12345");
}

TEST(Excerpt, CutsVisiblyWithinTheLimit) {
  EXPECT_EQ(excerpt("123456", 5), "12\u2026");
  EXPECT_EQ(excerpt("123456", 3), "\u2026");
}

TEST(Excerpt, CutsBetweenCharacters) {
  EXPECT_EQ(excerpt("a\u20AC\u20AC\u20AC", 8), "a\u20AC\u2026");
  EXPECT_EQ(excerpt("a\u20AC\u20AC\u20AC", 9), "a\u20AC\u2026");
}

TEST(Quoted, EscapesWhatWouldBreakALine) {
  EXPECT_EQ(quoted("a\"b\\c\n\t\r\x01\x7F", 80), R"("a\"b\\c\n\t\r\u0001\u007f")");
}

TEST(Quoted, HoldsItsLimitAndCutsNoEscapeInTwo) {
  EXPECT_EQ(quoted("abcdef", 8), "\"abcdef\"");
  EXPECT_EQ(quoted("abcdefg", 8), "\"abc\u2026\"");
  EXPECT_EQ(quoted("ab\n\n\n\n", 10), "\"ab\\n\u2026\"");
  EXPECT_EQ(quoted("a\u20AC\u20AC\u20AC", 9), "\"a\u20AC\u2026\"");
  for (std::size_t limit = 5; limit < 40; ++limit) {
    EXPECT_LE(quoted("\x01\u20AC\"xyz\u20AC\u20AC\x02 and some more text here", limit).size(), limit);
  }
}

}  // namespace
}  // namespace assay::schema

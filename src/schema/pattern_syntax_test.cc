#include "schema/pattern_syntax.h"

#include <gtest/gtest.h>

namespace assay::schema {
namespace {

std::uint64_t positions(std::string_view expression) {
  const auto syntax = read_pattern(expression);
  EXPECT_TRUE(syntax) << expression;
  return syntax ? syntax->positions() : 0;
}

TEST(PatternSyntax, ReadsWhatSchemasUse) {
  for (const char* expression : {"",
                                 "^",
                                 "$",
                                 "^$",
                                 "a",
                                 "^[A-Z]{2}-\\d+$",
                                 "^(\\d{4})-(\\d{2})$",
                                 "(?:a|b)+?",
                                 "a|^b|c$",
                                 "(|a)",
                                 "(?i)yes|no",
                                 "(?s)^.*$",
                                 "\\.json$",
                                 "^\\/",
                                 "[\\w.-]+@[\\w-]+",
                                 "[\u00E4-\u00FC]",
                                 "[^\\n]{0,1000}",
                                 "a{0}",
                                 "[-a]",
                                 "[a-]"}) {
    EXPECT_TRUE(read_pattern(expression)) << expression;
  }
}

TEST(PatternSyntax, LeavesTheRestToRe2) {
  for (const char* expression : {"\\bx",      "\\pL",       "[[:alpha:]]",
                                 "a**",       "a+*",        "a{1001}",
                                 "a{2,1}",    "a{,2}",      "a{00,6}",
                                 "a{1,01}",   "{",          "]",
                                 "}",         "[",          "[]a]",
                                 "[^]",       "[a-z-9]",    "[z-a]",
                                 "[\\d-x]",   "[a-\\d]",    "[a",
                                 "\\x41",     "\\",         "\\_",
                                 "a(?i)b",    "(?i)\u00E4", "(?i)[a-\u00E4]",
                                 "^^a",       "a^",         "$a",
                                 "(^a)",      "(a$)",       "+",
                                 "^*",        "(a",         "a)",
                                 "(?=a)",     "(?P<n>a)",   "(?<n>a)",
                                 "\\1",       "\\Qa\\E",    "(){2}",
                                 "(a{0}){9}", "(?x)a",      "()*",
                                 "\\C"}) {
    EXPECT_FALSE(read_pattern(expression)) << expression;
  }
  std::string nested;
  for (int i = 0; i < 33; ++i) nested += "(";
  for (int i = 0; i < 33; ++i) nested += ")";
  EXPECT_FALSE(read_pattern(nested));
  EXPECT_TRUE(read_pattern(nested.substr(1, 64)));
}

TEST(PatternSyntax, CountsPositionsWithRepetitionsWrittenOut) {
  EXPECT_EQ(positions(""), 0U);
  EXPECT_EQ(positions("abc"), 3U);
  EXPECT_EQ(positions("a|[b-z]\\d"), 3U);
  EXPECT_EQ(positions("a{3}b{2,5}c{4,}d*e{0}"), 13U);
  EXPECT_EQ(positions("((a{2}b){3}c){2}"), 20U);
  EXPECT_EQ(positions("((((a{100}){100}){100}){100}){100}"), 1000000U);
}

TEST(CodePoints, StayApartAndInOrder) {
  CodePoints set;
  set.add('m', 'p');
  set.add('a', 'c');
  set.add('d', 'd');
  set.add('x', 'z');
  EXPECT_EQ(std::vector(set.ranges().begin(), set.ranges().end()),
            (std::vector<CodePoints::Range>{{'a', 'd'}, {'m', 'p'}, {'x', 'z'}}));
  set.add('b', 'y');
  EXPECT_EQ(set.ranges().size(), 1U);
  set.invert();
  EXPECT_EQ(std::vector(set.ranges().begin(), set.ranges().end()),
            (std::vector<CodePoints::Range>{{0, 'a' - 1}, {'z' + 1, 0x10FFFF}}));
  set.invert();
  set.fold_case();
  EXPECT_EQ(std::vector(set.ranges().begin(), set.ranges().end()),
            (std::vector<CodePoints::Range>{{'A', 'Z'}, {'a', 'z'}, {0x17F, 0x17F}, {0x212A, 0x212A}}));
}

}  // namespace
}  // namespace assay::schema

#include "providers/string_joiner.h"

#include <gtest/gtest.h>

namespace assay::providers {
namespace {

std::string join(Unencodable policy, std::initializer_list<std::string_view> literals) {
  StringJoiner joiner(policy);
  std::string text;
  for (const std::string_view literal : literals) text += joiner.append(literal);
  return text + joiner.finish();
}

TEST(StringJoiner, Unescapes) {
  EXPECT_EQ(join(Unencodable::Keep, {R"("")"}), "");
  EXPECT_EQ(join(Unencodable::Keep, {R"("a\"\\\/\b\f\n\r\tz")"}), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(join(Unencodable::Keep, {R"("\u0041\u00e9\u4F60\ud83d\ude00")"}), "A\xC3\xA9\xE4\xBD\xA0\xF0\x9F\x98\x80");
}

TEST(StringJoiner, JoinsAPairThatIsCutInTwo) {
  for (const Unencodable policy : {Unencodable::Keep, Unencodable::Replace}) {
    EXPECT_EQ(join(policy, {R"("a\ud83d")", R"("")", R"("\uDE00b")"}),
              "a\xF0\x9F\x98\x80"
              "b");
  }
}

TEST(StringJoiner, ReplacesWhatNoTextCanHold) {
  EXPECT_EQ(join(Unencodable::Replace, {R"("\ud83dx")"}), "\xEF\xBF\xBDx");
  EXPECT_EQ(join(Unencodable::Replace, {R"("\ud83d\n")"}), "\xEF\xBF\xBD\n");
  EXPECT_EQ(join(Unencodable::Replace, {R"("\ud83d\ud83d")"}), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(join(Unencodable::Replace, {R"("\ude00\u0000")"}), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(StringJoiner, KeepsThemForAJudgeThatComesLater) {
  using namespace std::string_literals;
  EXPECT_EQ(join(Unencodable::Keep, {R"("\u0000")"}), "\0"s);
  EXPECT_EQ(join(Unencodable::Keep, {R"("\ud83d")"}), "\xED\xA0\xBD");
  EXPECT_EQ(join(Unencodable::Keep, {R"("\ude00")"}), "\xED\xB8\x80");
}

}  // namespace
}  // namespace assay::providers

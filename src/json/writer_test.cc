#include "json/writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "json/document.h"

namespace assay::json {
namespace {

std::string written(std::string_view text) { return Writer().string(text).take(); }

TEST(JsonWriter, PlacesCommas) {
  Writer writer;
  writer.begin_object().member("a", 1).key("b").begin_array().null().boolean(true).begin_object().end_object();
  writer.begin_array().end_array().raw("1.0").end_array().member("c", "x").member("d", false);
  writer.raw_member("e", "{}").member("f", std::string_view("y")).end_object();
  EXPECT_EQ(writer.take(), R"({"a":1,"b":[null,true,{},[],1.0],"c":"x","d":false,"e":{},"f":"y"})");
}

TEST(JsonWriter, CanBeUsedAgain) {
  Writer writer;
  EXPECT_EQ(writer.number(1).take(), "1");
  EXPECT_EQ(writer.begin_array().number(2).end_array().take(), "[2]");
}

TEST(JsonWriter, WritesTheWholeRangeOfIntegers) {
  EXPECT_EQ(Writer().number(std::numeric_limits<std::int64_t>::min()).take(), "-9223372036854775808");
  EXPECT_EQ(Writer().number(std::numeric_limits<std::uint64_t>::max()).take(), "18446744073709551615");
}

TEST(JsonWriter, EscapesWhatItMust) {
  EXPECT_EQ(written("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(written("\b\f\n\r\t\x01\x1f\x7f"), "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
  EXPECT_EQ(written("\u00e9\u2028\U0001F600"), "\"\u00e9\u2028\U0001F600\"");
  EXPECT_EQ(Writer().begin_object().key("a\nb").null().end_object().take(), R"({"a\nb":null})");
}

TEST(JsonWriter, ReplacesWhatIsNoText) {
  EXPECT_EQ(written("a\xff"
                    "b"),
            "\"a\uFFFDb\"");
  EXPECT_EQ(written("\xe2\x82"), "\"\uFFFD\"");
  EXPECT_EQ(written("\xed\xa0\x80"), "\"\uFFFD\uFFFD\uFFFD\"");
  EXPECT_EQ(written("\xf0\x9f\x98x"), "\"\uFFFDx\"");
  EXPECT_EQ(written(std::string_view("a\0b", 3)), "\"a\uFFFDb\"");
}

TEST(JsonWriter, WritesWhatTheStrictBoundaryAccepts) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second), 'x'};
      ASSERT_TRUE(Document::parse(written(text), {})) << first << " " << second;
    }
  }
}

}  // namespace
}  // namespace assay::json

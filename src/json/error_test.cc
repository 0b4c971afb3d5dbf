#include "json/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace assay::json {
namespace {

TEST(JsonError, NamesEachCodeApart) {
  std::set<std::string> names;
  std::set<std::string> texts;
  const auto last = static_cast<std::uint8_t>(ErrorCode::TooManyElements);
  for (std::uint8_t i = 0; i <= last; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    const std::string name(code_name(code));
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos) << name;
    names.insert(name);
    texts.insert(describe({code, 3}));
  }
  EXPECT_EQ(names.size(), last + 1U);
  EXPECT_EQ(texts.size(), last + 1U);
}

TEST(JsonError, SaysWhere) {
  EXPECT_EQ(describe({ErrorCode::DuplicateKey, 812}), "duplicate key in an object at byte 812");
  EXPECT_EQ(describe({ErrorCode::TooLong, 0}), "the document is too long");
}

TEST(JsonError, CountsLinesAndColumns) {
  const std::string_view text = "a\nbc\n\nd";
  const auto at = [&](std::size_t offset) {
    const LineColumn where = line_and_column(text, offset);
    return std::to_string(where.line) + ":" + std::to_string(where.column);
  };
  EXPECT_EQ(at(0), "1:1");
  EXPECT_EQ(at(1), "1:2");
  EXPECT_EQ(at(2), "2:1");
  EXPECT_EQ(at(3), "2:2");
  EXPECT_EQ(at(5), "3:1");
  EXPECT_EQ(at(6), "4:1");
  EXPECT_EQ(at(7), "4:2");
  EXPECT_EQ(at(99), "4:2");
}

}  // namespace
}  // namespace assay::json

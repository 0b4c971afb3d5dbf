#include "json/member.h"

#include <gtest/gtest.h>

namespace assay::json {
namespace {

TEST(StringMember, IsTheStringOrNothing) {
  const auto document = Document::parse(R"({"a":"x","b":7,"c":[]})", kOutputCaps);
  EXPECT_EQ(string_member(document->root(), "a"), "x");
  EXPECT_EQ(string_member(document->root(), "b"), std::nullopt);
  EXPECT_EQ(string_member(document->root(), "z"), std::nullopt);
  EXPECT_EQ(string_member(*document->root().find("c"), "a"), std::nullopt);
}

}  // namespace
}  // namespace assay::json

#include "schema/keyword.h"

#include <gtest/gtest.h>

#include <set>

namespace assay::schema {
namespace {

TEST(Keyword, EveryOneIsFoundByItsName) {
  std::set<Keyword> seen;
  for (const KeywordInfo& info : keywords()) {
    EXPECT_EQ(find_keyword(info.name), &info);
    EXPECT_TRUE(seen.insert(info.keyword).second) << info.name;
    EXPECT_EQ(find_refused_keyword(info.name), nullptr) << info.name;
  }
}

TEST(Keyword, OthersAreNotFound) {
  for (const char* name : {"", "Type", "types", "typ", "itemss", "$ref", "$id", "x"})
    EXPECT_EQ(find_keyword(name), nullptr) << name;
  for (const RefusedKeyword& refused : refused_keywords()) {
    EXPECT_EQ(find_keyword(refused.name), nullptr) << refused.name;
    EXPECT_EQ(find_refused_keyword(refused.name), &refused);
  }
}

}  // namespace
}  // namespace assay::schema

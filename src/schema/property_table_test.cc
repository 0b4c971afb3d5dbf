#include "schema/property_table.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::schema {
namespace {

PropertyTable table_of(const std::vector<std::string>& names) {
  std::vector<PropertyTable::Entry> entries;
  for (const std::string& name : names) entries.push_back({.key = name});
  return PropertyTable(std::move(entries));
}

TEST(PropertyTable, AnEmptyOneFindsNothing) {
  EXPECT_EQ(PropertyTable().find(""), PropertyTable::kNone);
  EXPECT_EQ(PropertyTable().find("a"), PropertyTable::kNone);
}

TEST(PropertyTable, FindsEveryNameAndNoOther) {
  for (const std::size_t count : {1U, 2U, 7U, 64U, 256U, 3000U}) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(std::string(i % 23, 'k') + std::to_string(i));
    const PropertyTable table = table_of(names);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(table.find(names[i]), i) << names[i];
      EXPECT_EQ(table.find(names[i] + "x"), PropertyTable::kNone);
      EXPECT_EQ(table.find("x" + names[i]), PropertyTable::kNone);
    }
  }
}

TEST(PropertyTable, TellsNamesApartThatShareEndsAndLength) {
  const std::vector<std::string> names = {"",
                                          "a",
                                          "b",
                                          "ab",
                                          "ba",
                                          "aaaaaaaaaaaaaaaaaaaaaaaaX",
                                          "aaaaaaaaaaaaXaaaaaaaaaaaa",
                                          "aaaaaaaaXaaaaaaaa",
                                          "aaaaaaaaYaaaaaaaa"};
  const PropertyTable table = table_of(names);
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(table.find(names[i]), i) << names[i];
}

}  // namespace
}  // namespace assay::schema

#include "schema/property_table.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace assay::schema {
namespace {

// Names with what find may read behind them.
class Names {
 public:
  void add(std::string name) {
    sizes_.push_back(name.size());
    names_.push_back(name.append(PropertyTable::kReadableBytes, '?'));
  }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t i) const {
    return std::string_view(names_[i]).substr(0, sizes_[i]);
  }
  [[nodiscard]] PropertyTable table() const {
    std::vector<PropertyTable::Entry> entries;
    for (std::size_t i = 0; i < size(); ++i) entries.push_back({.key = (*this)[i], .required = i % 2 == 0});
    return PropertyTable(std::move(entries));
  }

 private:
  std::deque<std::string> names_;
  std::vector<std::size_t> sizes_;
};

void expect_found(const PropertyTable& table, std::string_view name, std::size_t position) {
  const PropertyTable::Match* match = table.find(name);
  ASSERT_NE(match, nullptr) << name;
  EXPECT_EQ(match->position, position);
  EXPECT_EQ(match->required, position % 2 == 0 ? 1U : 0U);
  EXPECT_EQ(table.at(match->position).key, name);
}

TEST(PropertyTable, AnEmptyOneFindsNothing) {
  EXPECT_EQ(PropertyTable().find("a"), nullptr);
  EXPECT_EQ(PropertyTable(std::vector<PropertyTable::Entry>{}).find("a"), nullptr);
}

TEST(PropertyTable, FindsEveryNameAndNoOther) {
  for (const std::size_t count : {1U, 2U, 7U, 64U, 256U, 3000U}) {
    Names names;
    Names others;
    for (std::size_t i = 0; i < count; ++i) {
      names.add(std::string(i % 23, 'k') + std::to_string(i));
      others.add(std::string(names[i]) + "x");
      others.add("x" + std::string(names[i]));
    }
    const PropertyTable table = names.table();
    for (std::size_t i = 0; i < count; ++i) expect_found(table, names[i], i);
    for (std::size_t i = 0; i < others.size(); ++i) EXPECT_EQ(table.find(others[i]), nullptr) << others[i];
  }
}

TEST(PropertyTable, TellsNamesApartThatShareEndsAndLength) {
  Names names;
  for (const char* name :
       {"", "a", "b", "ab", "ba", "aaaaaaaaaaaaaaaaaaaaaaaaX", "aaaaaaaaaaaaXaaaaaaaaaaaa", "aaaaaaaaXaaaaaaaa",
        "aaaaaaaaYaaaaaaaa", "aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaab", "aaaaaaaaaaaaaaa"}) {
    names.add(name);
  }
  names.add(std::string("a\0", 2));
  const PropertyTable table = names.table();
  for (std::size_t i = 0; i < names.size(); ++i) expect_found(table, names[i], i);
}

}  // namespace
}  // namespace assay::schema

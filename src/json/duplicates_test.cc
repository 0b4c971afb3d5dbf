#include "json/duplicates.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "json/hash.h"

namespace assay::json {
namespace {

std::uint64_t same_for_all(std::string_view, std::uint64_t) { return 1; }

std::vector<std::string> distinct(std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) keys.push_back("key" + std::to_string(i));
  return keys;
}

std::vector<std::string_view> views(const std::vector<std::string>& keys) { return {keys.begin(), keys.end()}; }

TEST(JsonDuplicates, FindsTheFirstRepetition) {
  std::vector<std::string> keys = distinct(4096);
  EXPECT_EQ(first_duplicate(views(keys)), kNoDuplicate);
  keys[4000] = keys[17];
  keys[3999] = keys[3998];
  EXPECT_EQ(first_duplicate(views(keys)), 3999U);
  keys[18] = keys[17];
  EXPECT_EQ(first_duplicate(views(keys)), 18U);
}

TEST(JsonDuplicates, AgreesBothWays) {
  SeededRandom random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> keys;
    const std::size_t count = random.below(80);
    const std::uint64_t variety = 1 + random.below(1000);
    for (std::size_t i = 0; i < count; ++i) {
      keys.push_back(std::string(random.below(3) * 9, 'p') + std::to_string(random.below(variety)));
    }
    const TableSearch table = first_duplicate_by_table(views(keys), hash_bytes);
    ASSERT_FALSE(table.gave_up);
    ASSERT_EQ(table.duplicate, first_duplicate_by_sorting(views(keys)));
  }
}

TEST(JsonDuplicates, GivesUpTheTableWhenKeysCollide) {
  const std::vector<std::string> keys = distinct(1000);
  const TableSearch search = first_duplicate_by_table(views(keys), same_for_all);
  EXPECT_TRUE(search.gave_up);
  EXPECT_EQ(first_duplicate_by_sorting(views(keys)), kNoDuplicate);
}

TEST(JsonHash, SeesEveryByteLengthAndSeed) {
  const std::string text(40, 'a');
  for (std::size_t length = 0; length < text.size(); ++length) {
    const std::string_view plain = std::string_view(text).substr(0, length);
    EXPECT_NE(hash_bytes(plain, 1), hash_bytes(plain, 2));
    EXPECT_NE(hash_bytes(plain, 1), hash_bytes(std::string_view(text).substr(0, length + 1), 1));
    for (std::size_t i = 0; i < length; ++i) {
      std::string changed(plain);
      changed[i] = 'b';
      EXPECT_NE(hash_bytes(plain, 1), hash_bytes(changed, 1)) << length << " " << i;
    }
  }
}

TEST(JsonHash, SpreadsSequentialKeysOverLowAndHighBits) {
  std::vector<int> low(64);
  std::vector<int> high(64);
  for (const std::string& key : distinct(64'000)) {
    const std::uint64_t h = hash_bytes(key, 99);
    ++low[h % 64];
    ++high[h >> 58];
  }
  for (int i = 0; i < 64; ++i) {
    EXPECT_NEAR(low[static_cast<std::size_t>(i)], 1000, 200);
    EXPECT_NEAR(high[static_cast<std::size_t>(i)], 1000, 200);
  }
}

TEST(JsonHash, OrdersItsPair) { EXPECT_NE(hash_pair(1, 2, 3), hash_pair(2, 1, 3)); }

}  // namespace
}  // namespace assay::json

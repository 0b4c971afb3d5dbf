#include "json/fingerprints.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace assay::json {
namespace {

// As it lies in a document: other bytes follow.
std::uint32_t print_of(std::string key, std::string_view behind) {
  const std::size_t bytes = key.size();
  key.append(behind).append(16, '\xff');
  return fingerprint(key.data(), bytes);
}

bool repeats(const std::vector<std::uint32_t>& prints) {
  std::size_t next = 0;
  return prints.size() <= kFewPrintsMax ? few_may_repeat(prints.size(), [&] { return prints[next++]; })
                                        : many_may_repeat(prints.size(), [&] { return prints[next++]; });
}

std::vector<std::uint32_t> distinct(std::size_t count) {
  std::vector<std::uint32_t> prints;
  for (std::size_t i = 0; i < count; ++i) prints.push_back(static_cast<std::uint32_t>((i + 1) * 0x9E3779B1));
  return prints;
}

TEST(JsonFingerprint, DependsOnTheKeyAlone) {
  for (std::size_t bytes = 0; bytes < 40; ++bytes) {
    const std::string key(bytes, 'k');
    EXPECT_EQ(print_of(key, "\":1,"), print_of(key, "\"  :  \"other\"")) << bytes;
  }
}

TEST(JsonFingerprint, TellsOrdinaryKeysApart) {
  std::set<std::uint32_t> seen;
  std::size_t keys = 0;
  for (const std::string stem : {"", "id", "description", "a_rather_long_prefix_"}) {
    for (int i = 0; i < 500; ++i) {
      for (const std::string tail : {"", "_name"}) {
        seen.insert(print_of(stem + std::to_string(i) + tail, "\""));
        ++keys;
      }
    }
  }
  EXPECT_EQ(seen.size(), keys);
}

TEST(JsonFingerprint, FindsARepetitionAnywhereAmongFew) {
  for (std::size_t count = 0; count <= kFewPrintsMax; ++count) {
    EXPECT_FALSE(repeats(distinct(count))) << count;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = i + 1; j < count; ++j) {
        auto prints = distinct(count);
        prints[j] = prints[i];
        ASSERT_TRUE(repeats(prints)) << count << " " << i << " " << j;
      }
    }
  }
}

TEST(JsonLatestKeys, SeeARepetitionAmongThem) {
  for (std::size_t count = 1; count <= LatestKeys::kKept; ++count) {
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = i; j < count; ++j) {
        auto prints = distinct(count);
        prints[j] = prints[i];
        LatestKeys keys{};
        for (const std::uint32_t print : prints) keys.add(print);
        ASSERT_EQ(keys.may_repeat(), i != j) << count << " " << i << " " << j;
      }
    }
  }
}

TEST(JsonFingerprint, FindsARepetitionAmongMany) {
  auto prints = distinct(5000);
  EXPECT_FALSE(repeats(prints));
  prints[4000] = prints[70];
  EXPECT_TRUE(repeats(prints));
}

TEST(JsonFingerprint, GivesUpWhenManyCollide) {
  std::vector<std::uint32_t> prints;
  for (std::uint32_t i = 0; i < 4096; ++i) prints.push_back(i << 20 | 1);
  EXPECT_TRUE(repeats(prints));
}

}  // namespace
}  // namespace assay::json

#include "schema/cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace assay::schema {
namespace {

std::string numbered(int number) { return fmt::format(R"({{"const":{}}})", number); }

// The same program, not an equal one.
bool is_same(const Result<Schema, Refusal>& left, const Result<Schema, Refusal>& right) {
  return left && right && left->text().data() == right->text().data();
}

TEST(SchemaCache, CompilesATextOnce) {
  SchemaCache cache;
  const auto first = cache.compile(numbered(1));
  EXPECT_TRUE(is_same(first, cache.compile(numbered(1))));
  EXPECT_FALSE(is_same(first, cache.compile(R"({"const": 1})")));
  EXPECT_EQ(cache.size(), 2U);
}

TEST(SchemaCache, KeepsNoRefusal) {
  SchemaCache cache;
  EXPECT_FALSE(cache.compile(R"({"$ref":"#"})"));
  EXPECT_EQ(cache.size(), 0U);
}

TEST(SchemaCache, DropsTheLeastRecentlyUsed) {
  SchemaCache cache({.entries_max = 2});
  const auto first = cache.compile(numbered(1));
  const auto second = cache.compile(numbered(2));
  EXPECT_TRUE(is_same(first, cache.compile(numbered(1))));
  EXPECT_TRUE(cache.compile(numbered(3)));
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_TRUE(is_same(first, cache.compile(numbered(1))));
  EXPECT_FALSE(is_same(second, cache.compile(numbered(2))));
}

TEST(SchemaCache, CountsBytes) {
  const std::size_t one = Schema::compile(numbered(1))->memory_bytes();
  SchemaCache cache({.entries_max = 100, .bytes_max = 2 * one});
  for (int i = 1; i <= 5; ++i) EXPECT_TRUE(cache.compile(numbered(i)));
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(cache.bytes(), 2 * one);
  SchemaCache small({.entries_max = 100, .bytes_max = one - 1});
  EXPECT_TRUE(small.compile(numbered(1)));
  EXPECT_EQ(small.size(), 0U);
}

TEST(SchemaCache, IsSharedBetweenThreads) {
  SchemaCache cache({.entries_max = 3});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&cache, i] {
      for (int round = 0; round < 200; ++round) {
        const std::string text = numbered((round + i) % 5);
        const auto schema = cache.compile(text);
        ASSERT_TRUE(schema);
        EXPECT_EQ(schema->text(), text);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.size(), 3U);
}

}  // namespace
}  // namespace assay::schema

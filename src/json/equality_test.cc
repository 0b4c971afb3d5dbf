#include "json/equality.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::json {
namespace {

Document doc(std::string text, Dialect dialect = Dialect::Strict) {
  return *Document::parse(std::move(text), {.depth_max = kUnlimited}, dialect);
}

void expect_equal(const std::string& left, const std::string& right) {
  const Document a = doc(left);
  const Document b = doc(right);
  EXPECT_TRUE(equal(a.root(), b.root())) << left << " " << right;
  EXPECT_TRUE(equal(b.root(), a.root())) << left << " " << right;
  EXPECT_EQ(hash(a.root(), 42), hash(b.root(), 42)) << left << " " << right;
}

void expect_different(const std::string& left, const std::string& right) {
  const Document a = doc(left);
  const Document b = doc(right);
  EXPECT_FALSE(equal(a.root(), b.root())) << left << " " << right;
  EXPECT_FALSE(equal(b.root(), a.root())) << left << " " << right;
  EXPECT_NE(hash(a.root(), 42), hash(b.root(), 42)) << left << " " << right;
}

TEST(JsonEquality, IgnoresSpelling) {
  expect_equal("1", "1.0");
  expect_equal("-0", "0");
  expect_equal("[1e2, 10]", "[100,1.0e1]");
  expect_equal(R"("a\u0062")", R"("ab")");
  expect_equal(R"({"a":1,"b":[2]})", R"({"b":[2.0], "\u0061":10e-1})");
  expect_equal(R"({"a":{"x":1,"y":2},"b":0})", R"({"b":0,"a":{"y":2,"x":1}})");
  expect_equal("[]", "[ ]");
}

TEST(JsonEquality, TellsApart) {
  expect_different("1", "2");
  expect_different("9007199254740993", "9007199254740992");
  expect_different("1", "\"1\"");
  expect_different("0", "false");
  expect_different("1", "true");
  expect_different("null", "false");
  expect_different("\"\"", "null");
  expect_different("[]", "{}");
  expect_different("[1,2]", "[2,1]");
  expect_different("[1]", "[1,1]");
  expect_different("[[1],2]", "[[1,2]]");
  expect_different(R"({"a":1})", R"({"b":1})");
  expect_different(R"({"a":1})", R"({"a":1,"b":1})");
  expect_different(R"({"a":1,"b":2})", R"({"a":2,"b":1})");
  expect_different(R"({"a":1,"b":2,"c":3})", R"({"a":1,"d":2,"c":3})");
}

TEST(JsonEquality, HandlesManyMembersInAnyOrder) {
  std::string forward = "{";
  std::string backward = "{";
  for (int i = 0; i < 2000; ++i) {
    forward += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + ",";
    backward += "\"k" + std::to_string(1999 - i) + "\":" + std::to_string(1999 - i) + ".0,";
  }
  forward.back() = backward.back() = '}';
  expect_equal(forward, backward);
}

TEST(JsonEquality, NeedsNoNativeStack) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  expect_equal(deep, deep);
  const std::string other = std::string(200'000, '[') + "1" + std::string(200'000, ']');
  expect_different(deep, other);
}

TEST(JsonEquality, ComparesLenientDuplicatesInOrder) {
  const Document a = doc(R"({"a":1,"b":0,"a":2})", Dialect::Lenient);
  const Document b = doc(R"({"b":0,"a":1,"a":2})", Dialect::Lenient);
  const Document c = doc(R"({"a":2,"a":1,"b":0})", Dialect::Lenient);
  EXPECT_TRUE(equal(a.root(), b.root()));
  EXPECT_EQ(hash(a.root(), 1), hash(b.root(), 1));
  EXPECT_FALSE(equal(a.root(), c.root()));
}

TEST(JsonEquality, ComparesNumbersBeyondTheLimitsByTheirText) {
  const Document a = doc("1e9999", Dialect::Lenient);
  const Document b = doc("10e9998", Dialect::Lenient);
  EXPECT_TRUE(equal(a.root(), a.root()));
  EXPECT_FALSE(equal(a.root(), b.root()));
}

TEST(JsonHash, DependsOnTheSeed) {
  const Document document = doc(R"({"a":[1,"x"]})");
  EXPECT_NE(hash(document.root(), 1), hash(document.root(), 2));
}

}  // namespace
}  // namespace assay::json

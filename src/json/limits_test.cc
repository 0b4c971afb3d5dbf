// Every cap at its edge.
#include "json/limits.h"

#include <gtest/gtest.h>

#include <string>

#include "json/document.h"
#include "json/error.h"

namespace assay::json {
namespace {

std::string verdict(std::string text, const Caps& caps, Dialect dialect = Dialect::Strict) {
  const auto document = Document::parse(std::move(text), caps, dialect);
  if (document) return "accepted";
  return std::string(code_name(document.error().code)) + "@" + std::to_string(document.error().offset);
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

std::string nested(std::size_t depth, std::string_view inner) {
  return std::string(depth, '[') + std::string(inner) + std::string(depth, ']');
}

TEST(JsonCaps, BoundTheBytes) {
  EXPECT_EQ(verdict("\"12345\"", {.bytes_max = 8}), "accepted");
  EXPECT_EQ(verdict("\"123456\"", {.bytes_max = 8}), "accepted");
  EXPECT_EQ(verdict("\"1234567\"", {.bytes_max = 8}), "too_long@0");
  // By its length alone, whatever it holds.
  EXPECT_EQ(verdict(std::string(9, '\xff'), {.bytes_max = 8}), "too_long@0");
}

TEST(JsonCaps, BoundTheContainersAroundAValue) {
  EXPECT_EQ(verdict(nested(2, "1"), {.depth_max = 3}), "accepted");
  EXPECT_EQ(verdict(nested(3, "1"), {.depth_max = 3}), "accepted");
  EXPECT_EQ(verdict(nested(3, "[]"), {.depth_max = 3}), "accepted");
  EXPECT_EQ(verdict(nested(4, "1"), {.depth_max = 3}), "too_deep@4");
  EXPECT_EQ(verdict(nested(4, "[]"), {.depth_max = 3}), "too_deep@4");
  EXPECT_EQ(verdict(R"({"a":{"b":1}})", {.depth_max = 1}), "too_deep@10");
  EXPECT_EQ(verdict("1", {.depth_max = 0}), "accepted");
  EXPECT_EQ(verdict("[]", {.depth_max = 0}), "accepted");
  EXPECT_EQ(verdict("[1]", {.depth_max = 0}), "too_deep@1");
}

TEST(JsonCaps, BoundTheValues) {
  const Caps caps{.values_max = 4};
  EXPECT_EQ(verdict("[1,2]", caps), "accepted");
  EXPECT_EQ(verdict("[1,2,3]", caps), "accepted");
  EXPECT_EQ(verdict("[1,2,3,4]", caps), "too_many_values@7");
  EXPECT_EQ(verdict(R"({"a":{},"b":[1]})", caps), "accepted");
  EXPECT_EQ(verdict(R"({"a":{},"b":[[1]]})", caps), "too_many_values@14");
  // A byte that begins no value is the earlier fault.
  EXPECT_EQ(verdict("[1,2,3,]", caps), "unexpected_character@7");
}

TEST(JsonCaps, BoundTheElementsOfOneArray) {
  const Caps caps{.elements_max = 3};
  EXPECT_EQ(verdict("[1,2]", caps), "accepted");
  EXPECT_EQ(verdict("[1,[2,3,4],5]", caps), "accepted");
  EXPECT_EQ(verdict("[1,2,3,4]", caps), "too_many_elements@7");
  EXPECT_EQ(verdict(R"({"a":1,"b":2,"c":3,"d":4,"e":5})", caps), "accepted");
  EXPECT_EQ(verdict("[1,2,3,]", caps), "unexpected_character@7");
}

TEST(JsonCaps, BoundNumberLiterals) {
  EXPECT_EQ(verdict(std::string(127, '1'), {}), "accepted");
  EXPECT_EQ(verdict(std::string(128, '1'), {}), "accepted");
  EXPECT_EQ(verdict(std::string(129, '1'), {}), "number_too_long@0");
  EXPECT_EQ(verdict("0." + std::string(127, '1'), {}), "number_too_long@0");
  EXPECT_EQ(verdict("[1e1023,1e+1024,1E-1024,1e-001024]", {}), "accepted");
  EXPECT_EQ(verdict("[1e1025]", {}), "exponent_too_large@1");
  EXPECT_EQ(verdict("[1e-1025]", {}), "exponent_too_large@1");
  EXPECT_EQ(verdict("1e99999999999999999999", {}), "exponent_too_large@0");
  EXPECT_EQ(verdict(std::string(200, '1') + "." + std::string(200, '1') + "e99999", {}, Dialect::Lenient), "accepted");
}

TEST(JsonCaps, OfTheContractHold) {
  EXPECT_EQ(verdict(nested(16, "1"), kSchemaCaps), "accepted");
  EXPECT_EQ(verdict(nested(17, "1"), kSchemaCaps), "too_deep@17");
  EXPECT_EQ(verdict("\"" + std::string(16 * 1024 - 2, 'x') + "\"", kSchemaCaps), "accepted");
  EXPECT_EQ(verdict("\"" + std::string(16 * 1024 - 1, 'x') + "\"", kSchemaCaps), "too_long@0");
  const std::string full = "[" + repeated("0,", 255) + "0]";
  EXPECT_EQ(verdict(full, kOutputCaps), "accepted");
  EXPECT_EQ(verdict("[0," + full.substr(1), kOutputCaps), "too_many_elements@513");
  EXPECT_EQ(verdict(nested(32, "1"), kOutputCaps), "accepted");
  EXPECT_EQ(verdict(nested(33, "1"), kOutputCaps), "too_deep@33");
  // 1 + 16 × 255 + 15 = 4096 values.
  const std::string wide = "[" + repeated("[" + repeated("0,", 253) + "0],", 16) + repeated("0,", 14) + "0]";
  EXPECT_EQ(verdict(wide, kOutputCaps), "accepted");
  EXPECT_EQ(verdict("[0," + wide.substr(1), kOutputCaps).substr(0, 15), "too_many_values");
  EXPECT_EQ(verdict(R"({"value":)" + wide + "}", kArgumentsCaps), "accepted");
}

TEST(JsonCaps, UnlimitedDepthNeedsNoNativeStack) {
  EXPECT_EQ(verdict(nested(1'000'000, ""), {.depth_max = kUnlimited}), "accepted");
  EXPECT_EQ(verdict(std::string(1'000'000, '['), {.depth_max = kUnlimited}), "unexpected_end@1000000");
  EXPECT_EQ(verdict(repeated("{\"a\":", 100'000), {.depth_max = kUnlimited}), "unexpected_end@500000");
}

}  // namespace
}  // namespace assay::json

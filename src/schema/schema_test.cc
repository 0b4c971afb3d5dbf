#include "schema/schema.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "json/limits.h"

namespace assay::schema {
namespace {

TEST(Schema, CarriesTheRawBoundarysCodeAndPlace) {
  const auto duplicate = Schema::compile(R"({"properties":{"a":{},"\u0061":{}}})");
  ASSERT_FALSE(duplicate);
  EXPECT_EQ(duplicate.error().code, RefusalCode::RawJson);
  EXPECT_EQ(duplicate.error().code_name, "duplicate_key");
  EXPECT_EQ(duplicate.error().offset, 22U);
  EXPECT_FALSE(duplicate.error().detail.empty());
  const auto code_of = [](const std::string& text) {
    const auto compiled = Schema::compile(text);
    return compiled ? "ok" : compiled.error().code_name;
  };
  EXPECT_EQ(code_of(""), "empty");
  EXPECT_EQ(code_of("{} {}"), "trailing_data");
  EXPECT_EQ(code_of(R"({"maximum":1e1025})"), "exponent_too_large");
  EXPECT_EQ(code_of(R"({"const":"\ud800"})"), "lone_surrogate");
  EXPECT_EQ(code_of(R"({"const":"\u0000"})"), "nul_character");
}

TEST(Schema, HoldsTheCapsOfASchemaDocument) {
  const std::string frame = R"({"title":""})";
  const auto titled = [&](std::size_t bytes) {
    return R"({"title":")" + std::string(bytes - frame.size(), 't') + "\"}";
  };
  EXPECT_TRUE(Schema::compile(titled(json::kSchemaCaps.bytes_max)));
  EXPECT_EQ(Schema::compile(titled(json::kSchemaCaps.bytes_max + 1)).error().code_name, "too_long");
  const auto nested = [](std::size_t depth) {
    return "{\"default\":" + std::string(depth - 1, '[') + "1" + std::string(depth - 1, ']') + "}";
  };
  EXPECT_TRUE(Schema::compile(nested(json::kSchemaCaps.depth_max)));
  EXPECT_EQ(Schema::compile(nested(json::kSchemaCaps.depth_max + 1)).error().code_name, "too_deep");
}

TEST(Schema, SurvivesAHundredThousandContainers) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += R"({"not":)";
  const auto refused = Schema::compile(deep);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code_name, "too_long");
}

TEST(Schema, NeverLoadsAReference) {
  for (const char* text :
       {R"({"$ref":"http://192.0.2.10/x.json"})", R"({"properties":{"a":{"$ref":"file:///etc/passwd"}}})",
        R"({"$id":"http://192.0.2.10/","properties":{}})", R"({"$schema":"http://192.0.2.10/schema"})"}) {
    EXPECT_FALSE(Schema::compile(text)) << text;
  }
}

TEST(Schema, KeepsItsExactText) {
  const std::string text = " {\n\"maximum\" : 10.00 } ";
  const auto schema = Schema::compile(text);
  ASSERT_TRUE(schema);
  EXPECT_EQ(schema->text(), text);
  EXPECT_GT(schema->memory_bytes(), text.size());
}

TEST(Schema, BooleansAreSchemas) {
  const auto anything = Schema::compile("true");
  const auto nothing = Schema::compile("false");
  ASSERT_TRUE(anything && nothing);
  const auto instance = json::Document::parse("[1]", json::kOutputCaps);
  EXPECT_TRUE(anything->is_valid(instance->root()));
  EXPECT_FALSE(nothing->is_valid(instance->root()));
}

TEST(Schema, IsSharedBetweenThreads) {
  const auto schema = Schema::compile(R"({"items":{"pattern":"^(a|b)*c$"},"uniqueItems":true})");
  ASSERT_TRUE(schema);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([copy = *schema] {
      const auto instance = json::Document::parse(R"(["abababc","c","bbbbc"])", json::kOutputCaps);
      for (int round = 0; round < 200; ++round) EXPECT_TRUE(copy.is_valid(instance->root()));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Schema, VerdictsAreDeterministic) {
  const auto schema =
      Schema::compile(R"({"additionalProperties":{"type":"string","minLength":2},"propertyNames":{"maxLength":1}})");
  ASSERT_TRUE(schema);
  const auto one = json::Document::parse(R"({"aa":1,"b":"","c":2,"dd":"x","e":"yy"})", json::kOutputCaps);
  const auto other = json::Document::parse(R"({"e":"yy","dd":"x","c":2,"b":"","aa":1})", json::kOutputCaps);
  const Verdict verdict = schema->validate(one->root());
  EXPECT_EQ(verdict.issues, schema->validate(one->root()).issues);
  EXPECT_EQ(verdict.issues, schema->validate(other->root()).issues);
  EXPECT_TRUE(std::ranges::is_sorted(verdict.issues));
}

TEST(RefusalCode, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(RefusalCode::PatternTooComplex); ++code) {
    EXPECT_TRUE(names.insert(code_name(static_cast<RefusalCode>(code))).second);
  }
}

// Distinct patterns, each of so many positions.
std::string patterns_of(std::size_t count, std::size_t positions, std::size_t last_positions) {
  std::string properties;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t wanted = i + 1 == count ? last_positions : positions;
    properties +=
        fmt::format(R"({}"{}":{{"pattern":"{}(a?){{{}}}"}})", i == 0 ? "" : ",", i, char('b' + i), wanted - 1);
  }
  return R"({"properties":{)" + properties + "}}";
}

TEST(Schema, LimitsThePositionsOfAllPatternsTogether) {
  EXPECT_TRUE(Schema::compile(patterns_of(16, 256, 256)));
  const auto refused = Schema::compile(patterns_of(17, 256, 2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, RefusalCode::PatternTooComplex);
  EXPECT_EQ(refused.error().pointer, "/properties/16/pattern");
  EXPECT_TRUE(Schema::compile(R"({"allOf":[{"pattern":"(a?){256}"},{"pattern":"(a?){256}"}]})")) << "counted once";
}

}  // namespace
}  // namespace assay::schema

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "schema/limits.h"
#include "schema/schema.h"

namespace assay::schema {
namespace {

std::string code_of(const std::string& schema) {
  const auto compiled = Schema::compile(schema);
  return compiled ? "ok" : compiled.error().code_name;
}

std::string pointer_of(const std::string& schema) {
  const auto compiled = Schema::compile(schema);
  return compiled ? "compiled" : compiled.error().pointer;
}

std::string repeated(const std::string& item, std::size_t times) {
  std::string joined;
  for (std::size_t i = 0; i < times; ++i) joined += (i == 0 ? "" : ",") + item;
  return joined;
}

TEST(Screen, RefusesReferencesAndIdentifiersWhereverASchemaStands) {
  for (const char* keyword :
       {"$ref", "$id", "id", "$defs", "definitions", "$anchor", "$vocabulary", "$dynamicRef", "$recursiveRef"}) {
    EXPECT_EQ(code_of(fmt::format(R"({{"{}":{{}}}})", keyword)), "unsupported_keyword") << keyword;
  }
  for (const char* holder :
       {R"({{"properties":{{"a":{}}}}})", R"({{"patternProperties":{{"a":{}}}}})", R"({{"additionalProperties":{}}})",
        R"({{"items":{}}})", R"({{"items":[true,{}]}})", R"({{"additionalItems":{}}})", R"({{"contains":{}}})",
        R"({{"propertyNames":{}}})", R"({{"dependencies":{{"a":{}}}}})", R"({{"if":{}}})", R"({{"then":{}}})",
        R"({{"else":{}}})", R"({{"allOf":[{}]}})", R"({{"anyOf":[{}]}})", R"({{"oneOf":[{}]}})", R"({{"not":{}}})"}) {
    EXPECT_EQ(code_of(fmt::format(fmt::runtime(holder), R"({"$ref":"http://192.0.2.10/x.json"})")),
              "unsupported_keyword")
        << holder;
    EXPECT_EQ(code_of(fmt::format(fmt::runtime(holder), R"({"frobnicate":1})")), "unknown_keyword") << holder;
  }
}

TEST(Screen, NamesThePlace) {
  EXPECT_EQ(pointer_of(R"({"properties":{"a/b":{"items":[true,{"$ref":"#"}]}}})"), "/properties/a~1b/items/1/$ref");
  EXPECT_EQ(pointer_of(R"({"dependencies":{"x":{"format":"regex"}}})"), "/dependencies/x/format");
}

TEST(Screen, LeavesLiteralDataAlone) {
  for (const char* data : {R"({"$id":"http://json-schema.org/draft-07/schema#"})", R"({"$ref":"file:///etc/passwd"})",
                           R"({"frobnicate":{"$schema":"http://json-schema.org/draft-04/schema#"}})"}) {
    EXPECT_EQ(code_of(fmt::format(R"({{"const":{}}})", data)), "ok");
    EXPECT_EQ(code_of(fmt::format(R"({{"default":{}}})", data)), "ok");
    EXPECT_EQ(code_of(fmt::format(R"({{"enum":[{}]}})", data)), "ok");
    EXPECT_EQ(code_of(fmt::format(R"({{"examples":[{}]}})", data)), "ok");
  }
  EXPECT_EQ(code_of(R"({"properties":{"$ref":{"type":"string"},"$id":true,"definitions":{}},"required":["$ref"]})"),
            "ok");
  EXPECT_EQ(code_of(R"({"dependencies":{"$ref":["$id"]},"patternProperties":{"id":{}}})"), "ok");
}

TEST(Screen, AcceptsOneDialectAtTheRoot) {
  EXPECT_EQ(code_of(R"({"$schema":"http://json-schema.org/draft-07/schema#"})"), "ok");
  EXPECT_EQ(code_of(R"({"$schema":"http://json-schema.org/draft-07/schema"})"), "ok");
  for (const char* other :
       {"\"http://json-schema.org/draft-06/schema#\"", "\"https://json-schema.org/draft-07/schema#\"",
        "\"https://json-schema.org/draft/2020-12/schema\"", "\"\"", "7", "null"}) {
    EXPECT_EQ(code_of(fmt::format(R"({{"$schema":{}}})", other)), "unsupported_dialect") << other;
  }
  EXPECT_EQ(code_of(R"({"items":{"$schema":"http://json-schema.org/draft-07/schema#"}})"), "unsupported_keyword");
}

TEST(Screen, RefusesFormatsOutsideTheList) {
  for (const char* format : {"regex", "idn-hostname", "duration", "int32", "Date", ""}) {
    EXPECT_EQ(code_of(fmt::format(R"({{"format":"{}"}})", format)), "unsupported_format") << format;
  }
}

TEST(Screen, CountsNodes) {
  const auto with_nodes = [](std::size_t nodes) { return R"({"items":[)" + repeated("true", nodes - 1) + "]}"; };
  EXPECT_EQ(code_of(with_nodes(kNodesMax - 1)), "ok");
  EXPECT_EQ(code_of(with_nodes(kNodesMax)), "ok");
  EXPECT_EQ(code_of(with_nodes(kNodesMax + 1)), "too_many_nodes");
}

TEST(Screen, CountsBranchesInTheWholeDocument) {
  const auto with_branches = [](std::size_t branches) { return R"({"anyOf":[)" + repeated("{}", branches) + "]}"; };
  EXPECT_EQ(code_of(with_branches(kBranchesMax)), "ok");
  EXPECT_EQ(code_of(with_branches(kBranchesMax + 1)), "too_many_branches");
  const std::string seven =
      R"({"if":{},"then":{},"else":true,"not":false,"allOf":[{}],"oneOf":[{}],"dependencies":{"a":{},"b":["c"]})";
  EXPECT_EQ(code_of(seven + R"(,"items":{"anyOf":[{}]}})"), "ok");
  EXPECT_EQ(code_of(seven + R"(,"items":{"anyOf":[{},{}]}})"), "too_many_branches");
}

TEST(Screen, CountsNestedBranches) {
  const auto nested = [](std::size_t depth) {
    std::string schema = "{}";
    for (std::size_t i = 0; i < depth; ++i) schema = R"({"not":)" + schema + "}";
    return schema;
  };
  EXPECT_EQ(code_of(nested(kBranchNestingMax)), "ok");
  EXPECT_EQ(code_of(nested(kBranchNestingMax + 1)), "branches_too_deep");
  EXPECT_EQ(pointer_of(nested(kBranchNestingMax + 1)), "/not/not/not/not/not");
}

// Where compiling would double with each level, elsewhere.
TEST(Screen, RefusesDeeplyNestedAlternatives) {
  std::string schema = "{}";
  for (int i = 0; i < 12; ++i) schema = R"({"oneOf":[)" + schema + R"(,{"type":"null"}]})";
  EXPECT_EQ(code_of(schema), "too_deep");
  schema = "{}";
  for (int i = 0; i < 6; ++i) schema = R"({"oneOf":[)" + schema + R"(,{"type":"null"}]})";
  EXPECT_EQ(code_of(schema), "branches_too_deep");
}

TEST(Screen, MeasuresPatterns) {
  EXPECT_EQ(code_of(fmt::format(R"({{"pattern":"{}"}})", std::string(kPatternBytesMax, 'a'))), "ok");
  EXPECT_EQ(code_of(fmt::format(R"({{"pattern":"{}"}})", std::string(kPatternBytesMax + 1, 'a'))), "pattern_too_long");
  EXPECT_EQ(code_of(fmt::format(R"({{"patternProperties":{{"{}":true}}}})", std::string(kPatternBytesMax + 1, 'a'))),
            "pattern_too_long");
}

TEST(Screen, CountsPatternPropertiesInTheWholeDocument) {
  EXPECT_EQ(code_of(R"({"patternProperties":{"a":{},"b":{},"c":{}},"items":{"patternProperties":{"d":{}}}})"), "ok");
  EXPECT_EQ(code_of(R"({"patternProperties":{"a":{},"b":{},"c":{}},"items":{"patternProperties":{"d":{},"e":{}}}})"),
            "too_many_pattern_properties");
}

TEST(Screen, AVocabularyFaultGoesBeforeALimitAndALimitBeforeTheMetaSchema) {
  const std::string branches = R"("anyOf":[)" + repeated("{}", kBranchesMax + 1) + "]";
  EXPECT_EQ(code_of("{" + branches + R"(,"frobnicate":1})"), "unknown_keyword");
  EXPECT_EQ(code_of(R"({"type":"nothing",)" + branches + "}"), "too_many_branches");
  EXPECT_EQ(code_of(R"({"pattern":"[a","type":"nothing"})"), "invalid_schema");
}

TEST(Screen, DetailsAreBoundedAndQuoteNoControlCharacters) {
  const auto refused = Schema::compile(R"({")" + std::string(5000, 'k') + R"(\n":1})");
  ASSERT_FALSE(refused);
  EXPECT_LE(refused.error().detail.size(), kDetailBytesMax);
  EXPECT_LE(refused.error().pointer.size(), 512U);
  EXPECT_EQ(refused.error().detail.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace assay::schema

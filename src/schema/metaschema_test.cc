#include <gtest/gtest.h>

#include "schema/keyword.h"
#include "schema/schema.h"

namespace assay::schema {
namespace {

std::string refusal(std::string_view schema) {
  const auto compiled = Schema::compile(schema);
  if (compiled) return "ok";
  return compiled.error().code == RefusalCode::InvalidSchema ? compiled.error().pointer : compiled.error().code_name;
}

TEST(Metaschema, WantsASchemaAtEverySchemaPosition) {
  EXPECT_EQ(refusal("1"), "");
  EXPECT_EQ(refusal("[]"), "");
  EXPECT_EQ(refusal(R"({"properties":{"foo":"bar"}})"), "/properties/foo");
  EXPECT_EQ(refusal(R"({"items":null})"), "/items");
  EXPECT_EQ(refusal(R"({"items":[true,3]})"), "/items/1");
  EXPECT_EQ(refusal(R"({"not":[]})"), "/not");
  EXPECT_EQ(refusal(R"({"anyOf":[{},"x"]})"), "/anyOf/1");
  EXPECT_EQ(refusal(R"({"dependencies":{"a":7}})"), "/dependencies/a");
  EXPECT_EQ(refusal(R"({"additionalProperties":"false"})"), "/additionalProperties");
}

TEST(Metaschema, WantsContainersOfTheRightKind) {
  EXPECT_EQ(refusal(R"({"properties":[]})"), "/properties");
  EXPECT_EQ(refusal(R"({"patternProperties":true})"), "/patternProperties");
  EXPECT_EQ(refusal(R"({"dependencies":[]})"), "/dependencies");
  EXPECT_EQ(refusal(R"({"allOf":[]})"), "/allOf");
  EXPECT_EQ(refusal(R"({"anyOf":{}})"), "/anyOf");
  EXPECT_EQ(refusal(R"({"items":[]})"), "/items");
  EXPECT_EQ(refusal(R"({"enum":"a"})"), "/enum");
  EXPECT_EQ(refusal(R"({"enum":[]})"), "ok");
  EXPECT_EQ(refusal(R"({"enum":[1,1]})"), "ok");
  EXPECT_EQ(refusal(R"({"examples":{}})"), "/examples");
}

TEST(Metaschema, KnowsSevenTypeNames) {
  for (const std::string_view name : kTypeNames) EXPECT_EQ(refusal(R"({"type":")" + std::string(name) + R"("})"), "ok");
  EXPECT_EQ(refusal(R"({"type":"text"})"), "/type");
  EXPECT_EQ(refusal(R"({"type":null})"), "/type");
  EXPECT_EQ(refusal(R"({"type":[]})"), "/type");
  EXPECT_EQ(refusal(R"({"type":["string",1]})"), "/type/1");
  EXPECT_EQ(refusal(R"({"type":["string","null","string"]})"), "/type/2");
}

TEST(Metaschema, WantsDistinctStringsUnderRequired) {
  EXPECT_EQ(refusal(R"({"required":[]})"), "ok");
  EXPECT_EQ(refusal(R"({"required":true})"), "/required");
  EXPECT_EQ(refusal(R"({"required":["a",1]})"), "/required/1");
  EXPECT_EQ(refusal(R"({"required":["a","b","\u0061"]})"), "/required/2");
  EXPECT_EQ(refusal(R"({"dependencies":{"a":["b","b"]}})"), "/dependencies/a/1");
  EXPECT_EQ(refusal(R"({"dependencies":{"a":[1]}})"), "/dependencies/a/0");
}

TEST(Metaschema, WantsNumbersExactly) {
  EXPECT_EQ(refusal(R"({"multipleOf":0})"), "/multipleOf");
  EXPECT_EQ(refusal(R"({"multipleOf":-0.0})"), "/multipleOf");
  EXPECT_EQ(refusal(R"({"multipleOf":-1})"), "/multipleOf");
  EXPECT_EQ(refusal(R"({"multipleOf":1e-1024})"), "ok");
  EXPECT_EQ(refusal(R"({"minimum":"1"})"), "/minimum");
  EXPECT_EQ(refusal(R"({"exclusiveMaximum":true})"), "/exclusiveMaximum");
}

TEST(Metaschema, CountsAreNonNegativeIntegersInAnySpelling) {
  for (const char* keyword : {"maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"}) {
    const std::string name(keyword);
    for (const char* good : {"0", "-0", "2.0", "2e0", "20e-1", "1e400"})
      EXPECT_EQ(refusal("{\"" + name + "\":" + good + "}"), "ok");
    for (const char* bad : {"-1", "1.5", "1e-1", "\"1\"", "null"})
      EXPECT_EQ(refusal("{\"" + name + "\":" + bad + "}"), "/" + name);
  }
}

TEST(Metaschema, ChecksAnnotationsToo) {
  EXPECT_EQ(refusal(R"({"title":1})"), "/title");
  EXPECT_EQ(refusal(R"({"description":{}})"), "/description");
  EXPECT_EQ(refusal(R"({"$comment":null})"), "/$comment");
  EXPECT_EQ(refusal(R"({"readOnly":"yes"})"), "/readOnly");
  EXPECT_EQ(refusal(R"({"writeOnly":0})"), "/writeOnly");
  EXPECT_EQ(refusal(R"({"contentMediaType":1})"), "/contentMediaType");
  EXPECT_EQ(refusal(R"({"contentEncoding":[]})"), "/contentEncoding");
  EXPECT_EQ(refusal(R"({"uniqueItems":1})"), "/uniqueItems");
  EXPECT_EQ(refusal(R"({"format":1})"), "/format");
  EXPECT_EQ(refusal(R"({"pattern":1})"), "/pattern");
  EXPECT_EQ(refusal(R"({"default":[1,{"a":null}],"title":"t","description":"d","readOnly":true,"writeOnly":false})"),
            "ok");
}

}  // namespace
}  // namespace assay::schema

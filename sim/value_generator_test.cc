#include "sim/value_generator.h"

#include <gtest/gtest.h>

#include "json/document.h"
#include "json/limits.h"
#include "schema/schema.h"

namespace assay::sim {
namespace {

std::string made(std::string_view schema) { return generate_value(schema).value_or("nothing"); }

TEST(ValueGenerator, MakesPlainValues) {
  EXPECT_EQ(made(R"({"type":"string"})"), R"("example")");
  EXPECT_EQ(made(R"({"type":"null"})"), "null");
  EXPECT_EQ(made(R"({"type":"boolean"})"), "true");
  EXPECT_EQ(made(R"({"type":"integer"})"), "1");
  EXPECT_EQ(made(R"({"type":"array","items":{"type":"integer"}})"), "[1]");
  EXPECT_EQ(made(R"({"type":["string","null"]})"), R"("example")");
  EXPECT_EQ(made("true"), R"("example")");
  EXPECT_EQ(made(R"({"const":{"b":10.00,"a":1e2}})"), R"({"b":10.00,"a":1e2})");
  EXPECT_EQ(made(R"({"enum":["x","y"]})"), R"("x")");
  EXPECT_EQ(
      made(
          R"({"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false})"),
      R"({"command":"example"})");
}

TEST(ValueGenerator, GivesTheSameForTheSameSchema) {
  const char* schema = R"({"anyOf":[{"type":"string","maxLength":0},{"type":"integer"}],"not":{"const":""}})";
  EXPECT_EQ(made(schema), made(schema));
}

// Everything that is returned has been validated; what these claim is that something is found.
class Satisfiable : public ::testing::TestWithParam<const char*> {};

TEST_P(Satisfiable, GetsAValueThatFits) {
  const auto value = generate_value(GetParam());
  ASSERT_TRUE(value.has_value());
  const auto document = json::Document::parse(*value, json::kOutputCaps);
  ASSERT_TRUE(document.has_value());
  EXPECT_TRUE(schema::Schema::compile(GetParam())->is_valid(document->root())) << *value;
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, Satisfiable,
    ::testing::Values(
        R"({"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1})", R"({"type":"number","minimum":1e400})",
        R"({"type":"number","exclusiveMinimum":1e400,"maximum":2e400})",
        R"({"type":"number","exclusiveMaximum":-1e400})", R"({"type":"integer","minimum":9007199254740993})",
        R"({"type":"integer","exclusiveMinimum":9007199254740992,"exclusiveMaximum":9007199254740994})",
        R"({"type":"number","multipleOf":0.01,"exclusiveMinimum":19.99,"maximum":20.005})",
        R"({"type":"integer","multipleOf":7,"minimum":100})",
        R"({"allOf":[{"multipleOf":3},{"multipleOf":5}],"minimum":1,"type":"integer"})",
        R"({"type":"number","minimum":-0.5,"maximum":-0.25})",
        R"({"type":"number","exclusiveMinimum":0.1,"exclusiveMaximum":0.10000000000000000001})",
        R"({"type":"integer","not":{"enum":[0,1,2]}})", R"({"type":"string","minLength":300,"maxLength":300})",
        R"({"type":"string","maxLength":0})", R"({"type":"string","pattern":"^[A-Z]{2}[0-9]{3,}$","minLength":9})",
        R"({"type":"string","pattern":"^(?:foo|bar)-\\d+\\.\\w*$"})",
        R"({"type":"string","pattern":"colou?r","minLength":20})", R"({"type":"string","pattern":"^[^a-z\\s]+$"})",
        R"({"type":"string","pattern":"^\\S+@\\S+\\.[a-z]{2,}$"})", R"({"type":"string","format":"date"})",
        R"({"type":"string","format":"time"})", R"({"type":"string","format":"date-time"})",
        R"({"type":"string","format":"hostname"})", R"({"type":"string","format":"email"})",
        R"({"type":"string","format":"idn-email"})", R"({"type":"string","format":"ipv4"})",
        R"({"type":"string","format":"ipv6"})", R"({"type":"string","format":"uri"})",
        R"({"type":"string","format":"uri-reference"})", R"({"type":"string","format":"iri"})",
        R"({"type":"string","format":"iri-reference"})", R"({"type":"string","format":"uri-template"})",
        R"({"type":"string","format":"uuid"})", R"({"type":"string","format":"json-pointer"})",
        R"({"type":"string","format":"relative-json-pointer"})",
        R"({"type":"array","items":{"type":"string"},"minItems":5,"uniqueItems":true})",
        R"({"type":"array","items":{"enum":["a","b","c"]},"minItems":3,"uniqueItems":true})",
        R"({"type":"array","items":{"type":"boolean"},"minItems":2,"uniqueItems":true})",
        R"({"type":"array","items":{"type":"integer","minimum":5,"maximum":9},"minItems":5,"uniqueItems":true})",
        R"({"type":"array","items":{"type":"object","properties":{"id":{"type":"string","format":"uuid"}},"required":["id"]},"minItems":3,"uniqueItems":true})",
        R"({"type":"array","items":[{"type":"string"},{"type":"integer"}],"additionalItems":false,"minItems":2})",
        R"({"type":"array","items":{"type":"integer"},"contains":{"minimum":100}})",
        R"({"type":"array","minItems":256,"maxItems":256,"items":{"type":"null"}})", R"({"type":"array","maxItems":0})",
        R"({"contains":false})", R"({"type":"object","required":["a","b"]})",
        R"({"type":"object","minProperties":3,"additionalProperties":{"type":"integer"}})",
        R"({"type":"object","patternProperties":{"^x-[a-z]+$":{"type":"string"}},"additionalProperties":false,"minProperties":2})",
        R"({"type":"object","minProperties":2,"propertyNames":{"pattern":"^[a-z]{3}$"}})",
        R"({"type":"object","properties":{"a":{},"b":{},"c":{}},"maxProperties":2,"required":["c"]})",
        R"({"type":"object","properties":{"a":{"type":"string"},"bad":false},"required":["a"]})",
        R"({"type":"object","properties":{"kind":{"enum":["a","b"]}},"required":["kind"],"if":{"properties":{"kind":{"const":"a"}}},"then":{"required":["x"]},"else":{"required":["y"]}})",
        R"({"type":"object","required":["a"],"dependencies":{"a":["b"],"b":{"required":["c"],"properties":{"c":{"const":7}}}}})",
        R"({"oneOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}]})",
        R"({"anyOf":[{"type":"string","minLength":5,"maxLength":2},{"type":"integer","minimum":3}]})",
        R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"not":{"required":["a","b"]}})",
        R"({"type":"object","properties":{"l":{"type":"array","minItems":2,"items":{"type":"object","properties":{"m":{"type":"array","minItems":2,"items":{"enum":[1.50,2]}}},"required":["m"]}}},"required":["l"]})",
        R"({"type":"number","enum":[1,"x",2.5],"not":{"const":1}})"));

TEST(ValueGenerator, SaysSoWhereNothingFits) {
  EXPECT_EQ(generate_value("false"), std::nullopt);
  EXPECT_EQ(generate_value(R"({"type":"integer","minimum":2,"maximum":1})"), std::nullopt);
  EXPECT_EQ(generate_value(R"({"type":"object","required":["a"],"properties":{"a":false}})"), std::nullopt);
  EXPECT_EQ(generate_value(R"({"type":"array","minItems":257})"), std::nullopt) << "over the caps of an output value";
  EXPECT_EQ(generate_value(R"({"$ref":"#"})"), std::nullopt) << "no schema of ours";
  EXPECT_EQ(generate_value("not JSON"), std::nullopt);
}

TEST(ValueGenerator, EndsOnSchemasThatAskForTooMuch) {
  EXPECT_EQ(
      generate_value(
          R"({"type":"array","minItems":250,"items":{"type":"array","minItems":250,"uniqueItems":true,"items":{"type":"integer"}}})"),
      std::nullopt);
  EXPECT_EQ(generate_value(R"({"type":"object","minProperties":99999999})"), std::nullopt);
  EXPECT_EQ(generate_value(R"({"type":"string","minLength":99999999})"), std::nullopt);
}

}  // namespace
}  // namespace assay::sim

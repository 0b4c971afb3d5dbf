#include "schema/respelling.h"

#include <gtest/gtest.h>

#include "schema/schema.h"

namespace assay::schema {
namespace {

struct Spelling {
  const char* name;
  const char* draft_07;
  const char* draft_2020_12;
};

class Respelling : public ::testing::TestWithParam<Spelling> {};

TEST_P(Respelling, KeepsTheMeaning) {
  ASSERT_TRUE(Schema::compile(GetParam().draft_07).has_value());
  EXPECT_EQ(respelled_2020_12(GetParam().draft_07), GetParam().draft_2020_12);
}

INSTANTIATE_TEST_SUITE_P(
    Keywords, Respelling,
    ::testing::Values(
        Spelling{"Tuple", R"({"items":[{"type":"string"},true]})", R"({"prefixItems":[{"type":"string"},true]})"},
        Spelling{"TupleWithRest", R"({"additionalItems":{"minimum":1},"items":[{}]})",
                 R"({"items":{"minimum":1},"prefixItems":[{}]})"},
        Spelling{"ClosedTuple", R"({"items":[{}],"additionalItems":false})", R"({"prefixItems":[{}],"items":false})"},
        Spelling{"List", R"({"items":{"type":"integer"}})", R"({"items":{"type":"integer"}})"},
        Spelling{"BooleanItems", R"({"items":false})", R"({"items":false})"},
        Spelling{"RestWithoutTuple", R"({"items":{},"additionalItems":false})", R"({"items":{}})"},
        Spelling{"RestAlone", R"({"additionalItems":false})", R"({})"},
        Spelling{"NameDependencies", R"({"dependencies":{"a":["b","c"],"d":[]}})",
                 R"({"dependentRequired":{"a":["b","c"],"d":[]}})"},
        Spelling{"SchemaDependencies", R"({"dependencies":{"a":{"items":[{}]},"b":false}})",
                 R"({"dependentSchemas":{"a":{"prefixItems":[{}]},"b":false}})"},
        Spelling{"BothDependencies", R"({"dependencies":{"a":{},"b":["c"]}})",
                 R"({"dependentRequired":{"b":["c"]},"dependentSchemas":{"a":{}}})"},
        Spelling{"NoDependencies", R"({"dependencies":{}})", R"({})"},
        Spelling{"EveryPosition",
                 R"({"properties":{"p":{"items":[{}]}},"patternProperties":{"x":{"items":[{}]}},)"
                 R"("additionalProperties":{"items":[{}]},"propertyNames":{"items":[{}]},"contains":{"items":[{}]},)"
                 R"("not":{"items":[{}]},"if":{"items":[{}]},"then":{"items":[{}]},"else":{"items":[{}]}})",
                 R"({"properties":{"p":{"prefixItems":[{}]}},"patternProperties":{"x":{"prefixItems":[{}]}},)"
                 R"("additionalProperties":{"prefixItems":[{}]},"propertyNames":{"prefixItems":[{}]},)"
                 R"("contains":{"prefixItems":[{}]},"not":{"prefixItems":[{}]},"if":{"prefixItems":[{}]},)"
                 R"("then":{"prefixItems":[{}]},"else":{"prefixItems":[{}]}})"},
        Spelling{"Branches", R"({"allOf":[{"items":[{}]}],"anyOf":[{"items":[{}]}],"oneOf":[{"items":[{}]}]})",
                 R"({"allOf":[{"prefixItems":[{}]}],"anyOf":[{"prefixItems":[{}]}],"oneOf":[{"prefixItems":[{}]}]})"},
        Spelling{"LiteralData",
                 R"({"const":{"items":[{}],"n":1.50},"enum":[{"dependencies":{"a":["b"]}}],"default":{"items":[1]},)"
                 R"("examples":[{"additionalItems":1}]})",
                 R"({"const":{"items":[{}],"n":1.50},"enum":[{"dependencies":{"a":["b"]}}],"default":{"items":[1]},)"
                 R"("examples":[{"additionalItems":1}]})"},
        Spelling{"PropertiesNamedLikeKeywords", R"({"properties":{"items":{"type":"array"},"dependencies":{}}})",
                 R"({"properties":{"items":{"type":"array"},"dependencies":{}}})"},
        Spelling{"SpellingAndOrder", R"({ "maximum" : 1e30 , "title": "\u00e9\"", "minimum":-0.0 })",
                 R"({"maximum":1e30,"title":"\u00e9\"","minimum":-0.0})"},
        Spelling{"Dialect", R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"null"})",
                 R"({"type":"null"})"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(Respelling, TakesABooleanSchema) { EXPECT_EQ(respelled_2020_12("true"), "true"); }

}  // namespace
}  // namespace assay::schema

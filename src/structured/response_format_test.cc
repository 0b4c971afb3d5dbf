#include "structured/response_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace assay::structured {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<FieldFault> faults_of(std::string_view text) {
  auto format = parse_response_format(text);
  return format ? std::vector<FieldFault>{} : std::move(format.error());
}

std::vector<std::string> fields_of(std::string_view text) {
  std::vector<std::string> fields;
  for (const FieldFault& fault : faults_of(text)) {
    EXPECT_FALSE(fault.detail.empty());
    EXPECT_LE(fault.detail.size(), kFaultDetailBytesMax);
    fields.push_back(fault.field);
  }
  return fields;
}

std::string with_schema(std::string_view schema) {
  return fmt::format(R"({{"type":"json_schema","json_schema":{{"name":"report","schema":{}}}}})", schema);
}

TEST(ResponseFormat, TellsUnsaidFromText) {
  EXPECT_EQ(parse_response_format("")->kind, FormatKind::Unsaid);
  EXPECT_EQ(parse_response_format(" null ")->kind, FormatKind::Unsaid);
  EXPECT_EQ(parse_response_format(R"({"type":"text"})")->kind, FormatKind::Text);
}

TEST(ResponseFormat, KeepsTheSchemaAsSent) {
  const auto format = parse_response_format(
      R"({"type":"json_schema","json_schema":{"schema": { "const" : 1.0e1 } ,"description":"d\u00e4","name":"a-B_9"}})");
  ASSERT_TRUE(format.has_value());
  EXPECT_EQ(format->kind, FormatKind::JsonSchema);
  EXPECT_EQ(format->json_schema->name, "a-B_9");
  EXPECT_EQ(format->json_schema->description, "d\xC3\xA4");
  EXPECT_EQ(format->json_schema->schema, R"({ "const" : 1.0e1 })");
  EXPECT_EQ(format->json_schema->compiled->text(), format->json_schema->schema);
}

struct FaultCase {
  const char* name;
  std::string text;
  std::vector<std::string> fields;
};

void PrintTo(const FaultCase& fault_case, std::ostream* out) { *out << fault_case.name; }

class ResponseFormatFault : public ::testing::TestWithParam<FaultCase> {};

TEST_P(ResponseFormatFault, NamesTheExactField) { EXPECT_EQ(fields_of(GetParam().text), GetParam().fields); }

const std::string kRoot = "response_format";
const std::string kType = "response_format.type";
const std::string kEnvelope = "response_format.json_schema";
const std::string kName = "response_format.json_schema.name";
const std::string kDescription = "response_format.json_schema.description";
const std::string kSchema = "response_format.json_schema.schema";

INSTANTIATE_TEST_SUITE_P(
    All, ResponseFormatFault,
    ::testing::ValuesIn(std::vector<FaultCase>{
        {"NoObject", "[]", {kRoot}},
        {"AString", R"("json_schema")", {kRoot}},
        {"NoJson", "{", {kRoot}},
        {"Trailing", R"({"type":"text"} x)", {kRoot}},
        {"Empty", "{}", {kType}},
        {"TypeNull", R"({"type":null})", {kType}},
        {"TypeUnknown", R"({"type":"json_object"})", {kType}},
        {"TypeUpperCase", R"({"type":"TEXT"})", {kType}},
        {"TypeMissingBesideSchema", R"({"json_schema":{"name":"n","schema":{}}})", {kType}},
        {"TypeLoneSurrogate", R"({"type":"\ud800"})", {kType}},
        {"SchemaBesideText", R"({"type":"text","json_schema":{"name":"n","schema":{}}})", {kRoot}},
        {"NullSchemaBesideText", R"({"type":"text","json_schema":null})", {kRoot}},
        {"UnknownMember", R"({"type":"text","strict":true})", {kRoot}},
        {"UnknownMembers", R"({"type":"text","a":1,"b":2})", {kRoot, kRoot}},
        {"DuplicateMember", R"({"type":"text","type":"text"})", {kRoot}},
        {"DuplicateMemberEscaped", R"({"type":"text","t\u0079pe":"text"})", {kRoot}},
        {"NoEnvelope", R"({"type":"json_schema"})", {kEnvelope}},
        {"EnvelopeNull", R"({"type":"json_schema","json_schema":null})", {kEnvelope}},
        {"EnvelopeArray", R"({"type":"json_schema","json_schema":[]})", {kEnvelope}},
        {"EnvelopeStrict",
         R"({"type":"json_schema","json_schema":{"name":"n","schema":{},"strict":false}})",
         {kEnvelope}},
        {"EnvelopeDuplicate",
         R"({"type":"json_schema","json_schema":{"name":"n","name":"n","schema":{}}})",
         {kEnvelope}},
        {"EnvelopeEmpty", R"({"type":"json_schema","json_schema":{}})", {kName, kSchema}},
        {"NameMissing", R"({"type":"json_schema","json_schema":{"schema":{}}})", {kName}},
        {"NameEmpty", R"({"type":"json_schema","json_schema":{"name":"","schema":{}}})", {kName}},
        {"NameNumber", R"({"type":"json_schema","json_schema":{"name":1,"schema":{}}})", {kName}},
        {"NameWithSpace", R"({"type":"json_schema","json_schema":{"name":"a b","schema":{}}})", {kName}},
        {"NameNul", R"({"type":"json_schema","json_schema":{"name":"a\u0000","schema":{}}})", {kName}},
        {"NameTooLong",
         fmt::format(R"({{"type":"json_schema","json_schema":{{"name":"{}","schema":{{}}}}}})", std::string(65, 'n')),
         {kName}},
        {"DescriptionNull",
         R"({"type":"json_schema","json_schema":{"name":"n","schema":{},"description":null}})",
         {kDescription}},
        {"DescriptionTooLong",
         fmt::format(R"({{"type":"json_schema","json_schema":{{"name":"n","schema":{{}},"description":"{}"}}}})",
                     std::string(1025, 'd')),
         {kDescription}},
        {"DescriptionBadUtf8",
         "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\",\"description\":\"\xFF\",\"schema\":{}}}",
         {kRoot}},
        {"DescriptionLoneSurrogate",
         R"({"type":"json_schema","json_schema":{"name":"n","description":"\udc00","schema":{}}})",
         {kDescription}},
        {"SchemaMissing", R"({"type":"json_schema","json_schema":{"name":"n"}})", {kSchema}},
        {"SchemaBoolean", with_schema("true"), {kSchema}},
        {"SchemaString", with_schema(R"("{}")"), {kSchema}},
        {"SchemaUnknownKeyword", with_schema(R"({"propertys":{}})"), {kSchema}},
        {"SchemaRef", with_schema(R"({"$ref":"#"})"), {kSchema}},
        {"SchemaDialect", with_schema(R"({"$schema":"https://json-schema.org/draft/2020-12/schema"})"), {kSchema}},
        {"SchemaDuplicateKey", with_schema(R"({"type":"object","type":"object"})"), {kSchema}},
        {"SchemaHugeExponent", with_schema(R"({"maximum":1e1025})"), {kSchema}},
        {"SchemaNulInKey", with_schema(R"({"properties":{"\u0000":{}}})"), {kSchema}},
        {"SchemaTooLong", with_schema("{" + std::string(16 * 1024, ' ') + "}"), {kSchema}},
        {"SchemaTooDeep", with_schema(R"({"const":)" + std::string(17, '[') + std::string(17, ']') + "}"), {kSchema}},
        {"ManyAtOnce",
         R"({"type":"json_schema","extra":1,"json_schema":{"name":"","strict":true,"description":7,"schema":[]}})",
         {kRoot, kEnvelope, kName, kDescription, kSchema}},
        {"EnvelopeCheckedWithoutType", R"({"type":"other","json_schema":{"name":"n"}})", {kType, kSchema}},
    }),
    [](const auto& test_case) { return std::string(test_case.param.name); });

TEST(ResponseFormat, AcceptsTheLimits) {
  const std::string at_limits =
      fmt::format(R"({{"type":"json_schema","json_schema":{{"name":"{}","description":"{}","schema":{{{}}}}}}})",
                  std::string(64, 'n'), std::string(1024, 'd'), std::string(16 * 1024 - 2, ' '));
  EXPECT_TRUE(parse_response_format(at_limits).has_value());
}

TEST(ResponseFormat, SaysWhichKeywordAndWhere) {
  const auto faults = faults_of(with_schema(R"({"properties":{"a/b":{"$ref":"#"}}})"));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_THAT(faults[0].detail, HasSubstr("unsupported_keyword"));
  EXPECT_THAT(faults[0].detail, HasSubstr("$ref"));
  EXPECT_THAT(faults[0].detail, HasSubstr("/properties/a~1b"));
}

TEST(ResponseFormat, SaysWhichByteOfTheSchema) {
  const auto faults = faults_of(with_schema(R"({"type":1,"type":2})"));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_THAT(faults[0].detail, HasSubstr("duplicate_key"));
  EXPECT_THAT(faults[0].detail, HasSubstr("byte 10"));
}

TEST(ResponseFormat, NamesTheUnknownMember) {
  const auto faults = faults_of(R"({"type":"text","strict":true})");
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_THAT(faults[0].detail, HasSubstr("\"strict\""));
  EXPECT_THAT(faults[0].detail, HasSubstr("no relaxed mode"));
}

TEST(ResponseFormat, BoundsWhatItSays) {
  std::string many = R"({"type":"text")";
  for (int i = 0; i < 50; ++i) many += fmt::format(R"(,"{}{}":1)", std::string(2000, 'k'), i);
  many += "}";
  const auto faults = faults_of(many);
  EXPECT_EQ(faults.size(), kFaultsMax);
  for (const FieldFault& fault : faults) EXPECT_LT(fault.detail.size(), 200u);
}

TEST(ResponseFormat, LeavesLookalikesInLiteralDataAlone) {
  EXPECT_TRUE(parse_response_format(with_schema(R"({"properties":{"$ref":{"const":{"$id":"x"}}}})")).has_value());
}

}  // namespace
}  // namespace assay::structured

#include "chat/dynamic_tools.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay::chat {
namespace {

using ::testing::HasSubstr;

Result<std::vector<ToolDefinition>, ToolFault> declared(const std::string& list) {
  const auto document = json::Document::parse(list, json::kEnvelopeCaps, json::Dialect::Lenient);
  EXPECT_TRUE(document.has_value()) << list;
  return declared_tools(document->root());
}

std::string with_schema(const std::string& schema) { return R"([{"name":"t","input_schema":)" + schema + "}]"; }

std::string parameters_of(const std::string& schema) {
  const auto tools = declared(with_schema(schema));
  return tools ? tools->at(0).parameters : tools.error().place + " " + tools.error().detail;
}

TEST(DeclaredTools, TakeNamesDescriptionsAndSchemasAsWritten) {
  const auto tools = declared(
      R"([{"name":"get-weather_1","description":"Weather \"now\"","input_schema":)"
      R"( {"type": "object", "properties": {"n": {"maximum": 1e30, "default": 1.50}}, "required": ["n"], "$defs": {}}},)"
      R"({"name":"b","description":null,"input_schema":null,"unknown":1}])");
  ASSERT_TRUE(tools.has_value()) << tools.error().detail;
  ASSERT_EQ(tools->size(), 2u);
  EXPECT_EQ(
      tools->at(0),
      (ToolDefinition{
          .name = "get-weather_1",
          .description = "Weather \"now\"",
          .parameters =
              R"({"type":"object","properties":{"n":{"maximum":1e30,"default":1.50}},"required":["n"],"$defs":{}})",
          .strict_off = false,
          .client_executed = true}));
  EXPECT_EQ(tools->at(1).parameters, R"({"type":"object","properties":{}})");
  EXPECT_TRUE(declared("[]")->empty());
}

TEST(DeclaredTools, CompleteASchemaByWhatProvidersAskFor) {
  EXPECT_EQ(parameters_of("{}"), R"({"type":"object","properties":{}})");
  EXPECT_EQ(parameters_of(R"({ "type":"object" })"), R"({"properties":{},"type":"object"})");
  EXPECT_EQ(parameters_of(R"({"properties":{"a":true}})"), R"({"type":"object","properties":{"a":true}})");
}

struct FaultCase {
  const char* list;
  const char* place;
  const char* detail;
};

TEST(DeclaredTools, NameTheFault) {
  for (const FaultCase& wrong : {
           FaultCase{"7", "", "an array"},
           FaultCase{R"(["x"])", "[0]", "an object"},
           FaultCase{"[{}]", "[0].name", "is required"},
           FaultCase{R"([{"name":7}])", "[0].name", "is required"},
           FaultCase{R"([{"name":""}])", "[0].name", "1 to 64"},
           FaultCase{R"([{"name":"a b"}])", "[0].name", "letters"},
           FaultCase{R"([{"name":"a"},{"name":"b"},{"name":"a"}])", "[2].name", "another tool"},
           FaultCase{R"([{"name":"a","description":7}])", "[0].description", "a string"},
       }) {
    const auto tools = declared(wrong.list);
    ASSERT_FALSE(tools.has_value()) << wrong.list;
    EXPECT_EQ(tools.error().place, wrong.place) << wrong.list;
    EXPECT_THAT(tools.error().detail, HasSubstr(wrong.detail)) << wrong.list;
  }
}

TEST(DeclaredTools, RefuseSchemasThatNoProviderTakes) {
  for (const char* schema :
       {"7", "[]", "true", R"({"type":"string"})", R"({"type":["object"]})", R"({"properties":[]})",
        R"({"properties":{"a":"b"}})", R"({"required":"a"})", R"({"required":[1]})", R"({"a":1,"a":2})",
        R"({"title":"\u0000"})", R"({"title":"\ud800"})", R"({"maximum":1e9999})"}) {
    EXPECT_THAT(parameters_of(schema), HasSubstr("[0].input_schema ")) << schema;
  }
}

TEST(DeclaredTools, KeepTheirLimitsAtTheEdge) {
  const auto count = [](std::size_t tools) {
    std::string list = "[";
    for (std::size_t i = 0; i < tools; ++i) list += fmt::format(R"({}{{"name":"t{}"}})", i == 0 ? "" : ",", i);
    return declared(list + "]");
  };
  EXPECT_EQ(count(kDynamicToolsMax)->size(), kDynamicToolsMax);
  EXPECT_EQ(count(kDynamicToolsMax + 1).error().place, "");
  EXPECT_THAT(count(kDynamicToolsMax + 1).error().detail, HasSubstr("250"));

  const auto name = [](std::size_t bytes) { return declared(R"([{"name":")" + std::string(bytes, 'n') + R"("}])"); };
  EXPECT_TRUE(name(64).has_value());
  EXPECT_EQ(name(65).error().place, "[0].name");

  const auto description = [](std::size_t bytes) {
    return declared(R"([{"name":"t","description":")" + std::string(bytes, 'd') + R"("}])");
  };
  EXPECT_TRUE(description(kToolDescriptionBytesMax).has_value());
  EXPECT_EQ(description(kToolDescriptionBytesMax + 1).error().place, "[0].description");

  const auto bytes = [](std::size_t size) {
    const std::string frame = R"({"type":"object","properties":{},"title":""})";
    std::string schema = frame;
    return parameters_of(schema.insert(schema.size() - 2, size - frame.size(), 'x'));
  };
  EXPECT_EQ(bytes(kToolSchemaCaps.bytes_max).size(), kToolSchemaCaps.bytes_max);
  EXPECT_THAT(bytes(kToolSchemaCaps.bytes_max + 1), HasSubstr("too long; at most 65536 bytes"));

  const std::string nearly = R"({"title":")" + std::string(kToolSchemaCaps.bytes_max - 12, 'x') + "\"}";
  ASSERT_EQ(nearly.size(), kToolSchemaCaps.bytes_max);
  EXPECT_THAT(parameters_of(nearly), HasSubstr("too long")) << "as completed it could not be read back";

  const auto depth = [](std::size_t levels) {
    return parameters_of(R"({"default":)" + std::string(levels, '[') + std::string(levels, ']') + "}");
  };
  EXPECT_THAT(depth(kToolSchemaCaps.depth_max), HasSubstr("\"type\""));
  EXPECT_THAT(depth(kToolSchemaCaps.depth_max + 1), HasSubstr("too deeply"));
}

TEST(DynamicTools, ComeBackAsTheyWereStored) {
  const auto tools = declared(
      R"([{"name":"a","description":"d\né","input_schema":{"required":["x"],"properties":{"x":{"const":10.00}}}},{"name":"b"}])");
  const std::string stored = encode_dynamic_tools(*tools);
  EXPECT_EQ(decode_dynamic_tools(stored), *tools);
  EXPECT_EQ(encode_dynamic_tools(*decode_dynamic_tools(stored)), stored);
  EXPECT_TRUE(decode_dynamic_tools("[]")->empty()) << "of a chat that declared none";
}

TEST(DynamicTools, FailClosedOnWhatTheServerCannotHaveWritten) {
  for (const char* stored : {"", "{}", "null", "[7]", R"([{"name":"a"}])", R"([{"name":"a","input_schema":{}}])",
                             R"([{"name":"a","input_schema":{"type":"object","properties":{}},"x":1}])"}) {
    EXPECT_FALSE(decode_dynamic_tools(stored).has_value()) << stored;
  }
}

TEST(FindTool, FindsByName) {
  const auto tools = declared(R"([{"name":"a"},{"name":"b"}])");
  EXPECT_EQ(find_tool(*tools, "b"), &tools->at(1));
  EXPECT_EQ(find_tool(*tools, "c"), nullptr);
}

}  // namespace
}  // namespace assay::chat

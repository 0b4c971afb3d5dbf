#include "api/body.h"

#include <gtest/gtest.h>

namespace assay::api {
namespace {

ApiError refused(std::string text) {
  auto body = Body::parse(std::move(text));
  EXPECT_FALSE(body.has_value());
  return body ? ApiError() : body.error();
}

Body parsed(std::string text) {
  auto body = Body::parse(std::move(text));
  EXPECT_TRUE(body.has_value());
  return std::move(*body);
}

TEST(Body, SaysWhereTheJsonBreaks) {
  const ApiError error = refused("{\n  \"content\": [1,,2]\n}");
  EXPECT_EQ(error.status, 400);
  EXPECT_NE(error.detail.find("line 2, column 17"), std::string::npos) << error.detail;
  ASSERT_EQ(error.validations.size(), 1u);
  EXPECT_EQ(error.validations[0].field, "content");
}

TEST(Body, NamesNoFieldWhereTheFaultLiesInNone) {
  for (const std::string text : {"", "{", "{\"a\"", "nonsense", "{\"a\":1} x", "{\"a\":1,}", "{\"\\u0061\":[}"}) {
    const ApiError error = refused(text);
    EXPECT_EQ(error.status, 400) << text;
    EXPECT_FALSE(error.detail.empty()) << text;
    EXPECT_TRUE(error.validations.empty()) << text;
  }
}

TEST(Body, NeverEchoesAnUnlikelyKey) {
  EXPECT_TRUE(refused("{\"<script>\":[}").validations.empty());
  EXPECT_TRUE(refused("{\"" + std::string(65, 'a') + "\":[}").validations.empty());
  EXPECT_EQ(refused("{\"" + std::string(64, 'a') + "\":[}").validations.size(), 1u);
}

TEST(Body, HasItsSizeLimit) {
  const std::string head = R"({"a":")";
  const std::string tail = R"("})";
  const auto body_of = [&](std::size_t bytes) {
    return head + std::string(bytes - head.size() - tail.size(), 'x') + tail;
  };
  EXPECT_TRUE(Body::parse(body_of(kBodyBytesMax - 1)).has_value());
  EXPECT_TRUE(Body::parse(body_of(kBodyBytesMax)).has_value());
  EXPECT_EQ(refused(body_of(kBodyBytesMax + 1)).status, 413);
}

TEST(Body, MustBeAnObject) {
  EXPECT_EQ(refused("[]").status, 400);
  EXPECT_EQ(refused("null").status, 400);
}

TEST(Body, LetsTheStrictReaderWordAFaultInsideTheFormat) {
  const std::string format = R"({"type":"json_schema","json_schema":{"name":"n","schema":{"const":)" +
                             std::string(70, '[') + std::string(70, ']') + "}}}";
  const ApiError error = refused(R"({"content":[],"response_format":)" + format + "}");
  ASSERT_EQ(error.validations.size(), 1u);
  EXPECT_TRUE(error.validations[0].field.starts_with("response_format")) << error.validations[0].field;
  const ApiError utf8 = refused(
      "{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\",\"schema\":{\"const\":\"\xff\"}}}"
      "}");
  ASSERT_EQ(utf8.validations.size(), 1u);
  EXPECT_TRUE(utf8.validations[0].field.starts_with("response_format")) << utf8.validations[0].field;
}

TEST(Body, ReadsMembersOfTheirTypes) {
  Body body = parsed(R"({"s":"x","b":true,"i":-7,"u":"00000000-0000-4000-8000-000000000001","l":[1],
    "us":["00000000-0000-4000-8000-000000000001"],"m":{"k":"v"},"unknown":{}})");
  EXPECT_EQ(body.string("s"), "x");
  EXPECT_EQ(body.boolean("b"), true);
  EXPECT_EQ(body.integer("i"), -7);
  EXPECT_EQ(body.uuid("u")->to_string(), "00000000-0000-4000-8000-000000000001");
  EXPECT_EQ(body.uuids("us").size(), 1u);
  EXPECT_EQ(body.array("l")->size(), 1u);
  EXPECT_EQ(body.string_map("m")->at("k"), "v");
  EXPECT_FALSE(body.faults().has_value());
}

TEST(Body, TakesNullForAbsent) {
  Body body = parsed(R"({"s":null,"l":null,"m":null,"us":null})");
  EXPECT_EQ(body.string("s"), std::nullopt);
  EXPECT_EQ(body.array("l"), std::nullopt);
  EXPECT_EQ(body.string_map("m"), std::nullopt);
  EXPECT_TRUE(body.uuids("us").empty());
  EXPECT_EQ(body.string("absent"), std::nullopt);
  EXPECT_FALSE(body.faults().has_value());
}

TEST(Body, NamesEveryMemberOfTheWrongType) {
  Body body = parsed(R"({"s":1,"b":"true","i":1.5,"u":"x","l":{},"us":["x"],"m":{"k":1},"big":9223372036854775808})");
  body.string("s");
  body.boolean("b");
  body.integer("i");
  body.uuid("u");
  body.array("l");
  body.uuids("us");
  body.string_map("m");
  body.integer("big");
  const auto faults = body.faults();
  ASSERT_TRUE(faults.has_value());
  std::string fields;
  for (const auto& validation : faults->validations) fields += validation.field + " ";
  EXPECT_EQ(fields, "s b i u l us m big ");
}

TEST(Body, KeepsTheExactTextOfAMemberAndRefusesItTwice) {
  Body body = parsed(R"({"f": {"a" : 1.0} ,"g":null,"h":1,"\u0068":2})");
  EXPECT_EQ(body.raw_once("f"), R"({"a" : 1.0})");
  EXPECT_EQ(body.raw_once("g"), "null");
  EXPECT_EQ(body.raw_once("absent"), "");
  EXPECT_FALSE(body.faults().has_value());
  EXPECT_EQ(body.raw_once("h"), "");
  ASSERT_TRUE(body.faults().has_value());
  EXPECT_EQ(body.faults()->validations[0].field, "h");
}

TEST(Trimmed, TakesUnicodeSpaceFromBothEnds) {
  EXPECT_EQ(trimmed(" \t\r\n a b\u00a0\u3000"), "a b");
  EXPECT_EQ(trimmed("\u2003"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(ParseInteger, TakesWholeDecimalNumbersAlone) {
  EXPECT_EQ(parse_integer("12"), 12);
  EXPECT_EQ(parse_integer("-1"), -1);
  for (const std::string_view text : {"", "1.0", "1e2", "0x1", " 1", "1 ", "9223372036854775808"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(Body, NamesTheStringThatCannotBeStored) {
  for (const std::string text : {R"(\u0000)", R"(a\ud800)", R"(\udc00b)", R"(\ud800\ud800)"}) {
    auto body = Body::parse(R"({"a":")" + text + R"(","m":{"k":")" + text + "\"}}");
    ASSERT_TRUE(body.has_value()) << text;
    EXPECT_FALSE(body->string("a"));
    EXPECT_FALSE(body->string_map("m"));
    ASSERT_TRUE(body->faults());
    ASSERT_EQ(body->faults()->validations.size(), 2U);
    EXPECT_EQ(body->faults()->validations[0].field, "a");
  }
  auto body = Body::parse(R"({"a":"\ud83d\ude00 \ufffd"})");
  EXPECT_EQ(body->string("a"), "\xF0\x9F\x98\x80 \xEF\xBF\xBD") << "a pair, and U+FFFD itself";
}

}  // namespace
}  // namespace assay::api

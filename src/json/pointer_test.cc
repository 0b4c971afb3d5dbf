#include "json/pointer.h"

#include <gtest/gtest.h>

#include <string>

#include "json/error.h"

namespace assay::json {
namespace {

TEST(JsonPointer, GrowsAndShrinks) {
  Pointer pointer;
  EXPECT_EQ(pointer.text(), "");
  pointer.push("a/b~c");
  pointer.push(std::size_t{12});
  pointer.push("");
  EXPECT_EQ(pointer.text(), "/a~1b~0c/12/");
  EXPECT_EQ(pointer.depth(), 3U);
  pointer.pop();
  pointer.pop();
  EXPECT_EQ(pointer.text(), "/a~1b~0c");
}

// RFC 6901, section 5.
TEST(JsonPointer, ResolvesTheStandardsExamples) {
  const Document document = *Document::parse(
      R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8})", {});
  const Value root = document.root();
  EXPECT_TRUE(resolve(root, "")->same_as(root));
  EXPECT_EQ(resolve(root, "/foo")->raw(), R"(["bar","baz"])");
  EXPECT_EQ(resolve(root, "/foo/0")->string(), "bar");
  const char* pointers[] = {"/", "/a~1b", "/c%d", "/e^f", "/g|h", "/i\\j", "/k\"l", "/ ", "/m~0n"};
  for (std::size_t i = 0; i < std::size(pointers); ++i) {
    EXPECT_EQ(resolve(root, pointers[i])->number(), std::to_string(i)) << pointers[i];
  }
}

TEST(JsonPointer, ResolvesNothingElse) {
  const Document document = *Document::parse(R"({"a":[1,2],"m~n":{"":3}})", {});
  for (const char* pointer : {"a", "/b", "/a/2", "/a/-", "/a/01", "/a/+1", "/a/", "/a/0/", "/m~n", "/m~2n", "/m~",
                              "/a/99999999999999999999999"}) {
    EXPECT_FALSE(resolve(document.root(), pointer)) << pointer;
  }
  EXPECT_EQ(resolve(document.root(), "/m~0n/")->number(), "3");
}

// The pointer to each byte, marked by a caret in the second line.
std::string at(std::string_view text, char mark) { return locate(text, text.find(mark)); }

TEST(JsonLocate, FindsTheInnermostValue) {
  const std::string text = R"({"a" : [ 10 , {"b/c": "x" , "d":7} ] , "e" : true})";
  EXPECT_EQ(locate(text, 0), "");
  EXPECT_EQ(locate(text, 2), "/a");
  EXPECT_EQ(at(text, '['), "/a");
  EXPECT_EQ(at(text, '1'), "/a/0");
  EXPECT_EQ(locate(text, text.find(" , {")), "/a");
  EXPECT_EQ(locate(text, text.find("{\"b")), "/a/1");
  EXPECT_EQ(at(text, 'x'), "/a/1/b~1c");
  EXPECT_EQ(locate(text, text.find("\"b/c")), "/a/1/b~1c");
  EXPECT_EQ(at(text, '7'), "/a/1/d");
  EXPECT_EQ(at(text, ']'), "/a");
  EXPECT_EQ(locate(text, text.find("true")), "/e");
  EXPECT_EQ(locate(text, text.size() - 1), "");
  EXPECT_EQ(locate(text, text.size() + 100), "");
}

TEST(JsonLocate, LeadsFromARefusalToItsField) {
  const auto where = [](const std::string& text) {
    const auto document = Document::parse(text, kOutputCaps);
    return document ? std::string("accepted") : locate(text, document.error().offset);
  };
  EXPECT_EQ(where(R"({"response_format":{"schema":{"a":1,"\u0061":2}}})"), "/response_format/schema/a");
  EXPECT_EQ(where(R"({"a":[1,2,{"b":"\ud800"}]})"), "/a/2/b");
  EXPECT_EQ(where(R"({"a":[1,2,01]})"), "/a/2");
  EXPECT_EQ(where(R"({"a":[1,2)"), "/a");
  EXPECT_EQ(where(R"({"a":)"), "/a");
  EXPECT_EQ(where(R"({"a":x})"), "/a");
  EXPECT_EQ(where(R"({"a":1,,})"), "");
  EXPECT_EQ(where(R"({"a":1,"b)"), "");
  EXPECT_EQ(where("[1]]"), "");
}

TEST(JsonLocate, BearsAnyBytes) {
  for (const char* text :
       {"", "]", "}{", "\"", "\"\\", "{\"\\u\":x", "{\"a\"\"b\":1", ":::", ",", "{,[", "[\"\xff", "{\"\xff\":\x01"}) {
    for (std::size_t offset = 0; offset < 12; ++offset) {
      const std::string pointer = locate(text, offset);
      EXPECT_TRUE(pointer.empty() || pointer[0] == '/') << text;
    }
  }
}

}  // namespace
}  // namespace assay::json

#include "structured/strict_object.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::structured {
namespace {

json::Document parse(std::string text) {
  auto document = json::Document::parse(std::move(text), json::Caps{});
  EXPECT_TRUE(document.has_value());
  return std::move(*document);
}

TEST(StrictObject, ReadsWhatIsAskedFor) {
  const json::Document document = parse(R"({"s":"x","b":true,"n":7,"o":{}})");
  StrictObject object(document.root());
  EXPECT_EQ(object.string("s"), "x");
  EXPECT_TRUE(object.boolean("b"));
  EXPECT_EQ(object.integer("n"), 7);
  EXPECT_TRUE(object.object("o").has_value());
  EXPECT_FALSE(object.optional_boolean("absent"));
  EXPECT_FALSE(object.optional_string("absent").has_value());
  EXPECT_TRUE(object.exact());
}

TEST(StrictObject, RefusesAMemberThatNobodyAskedFor) {
  const json::Document document = parse(R"({"s":"x","t":"y"})");
  StrictObject object(document.root());
  object.string("s");
  EXPECT_FALSE(object.exact());
}

TEST(StrictObject, RefusesAMissingMember) {
  const json::Document document = parse(R"({})");
  StrictObject object(document.root());
  EXPECT_EQ(object.string("s"), "");
  EXPECT_FALSE(object.exact());
}

TEST(StrictObject, RefusesAnotherKind) {
  for (const char* text : {R"({"n":1.5})", R"({"n":"1"})", R"({"n":null})"}) {
    const json::Document document = parse(text);
    StrictObject object(document.root());
    object.integer("n");
    EXPECT_FALSE(object.exact()) << text;
  }
  const json::Document optional = parse(R"({"s":null})");
  StrictObject object(optional.root());
  EXPECT_FALSE(object.optional_string("s").has_value());
  EXPECT_FALSE(object.exact());
}

TEST(StrictObject, RefusesWhatIsNoObject) {
  const json::Document document = parse("[]");
  StrictObject object(document.root());
  EXPECT_EQ(object.string("s"), "");
  EXPECT_FALSE(object.exact());
}

}  // namespace
}  // namespace assay::structured

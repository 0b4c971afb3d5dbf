#include "schema/issues.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::schema {
namespace {

using testing::ElementsAre;

std::vector<Issue> issues_of(std::string_view schema, std::string_view instance) {
  const auto compiled = Schema::compile(schema);
  EXPECT_TRUE(compiled) << compiled.error().detail;
  const auto document = json::Document::parse(std::string(instance), json::kOutputCaps);
  EXPECT_TRUE(document);
  return compiled->validate(document->root()).issues;
}

std::string rule_of(std::string_view schema, std::string_view instance) {
  const std::vector<Issue> issues = issues_of(schema, instance);
  EXPECT_EQ(issues.size(), 1U) << schema;
  return issues.empty() ? "" : issues.front().rule;
}

TEST(IssueSet, KeepsTheSmallestDistinctOnes) {
  const Place root = Place::root();
  const Place b = root.member("b");
  const Place a = root.member("a");
  IssueSet set(root);
  for (const char* rule : {"3", "1", "2", "1"}) set.add(b, [&] { return std::string(rule); });
  EXPECT_THAT(set.issues(), ElementsAre(Issue{"/b", "1"}, Issue{"/b", "2"}, Issue{"/b", "3"}));
  set.add(a, [&] { return std::string("9"); });
  set.add(root, [&] { return std::string("9"); });
  set.add(b, [&] { return std::string("4"); });
  EXPECT_THAT(set.issues(), ElementsAre(Issue{"", "9"}, Issue{"/a", "9"}, Issue{"/b", "1"}, Issue{"/b", "2"}));
}

TEST(Issues, NameTheRuleAndWhatItAsksFor) {
  EXPECT_EQ(rule_of(R"({"type":"object"})", "1"), "type: expected object, not a number");
  EXPECT_EQ(rule_of(R"({"type":["string","null","integer"]})", "1.5"),
            "type: expected null, integer or string, not a number with a fraction");
  EXPECT_EQ(rule_of(R"({"type":["number","integer"]})", "\"\""), "type: expected number, not a string");
  EXPECT_EQ(rule_of("false", "1"), "false schema: no value is allowed here");
  EXPECT_EQ(rule_of(R"({"required":["a\nb"]})", "{}"), R"(required: missing "a\nb")");
  EXPECT_EQ(rule_of(R"({"enum":["a",1,null,[1, 2]]})", "2"), R"(enum: expected one of "a", 1, null, [1, 2])");
  EXPECT_EQ(rule_of(R"({"const":1.50})", "2"), "const: expected 1.50");
  EXPECT_EQ(rule_of(R"({"maximum":10})", "11"), "maximum: at most 10");
  EXPECT_EQ(rule_of(R"({"exclusiveMinimum":1e2})", "100"), "exclusiveMinimum: more than 1e2");
  EXPECT_EQ(rule_of(R"({"multipleOf":0.1})", "0.15"), "multipleOf: a multiple of 0.1");
  EXPECT_EQ(rule_of(R"({"minLength":2})", "\"\U0001F432\""), "minLength: at least 2 characters");
  EXPECT_EQ(rule_of(R"({"maxItems":1})", "[1,2]"), "maxItems: at most 1 elements");
  EXPECT_EQ(rule_of(R"({"minProperties":1})", "{}"), "minProperties: at least 1 properties");
  EXPECT_EQ(rule_of(R"({"pattern":"^a$"})", "\"b\""), "pattern: must match ^a$");
  EXPECT_EQ(rule_of(R"({"format":"uuid"})", "\"b\""),
            "format: expected uuid, such as \"123e4567-e89b-12d3-a456-426614174000\"");
  EXPECT_EQ(rule_of(R"({"uniqueItems":true})", "[1,2,10e-1]"), "uniqueItems: elements 0 and 2 are equal");
  EXPECT_EQ(rule_of(R"({"uniqueItems":true})", R"(["a","b","c","d","d","c","b","b"])"),
            "uniqueItems: elements 1 and 6 are equal")
      << "whatever the seed of this process";
  EXPECT_EQ(rule_of(R"({"contains":{"const":1}})", "[]"), "contains: no element fits {\"const\":1}");
  EXPECT_EQ(rule_of(R"({"not":{"type":"null"}})", "null"), "not: must not fit {\"type\":\"null\"}");
  EXPECT_EQ(rule_of(R"({"items":[{}],"additionalItems":false})", "[1,2,3]"), "additionalItems: at most 1 elements");
  EXPECT_EQ(rule_of(R"({"dependencies":{"a":["b"]}})", R"({"a":1})"), R"(dependencies: "a" must come with "b")");
  EXPECT_EQ(rule_of(R"({"propertyNames":{"maxLength":1}})", R"({"ab":1})"),
            "propertyNames: maxLength: at most 1 characters");
}

TEST(Issues, PointAtTheUnknownPropertyAndListTheKnownOnes) {
  EXPECT_THAT(issues_of(R"({"properties":{"a":{},"b":{}},"additionalProperties":false})", R"({"a":1,"c":2})"),
              ElementsAre(Issue{"/c", R"(additionalProperties: this property is not allowed; known are "a", "b")"}));
  EXPECT_THAT(issues_of(R"({"additionalProperties":false})", R"({"c":2})"),
              ElementsAre(Issue{"/c", "additionalProperties: no property is allowed here"}));
}

TEST(Issues, OfAlternativesSayWhatWouldFit) {
  EXPECT_EQ(rule_of(R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "1"),
            "anyOf: expected null or string, not a number");
  EXPECT_EQ(rule_of(R"({"oneOf":[{"const":"a"},{"enum":["b",2]}]})", "1"), R"(oneOf: expected one of "a", "b", 2)");
  EXPECT_EQ(rule_of(R"({"oneOf":[{"minimum":1},{"type":"string"},{"maximum":9}]})", "5"),
            "oneOf: fits alternatives 1 and 3, must fit exactly one");
}

TEST(Issues, OfAlternativesFollowTheNearestOne) {
  const char* shapes = R"({"oneOf":[
    {"properties":{"kind":{"const":"circle"},"r":{"type":"number"}},"required":["kind","r"]},
    {"properties":{"kind":{"const":"square"},"side":{"type":"number"}},"required":["kind","side"]}]})";
  EXPECT_THAT(issues_of(shapes, R"({"kind":"square","side":"x"})"),
              ElementsAre(Issue{"", "oneOf: fits none of 2 alternatives; the nearest is number 2"},
                          Issue{"/side", "type: expected number, not a string"}));
  EXPECT_THAT(issues_of(shapes, R"({"kind":"circle"})"),
              ElementsAre(Issue{"", "oneOf: fits none of 2 alternatives; the nearest is number 1"},
                          Issue{"", "required: missing \"r\""}));
}

TEST(Issues, HoldNoInstanceValueAndKeepTheirLimits) {
  std::string enumeration;
  for (int i = 0; i < 100; ++i) enumeration += fmt::format("{}\"value {}\"", i == 0 ? "" : ",", i);
  const std::string schema = R"({"additionalProperties":{"enum":[)" + enumeration + "]}}";
  const std::string key(400, 'k');
  const std::vector<Issue> issues =
      issues_of(schema, R"({")" + key + R"(":"SECRET","b":"SECRET","c":["SECRET"],"d":{"SECRET":1},"e":1})");
  ASSERT_EQ(issues.size(), kIssuesMax);
  for (const Issue& issue : issues) {
    EXPECT_LE(issue.path.size(), kIssuePathBytesMax);
    EXPECT_LE(issue.rule.size(), kIssueRuleBytesMax);
    EXPECT_EQ(issue.rule.find("SECRET"), std::string::npos);
    EXPECT_TRUE(issue.rule.ends_with("\u2026")) << issue.rule;
  }
  EXPECT_EQ(issues.front().path, "/b");
}

TEST(Feedback, IsOneLineAnIssueWithinItsLimit) {
  const std::vector<Issue> few = {{"", "type: expected object"}, {"/a\n\"b", "maximum: at most 10"}};
  EXPECT_EQ(feedback(few),
            "The value does not fit the schema:\n- at the root: type: expected object\n- at \"/a\\n\\\"b\": maximum: "
            "at most 10");
  const std::vector<Issue> wide(kIssuesMax,
                                {std::string(kIssuePathBytesMax, '\n'), std::string(kIssueRuleBytesMax, 'r')});
  EXPECT_LE(feedback(wide).size(), kFeedbackBytesMax);
  const std::vector<Issue> many(40, {"/x", std::string(kIssueRuleBytesMax, 'r')});
  EXPECT_LE(feedback(many).size(), kFeedbackBytesMax);
  EXPECT_TRUE(feedback(many).ends_with("\u2026"));
}

}  // namespace
}  // namespace assay::schema

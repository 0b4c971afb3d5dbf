#include "schema/evaluator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "schema/limits.h"

namespace assay::schema {
namespace {

bool fits(std::string_view schema, std::string_view instance) {
  const auto compiled = Schema::compile(schema);
  EXPECT_TRUE(compiled) << schema << ": " << compiled.error().detail;
  const auto document = json::Document::parse(std::string(instance), json::kOutputCaps);
  EXPECT_TRUE(document) << instance;
  const Outcome outcome = compiled->check(document->root());
  EXPECT_EQ(compiled->validate(document->root()).outcome, outcome);
  return outcome == Outcome::Valid;
}

TEST(Evaluator, IntegerMeansAZeroFractionInAnySpelling) {
  for (const char* integer :
       {"1", "-0", "1.0", "1e2", "100e-2", "1e1024", "12345678910111213141516171819202122232425262728293031"}) {
    EXPECT_TRUE(fits(R"({"type":"integer"})", integer)) << integer;
  }
  for (const char* other : {"1.5", "1e-1", "1e-1024", "0.1e0", "\"1\"", "true"})
    EXPECT_FALSE(fits(R"({"type":"integer"})", other)) << other;
}

TEST(Evaluator, ComparesNumbersExactly) {
  EXPECT_FALSE(fits(R"({"maximum":9007199254740992})", "9007199254740993"));
  EXPECT_FALSE(fits(R"({"const":9007199254740993})", "9007199254740992"));
  EXPECT_FALSE(fits(R"({"enum":[9007199254740993,0.1]})", "9007199254740992"));
  EXPECT_TRUE(fits(R"({"enum":[9007199254740993,0.1]})", "9007199254740993.0"));
  EXPECT_TRUE(fits(R"({"uniqueItems":true})", "[9007199254740992,9007199254740993]"));
  EXPECT_FALSE(fits(R"({"uniqueItems":true})", "[1,1.0]"));
  EXPECT_TRUE(fits(R"({"additionalProperties":{"type":"integer"}})", R"({"a":1,"b":2.0})"));
  EXPECT_FALSE(fits(R"({"additionalProperties":{"type":"integer"}})", R"({"a":1,"b":2.5})"));
  EXPECT_FALSE(fits(R"({"additionalProperties":false})", R"({"a":1})"));
  EXPECT_FALSE(fits(R"({"additionalProperties":{},"minProperties":2})", R"({"a":1})"));
  EXPECT_FALSE(fits(R"({"items":false})", "[1]"));
  EXPECT_FALSE(fits(R"({"items":{},"uniqueItems":true})", "[1,1]"));
  EXPECT_FALSE(fits(R"({"items":{"type":"null"}})", "[null,[]]"));
  EXPECT_FALSE(fits(R"({"uniqueItems":true})", R"(["a","b","\u0061"])"));
  EXPECT_TRUE(fits(R"({"uniqueItems":true})", R"(["1","2","3","4","5","6","7","8"])"));
  EXPECT_FALSE(fits(R"({"uniqueItems":true})", R"(["1","2","3","4","5","6","7","8","1"])"));
  EXPECT_TRUE(fits(R"({"multipleOf":0.1})", "0.3"));
  EXPECT_TRUE(fits(R"({"multipleOf":1e-1024})", "1e1024"));
  EXPECT_FALSE(fits(R"({"multipleOf":3})", "1e1024"));
  EXPECT_TRUE(fits(R"({"maximum":1e400})", "1e399"));
  EXPECT_FALSE(fits(R"({"maximum":1e400})", "1e401"));
  EXPECT_TRUE(fits(R"({"const":0})", "-0.0"));
  EXPECT_TRUE(fits(R"({"exclusiveMinimum":-1e-1024})", "0"));
  EXPECT_FALSE(fits(R"({"minimum":-1})", "-1.0000000000000000000000000000000000000001"));
}

TEST(Evaluator, CountsCodePoints) {
  EXPECT_TRUE(fits(R"({"minLength":2,"maxLength":2})", "\"\U0001F432\u00E4\""));
  EXPECT_FALSE(fits(R"({"maxLength":1})", "\"e\u0301\""));
  EXPECT_TRUE(fits(R"({"maxLength":1e400})", "\"abc\""));
  EXPECT_FALSE(fits(R"({"minLength":1e400})", "\"abc\""));
}

TEST(Evaluator, EqualityIgnoresKeyOrderAndSpelling) {
  EXPECT_TRUE(fits(R"({"const":{"a":[1,{"b":null}],"c":"\u0064"}})", R"({"c":"d","a":[1.0,{"b":null}]})"));
  EXPECT_FALSE(fits(R"({"const":{"a":1}})", R"({"a":1,"b":1})"));
  EXPECT_FALSE(fits(R"({"uniqueItems":true})", R"([{"a":1,"b":[2]},{"b":[2e0],"a":1}])"));
  EXPECT_TRUE(fits(R"({"uniqueItems":true})", R"([1,true,"1",[1],{"1":1},null,false,0,"",[],{}])"));
  EXPECT_FALSE(fits(R"({"enum":[1,"",[],null]})", "false"));
}

TEST(Evaluator, PropertiesPatternsAndTheRestWorkTogether) {
  const char* schema = R"({"properties":{"a":{"type":"string"},"x1":true},"patternProperties":{"^x":{"type":"integer"}},
                          "additionalProperties":{"type":"null"}})";
  EXPECT_TRUE(fits(schema, R"({"a":"","x1":1,"x2":2,"other":null})"));
  EXPECT_FALSE(fits(schema, R"({"x1":"s"})"));
  EXPECT_FALSE(fits(schema, R"({"other":1})"));
  EXPECT_TRUE(fits(R"({"additionalProperties":false})", "[1]"));
  EXPECT_TRUE(fits(R"({"properties":{"\u0061":false}})", R"({"b":1})"));
  EXPECT_FALSE(fits(R"({"properties":{"\u0061":false}})", R"({"a":1})"));
}

TEST(Evaluator, TuplesAndTheRestOfAnArray) {
  EXPECT_TRUE(fits(R"({"items":[{"type":"string"},{"type":"integer"}],"additionalItems":{"type":"null"}})",
                   R"(["",1,null,null])"));
  EXPECT_FALSE(fits(R"({"items":[{"type":"string"}],"additionalItems":{"type":"null"}})", R"(["",1])"));
  EXPECT_TRUE(fits(R"({"items":[{"type":"string"}]})", R"(["",1])"));
  EXPECT_TRUE(fits(R"({"additionalItems":false})", "[1]"));
  EXPECT_TRUE(fits(R"({"items":{},"additionalItems":false})", "[1]"));
  EXPECT_TRUE(fits(R"({"items":false})", "[]"));
  EXPECT_FALSE(fits(R"({"items":false})", "[1]"));
}

TEST(Evaluator, ConditionsAndDependencies) {
  EXPECT_TRUE(fits(R"({"then":false})", "1"));
  EXPECT_TRUE(fits(R"({"if":false})", "1"));
  EXPECT_FALSE(fits(R"({"if":{"type":"integer"},"then":{"minimum":2}})", "1"));
  EXPECT_TRUE(fits(R"({"if":{"type":"integer"},"then":{"minimum":2}})", "0.5"));
  EXPECT_FALSE(fits(R"({"if":{"type":"integer"},"else":false})", "0.5"));
  EXPECT_FALSE(fits(R"({"dependencies":{"a":{"required":["b"]}}})", R"({"a":1})"));
  EXPECT_FALSE(fits(R"({"dependencies":{"a":false}})", R"({"a":1})"));
  EXPECT_TRUE(fits(R"({"dependencies":{"a":["b"],"c":["d"]}})", R"({"a":1,"b":1})"));
}

TEST(Evaluator, PropertyNamesAreStrings) {
  EXPECT_TRUE(fits(R"({"propertyNames":{"type":"string","enum":["a","b"],"not":{"const":"b"}}})", R"({"a":1})"));
  EXPECT_FALSE(fits(R"({"propertyNames":{"not":{"const":"b"}}})", R"({"b":1})"));
  EXPECT_FALSE(fits(R"({"propertyNames":{"type":"object"}})", R"({"b":1})"));
  EXPECT_TRUE(fits(R"({"propertyNames":false})", "{}"));
  EXPECT_FALSE(fits(R"({"propertyNames":{"format":"date"}})", R"({"b":1})"));
}

TEST(Evaluator, FormatsApplyToStringsAlone) {
  EXPECT_TRUE(fits(R"({"format":"date"})", "1"));
  EXPECT_FALSE(fits(R"({"format":"date"})", "\"2024-02-30\""));
}

TEST(Evaluator, ManyRequiredNames) {
  std::string names;
  std::string members;
  for (int i = 0; i < 500; ++i) {
    names += fmt::format("{}\"n{}\"", i == 0 ? "" : ",", i);
    members += fmt::format("{}\"n{}\":0", i == 0 ? "" : ",", i);
  }
  const std::string schema = R"({"required":[)" + names + R"(],"dependencies":{"n0":["n499"]}})";
  EXPECT_TRUE(fits(schema, "{" + members + "}"));
  members.replace(members.find("\"n250\""), 6, "\"m250\"");
  EXPECT_FALSE(fits(schema, "{" + members + "}"));
}

// A text and a pattern whose search may cost more than there is.
std::string long_text() { return '"' + std::string(60000, 'a') + '"'; }
constexpr std::string_view kCostly = R"({"pattern":"(?:[ab]?c?){100}d"})";

TEST(Evaluator, EndsWithoutAVerdictWhereTheWorkIsTooMuch) {
  const auto document = json::Document::parse(long_text(), json::kOutputCaps);
  for (const std::string& schema :
       {std::string(kCostly), fmt::format(R"({{"not":{}}})", kCostly), fmt::format(R"({{"anyOf":[{},true]}})", kCostly),
        fmt::format(R"({{"if":{},"else":true}})", kCostly), fmt::format(R"({{"oneOf":[true,{}]}})", kCostly)}) {
    const auto compiled = Schema::compile(schema);
    ASSERT_TRUE(compiled) << schema;
    EXPECT_EQ(compiled->check(document->root()), Outcome::BudgetExceeded) << schema;
    const Verdict verdict = compiled->validate(document->root());
    EXPECT_EQ(verdict.outcome, Outcome::BudgetExceeded);
    EXPECT_TRUE(verdict.issues.empty());
  }
}

TEST(Evaluator, TheBudgetEndsWhereItSays) {
  const auto compiled = Schema::compile(kCostly);
  ASSERT_TRUE(compiled);
  const auto verdict_of = [&](std::size_t bytes) {
    return compiled->validate(json::Document::parse('"' + std::string(bytes, 'a') + '"', json::kOutputCaps)->root());
  };
  std::size_t within = 1;
  std::size_t beyond = 60000;
  while (within + 1 < beyond) {
    const std::size_t bytes = (within + beyond) / 2;
    (verdict_of(bytes).outcome == Outcome::BudgetExceeded ? beyond : within) = bytes;
  }
  EXPECT_EQ(verdict_of(within).outcome, Outcome::Invalid);
  EXPECT_LE(verdict_of(within).work_units, kWorkUnitsMax);
  EXPECT_GT(verdict_of(within).work_units, kWorkUnitsMax - 10);
  EXPECT_EQ(verdict_of(within + 1).outcome, Outcome::BudgetExceeded);
}

TEST(Evaluator, AnInvalidValueThatIsCostlyToExplainIsStillInvalid) {
  const auto compiled = Schema::compile(fmt::format(R"({{"minLength":60001,"not":{}}})", kCostly));
  ASSERT_TRUE(compiled);
  const auto document = json::Document::parse(long_text(), json::kOutputCaps);
  const Verdict verdict = compiled->validate(document->root());
  EXPECT_EQ(verdict.outcome, Outcome::Invalid);
  ASSERT_EQ(verdict.issues.size(), 1U);
  EXPECT_EQ(verdict.issues.front().rule, "minLength: at least 60001 characters");
}

std::string rows_of(std::size_t rows, const std::string& row) {
  std::string text = "[";
  for (std::size_t i = 0; i < rows; ++i) text += (i == 0 ? "[" : ",[") + row + "]";
  return text + "]";
}

std::string repeated(std::size_t times, const std::string& element) {
  std::string text = element;
  for (std::size_t i = 1; i < times; ++i) text += "," + element;
  return text;
}

// What every object lacks is noticed, and said, at the cost of what is said.
TEST(Evaluator, ManyNamesForManyEmptyObjects) {
  std::string names = "\"0\"";
  std::string dependencies = "\"0\":[]";
  for (int i = 1; i < 1300; ++i) {
    names += fmt::format(",\"{}\"", i);
    dependencies += fmt::format(",\"{}\":[]", i);
  }
  const std::string value = rows_of(16, repeated(250, "{}"));
  const auto document = json::Document::parse(value, json::kOutputCaps);
  const auto required = Schema::compile(R"({"items":{"items":{"required":[)" + names + "]}}}");
  const Verdict verdict = required->validate(document->root());
  ASSERT_EQ(verdict.outcome, Outcome::Invalid);
  EXPECT_EQ(verdict.issues.size(), kIssuesMax);
  EXPECT_EQ(verdict.issues.front().path, "/0/0");
  const auto triggers = Schema::compile(R"({"items":{"items":{"dependencies":{)" + dependencies + "}}}}");
  ASSERT_TRUE(triggers);
  EXPECT_EQ(triggers->validate(document->root()).outcome, Outcome::Valid);
  EXPECT_LT(triggers->validate(document->root()).work_units, kWorkUnitsMax / 4);
}

// 256 large elements: as much work as there are bytes, not as there are pairs.
TEST(Evaluator, UniqueItemsAreNearlyLinear) {
  const auto compiled = Schema::compile(R"({"uniqueItems":true})");
  const auto work_of = [&](std::size_t count) {
    std::string text = "[";
    for (std::size_t i = 0; i < count; ++i) {
      text += i == 0 ? "" : ",";
      for (std::size_t key = 0; key < 7; ++key) {
        text += fmt::format(R"({}"key{}":{})", key == 0 ? "{" : ",", (key + i) % 7, (key + i) % 7 == 0 ? i : 10);
      }
      text += "}";
    }
    const auto document = json::Document::parse(text + "]", json::kOutputCaps);
    const Verdict verdict = compiled->validate(document->root());
    EXPECT_EQ(verdict.outcome, Outcome::Valid);
    return verdict.work_units;
  };
  EXPECT_LT(work_of(256), 17 * work_of(16));
  EXPECT_LT(work_of(256), kWorkUnitsMax / 8);
}

TEST(Evaluator, ComparingWithAConstantCostsAsMuchAsHashing) {
  const auto work_of = [](const char* schema) {
    const auto document = json::Document::parse(R"({"a":[1,2],"b":{}})", json::kOutputCaps);
    return Schema::compile(schema)->validate(document->root()).work_units;
  };
  const std::uint64_t differs = work_of(R"({"const":{"a":[1,3],"b":{}}})");
  EXPECT_EQ(work_of(R"({"const":{"b":{},"a":[1,2]}})"), 2 * differs - 1);
}

// Whichever of the equal pairs the hashes of this process bring first.
TEST(Evaluator, EqualElementsCostTheSameInEveryProcess) {
  const auto compiled = Schema::compile(R"({"uniqueItems":true})");
  const auto work_of = [&](const std::string& text) {
    const auto document = json::Document::parse(text, json::kOutputCaps);
    return compiled->validate(document->root()).work_units;
  };
  const std::string large = '"' + std::string(1600, 'x') + '"';
  std::string small_pairs;
  for (int i = 0; i < 40; ++i) small_pairs += fmt::format("{0},{0}.0,", 100 + i);
  std::string no_pairs;
  for (int i = 0; i < 40; ++i) no_pairs += fmt::format("{},{}.0,", 100 + i, 200 + i);
  EXPECT_EQ(work_of("[" + small_pairs + large + "," + large + "]"),
            work_of("[" + no_pairs + large + "," + large + "]"));
}

TEST(Evaluator, TheLongestNumbersAreWellWithinTheBudget) {
  const std::string divisor = std::string(110, '7') + '3';
  for (const std::string& number : {std::string(128, '9'), divisor, std::string("1e1024"), std::string("1e-1024")}) {
    const auto compiled = Schema::compile(R"({"items":{"items":{"minimum":-1e1024,"maximum":1e1024,"multipleOf":)" +
                                          divisor + R"(,"not":{"const":1e-1023}}}})");
    ASSERT_TRUE(compiled);
    const std::string value = rows_of(2, repeated(240, number));
    const auto document = json::Document::parse(value, json::kOutputCaps);
    ASSERT_TRUE(document);
    const Verdict verdict = compiled->validate(document->root());
    EXPECT_EQ(verdict.outcome, number == divisor ? Outcome::Valid : Outcome::Invalid) << number;
    EXPECT_LT(verdict.work_units, kWorkUnitsMax / 2);
  }
}

TEST(Evaluator, TheLargestValueIsWellWithinTheBudget) {
  std::string rows;
  for (int i = 0; i < 16; ++i) {
    std::string row;
    for (int j = 0; j < 250; ++j) row += fmt::format("{}\"{}\"", j == 0 ? "" : ",", i * 250 + j);
    rows += fmt::format("{}[{}]", i == 0 ? "" : ",", row);
  }
  EXPECT_TRUE(fits(R"({"items":{"uniqueItems":true,"items":{"allOf":[{"pattern":"^[0-9]+$"},{"pattern":"([0-9]|x)+$"},
                    {"type":"string","minLength":1},{"not":{"const":"x"}},{"format":"uri-reference"}]}}})",
                   "[" + rows + "]"));
  EXPECT_TRUE(fits(R"({"pattern":"(a|b)*$"})", long_text()));
}

}  // namespace
}  // namespace assay::schema

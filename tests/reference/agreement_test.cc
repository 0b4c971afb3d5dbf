// The compiled validator against the naive one: random schemas with random values, and real ones with mutated values.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "json/equality.h"
#include "schema/schema.h"
#include "tests/reference/evaluator.h"
#include "tests/reference/number.h"
#include "tests/reference/tree.h"

namespace assay::reference {
namespace {

int rounds() {
  constexpr int kRounds = 3000;
  const char* wanted = std::getenv("ASSAY_AGREEMENT_ROUNDS");
  return wanted == nullptr ? kRounds : std::atoi(wanted);
}

json::Document parsed(const std::string& text) {
  auto document = json::Document::parse(text, json::Caps{});
  EXPECT_TRUE(document) << text;
  return std::move(*document);
}

// Counts what was compared, so that a test cannot pass by comparing nothing.
struct Tally {
  int valid = 0;
  int invalid = 0;

  void compare(const schema::Schema& compiled, json::Value schema, const std::string& instance_text) {
    const json::Document instance = parsed(instance_text);
    const auto expected = is_valid(schema, instance.root());
    if (!expected) return;
    const schema::Verdict verdict = compiled.validate(instance.root());
    EXPECT_EQ(verdict.outcome == schema::Outcome::Valid, *expected) << compiled.text() << "\n" << instance_text;
    EXPECT_EQ(verdict.outcome, compiled.check(instance.root()));
    EXPECT_EQ(verdict.issues.empty(), *expected);
    ++(*expected ? valid : invalid);
  }
};

bool is_a_limit(schema::RefusalCode code) {
  using schema::RefusalCode;
  return code == RefusalCode::TooManyBranches || code == RefusalCode::BranchesTooDeep ||
         code == RefusalCode::TooManyNodes || code == RefusalCode::TooManyPatternProperties;
}

TEST(Agreement, OnRandomSchemasAndMutatedValues) {
  SeededRandom random(20240229);
  Tally tally;
  for (int round = 0; round < rounds(); ++round) {
    const std::string text = random_schema(random, 3);
    const auto compiled = schema::Schema::compile(text);
    if (!compiled) {
      const schema::Refusal& refusal = compiled.error();
      EXPECT_TRUE(is_a_limit(refusal.code) || refusal.code_name == "duplicate_key") << text << "\n" << refusal.detail;
      continue;
    }
    const json::Document schema = parsed(text);
    Tree instance = random_value(random, 3);
    for (int i = 0; i < 12; ++i) {
      tally.compare(*compiled, schema.root(), print(instance));
      mutate(random, instance);
    }
  }
  EXPECT_GT(tally.valid, rounds());
  EXPECT_GT(tally.invalid, rounds());
}

TEST(Agreement, OnEquality) {
  SeededRandom random(7);
  int equal = 0;
  for (int round = 0; round < rounds() * 4; ++round) {
    Tree tree = random_value(random, 3);
    const json::Document left = parsed(print(tree));
    mutate(random, tree);
    const json::Document right = parsed(print(tree));
    const bool expected = is_equal(left.root(), right.root());
    EXPECT_EQ(json::equal(left.root(), right.root()), expected) << left.text() << "\n" << right.text();
    if (expected) EXPECT_EQ(json::hash(left.root(), 1), json::hash(right.root(), 1));
    equal += expected ? 1 : 0;
  }
  EXPECT_GT(equal, rounds() / 10);
}

TEST(Agreement, OnRealSchemasAndMutatedValues) {
  const char* configured = std::getenv("ASSAY_SUITE_DATA_DIR");
  const std::filesystem::path folder =
      configured == nullptr ? std::filesystem::path(ASSAY_SOURCE_DIR) / ".." / "shared" / "data" : configured;
  std::ifstream file(folder / "cases.jsonl");
  if (!file) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "the real schemas are missing: " << folder;
    GTEST_SKIP() << "ABSENT: real schemas. Set ASSAY_SUITE_DATA_DIR to the folder that holds cases.jsonl";
  }
  SeededRandom random(11);
  Tally tally;
  for (std::string line; std::getline(file, line);) {
    const json::Document entry = parsed(line);
    const std::string text(entry.root().find("schema")->string());
    const auto compiled = schema::Schema::compile(text);
    ASSERT_TRUE(compiled) << text;
    const json::Document schema = parsed(text);
    const json::Document original = parsed(std::string(entry.root().find("instance")->string()));
    for (int round = 0; round < 20; ++round) {
      Tree instance = read_tree(original.root());
      for (int changes = round % 4; changes >= 0; --changes) mutate(random, instance);
      tally.compare(*compiled, schema.root(), print(instance));
    }
  }
  EXPECT_GT(tally.valid, 0);
  EXPECT_GT(tally.invalid, 0);
}

// The judge is judged too. Left out: contentEncoding as an assertion, and what std::regex reads its own way.
TEST(ReferenceEvaluator, PassesTheOfficialSuite) {
  const char* configured = std::getenv("ASSAY_SUITES_DIR");
  const std::filesystem::path folder =
      (configured == nullptr ? std::filesystem::path(ASSAY_SOURCE_DIR) / ".." / "shared" / "suites" : configured) /
      "json-schema-draft7";
  if (!std::filesystem::is_directory(folder)) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "the official suite is missing: " << folder;
    GTEST_SKIP()
        << "ABSENT: the official Draft-07 suite. Set ASSAY_SUITES_DIR to the folder that holds json-schema-draft7/";
  }
  int judged = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".json" || name == "content.json" || name == "ecmascript-regex.json") continue;
    std::ifstream file(entry.path());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto groups = json::Document::parse(text, json::Caps{}, json::Dialect::Lenient);
    ASSERT_TRUE(groups) << entry.path();
    for (const json::Value group : groups->root().elements()) {
      if (!schema::Schema::compile(group.find("schema")->raw())) continue;
      for (const json::Value test : group.find("tests")->elements()) {
        const auto verdict = is_valid(*group.find("schema"), *test.find("data"));
        if (!verdict) continue;
        ++judged;
        EXPECT_EQ(*verdict, test.find("valid")->boolean()) << name << " | " << test.find("description")->string();
      }
    }
  }
  EXPECT_GT(judged, 700);
}

TEST(ReferenceNumber, ComputesAsOnPaper) {
  EXPECT_EQ(compare(read_number("1e2"), read_number("100.0")), 0);
  EXPECT_LT(compare(read_number("-2"), read_number("-1.99")), 0);
  EXPECT_GT(compare(read_number("9007199254740993"), read_number("9007199254740992")), 0);
  EXPECT_EQ(compare(read_number("-0.0"), read_number("0")), 0);
  EXPECT_TRUE(is_multiple(read_number("0.3"), read_number("0.1")));
  EXPECT_FALSE(is_multiple(read_number("1e20"), read_number("3")));
  EXPECT_TRUE(is_integer(read_number("150e-1")));
  EXPECT_FALSE(is_integer(read_number("15e-1")));
}

}  // namespace
}  // namespace assay::reference

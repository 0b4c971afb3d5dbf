// The official Draft-07 suite, every case of it. What lies outside the contract must be refused at admission, and
// stands in one list with its reason; a refusal that is not listed fails, and so does an entry that is not needed.
//
// The suite is no part of the project: ASSAY_SUITES_DIR names the folder that holds it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "json/document.h"
#include "json/error.h"
#include "schema/official_suite_exceptions.h"
#include "schema/schema.h"

namespace assay::schema {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

fs::path suite_folder() {
  const std::string suites = environment("ASSAY_SUITES_DIR");
  return (suites.empty() ? fs::path(ASSAY_SOURCE_DIR) / ".." / "shared" / "suites" : fs::path(suites)) /
         "json-schema-draft7";
}

// Runs the suite and remembers which list entries it needed.
class SuiteRun {
 public:
  void run_file(const fs::path& path, const std::string& name) {
    auto document = json::Document::parse(read(path), json::Caps{}, json::Dialect::Lenient);
    ASSERT_TRUE(document) << name << ": " << json::describe(document.error());
    for (const json::Value group : document->root().elements()) run_group(name, group);
  }

  void expect_no_unused_entries() const {
    for (const RefusedGroup& entry : kRefusedGroups) {
      EXPECT_TRUE(refused_used_.contains(&entry)) << "not refused: " << entry.file << " | " << entry.group;
    }
    for (const DifferentCase& entry : kDifferentCases) {
      EXPECT_TRUE(different_used_.contains(&entry))
          << "no difference: " << entry.file << " | " << entry.group << " | " << entry.test;
    }
  }

  [[nodiscard]] int cases() const { return cases_; }

 private:
  void run_group(const std::string& file, json::Value group) {
    const std::string description(group.find("description")->string());
    const auto schema = Schema::compile(group.find("schema")->raw());
    const auto listed = std::ranges::find_if(
        kRefusedGroups, [&](const RefusedGroup& entry) { return entry.file == file && entry.group == description; });
    if (!schema) {
      cases_ += static_cast<int>(group.find("tests")->size());
      if (listed == kRefusedGroups.end() || listed->code != schema.error().code_name) {
        ADD_FAILURE() << "unlisted refusal {\"" << file << "\", \"" << description << "\", \""
                      << schema.error().code_name << "\"}, " << schema.error().detail;
        return;
      }
      refused_used_.insert(&*listed);
      return;
    }
    EXPECT_EQ(listed, kRefusedGroups.end()) << "listed as refused, but compiles: " << file << " | " << description;
    for (const json::Value test : group.find("tests")->elements()) run_case(file, description, *schema, test);
  }

  void run_case(const std::string& file, const std::string& group, const Schema& schema, json::Value test) {
    ++cases_;
    const std::string description(test.find("description")->string());
    const bool expected = test.find("valid")->boolean();
    const auto listed = std::ranges::find_if(kDifferentCases, [&](const DifferentCase& entry) {
      return entry.file == file && entry.group == group && entry.test == description;
    });
    const auto instance = json::Document::parse(std::string(test.find("data")->raw()), json::kOutputCaps);
    const bool actual = instance && schema.is_valid(instance->root());
    if (listed != kDifferentCases.end()) {
      EXPECT_NE(actual, expected) << file << " | " << group << " | " << description << ": " << listed->reason;
      different_used_.insert(&*listed);
      return;
    }
    EXPECT_EQ(actual, expected) << file << " | " << group << " | " << description;
    if (instance) {
      const Verdict verdict = schema.validate(instance->root());
      EXPECT_EQ(verdict.outcome, actual ? Outcome::Valid : Outcome::Invalid);
      EXPECT_EQ(verdict.issues.empty(), actual);
    }
  }

  int cases_ = 0;
  std::set<const RefusedGroup*> refused_used_;
  std::set<const DifferentCase*> different_used_;
};

TEST(OfficialSuite, EveryDraft7CaseHasItsVerdict) {
  const fs::path folder = suite_folder();
  if (!fs::is_directory(folder)) {
    ASSERT_TRUE(environment("CI").empty()) << "the official suite is missing: " << folder;
    GTEST_SKIP()
        << "ABSENT: the official Draft-07 suite. Set ASSAY_SUITES_DIR to the folder that holds json-schema-draft7/";
  }
  SuiteRun run;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    run.run_file(entry.path(), entry.path().lexically_relative(folder).generic_string());
  }
  run.expect_no_unused_entries();
  constexpr int kCasesExpected = 1500;
  EXPECT_GT(run.cases(), kCasesExpected) << "the suite is not complete";
}

}  // namespace
}  // namespace assay::schema

// Real schemas and values (../shared/data, or the folder that ASSAY_SUITE_DATA_DIR names): no part of the project.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "json/document.h"
#include "schema/schema.h"

namespace assay::schema {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class RealData : public testing::Test {
 protected:
  void SetUp() override {
    const std::string configured = environment("ASSAY_SUITE_DATA_DIR");
    folder_ = configured.empty() ? fs::path(ASSAY_SOURCE_DIR) / ".." / "shared" / "data" : fs::path(configured);
    if (fs::exists(folder_ / "cases.jsonl")) return;
    ASSERT_TRUE(environment("CI").empty()) << "the real schemas are missing: " << folder_;
    GTEST_SKIP() << "ABSENT: real schemas and values. Set ASSAY_SUITE_DATA_DIR to the folder that holds cases.jsonl";
  }

  template <class Visit>
  int for_each_line(const char* name, Visit visit) {
    std::ifstream file(folder_ / name);
    int lines = 0;
    for (std::string line; std::getline(file, line); ++lines) {
      const auto entry = json::Document::parse(line, json::kBodyCaps);
      if (!entry) {
        ADD_FAILURE() << name << " line " << lines + 1 << " is unreadable";
        continue;
      }
      visit(entry->root());
    }
    return lines;
  }

  fs::path folder_;
};

TEST_F(RealData, EveryCaseHasItsVerdict) {
  const int lines = for_each_line("cases.jsonl", [](json::Value entry) {
    const std::string id(entry.find("id")->string());
    const auto schema = Schema::compile(entry.find("schema")->string());
    ASSERT_TRUE(schema) << id << ": " << schema.error().code_name << ": " << schema.error().detail;
    const auto instance = json::Document::parse(std::string(entry.find("instance")->string()), json::kOutputCaps);
    ASSERT_TRUE(instance) << id;
    EXPECT_EQ(schema->is_valid(instance->root()), entry.find("valid")->boolean()) << id;
  });
  EXPECT_GT(lines, 0);
}

// The reason that a screen in document order meets first; another true one is right too, and none is accepted blindly.
bool is_true_reason(std::string_view why, const Refusal& refusal) {
  if (why.starts_with("keyword ")) {
    return refusal.code == RefusalCode::UnsupportedKeyword || refusal.code == RefusalCode::UnknownKeyword ||
           refusal.code == RefusalCode::UnsupportedDialect;
  }
  if (why == "dialect") {
    return refusal.code == RefusalCode::UnsupportedDialect || refusal.code == RefusalCode::UnsupportedKeyword ||
           refusal.code == RefusalCode::UnknownKeyword;
  }
  if (why == "format") return refusal.code == RefusalCode::UnsupportedFormat;
  if (why == "bytes") return refusal.code_name == "too_long";
  if (why == "depth") return refusal.code_name == "too_deep";
  if (why == "unicode") return refusal.code_name == "nul_character";
  if (why == "limits") return refusal.code == RefusalCode::TooManyBranches;
  return false;
}

TEST_F(RealData, EveryUnsupportedSchemaIsRefusedForATrueReason) {
  const int lines = for_each_line("refused.jsonl", [](json::Value entry) {
    const std::string id(entry.find("id")->string());
    const std::string why(entry.find("why")->string());
    const auto schema = Schema::compile(entry.find("schema")->string());
    ASSERT_FALSE(schema) << id << " must be refused: " << why;
    EXPECT_TRUE(is_true_reason(why, schema.error())) << id << ": " << why << ", not " << schema.error().code_name;
    EXPECT_FALSE(schema.error().detail.empty()) << id;
  });
  EXPECT_GT(lines, 0);
}

}  // namespace
}  // namespace assay::schema

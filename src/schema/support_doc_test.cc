// docs/schema-support.md against the code: every keyword, format, limit and code stands there once, and every example
// does what the page says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "json/limits.h"
#include "schema/formats.h"
#include "schema/keyword.h"
#include "schema/limits.h"
#include "schema/schema.h"

namespace assay::schema {
namespace {

using Row = std::vector<std::string>;

std::string page() {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/docs/schema-support.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string cell(std::string text) {
  const auto first = text.find_first_not_of(' ');
  text = first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
  const bool is_code =
      text.size() > 2 && text.front() == '`' && text.back() == '`' && std::ranges::count(text, '`') == 2;
  return is_code ? text.substr(1, text.size() - 2) : text;
}

// The rows of the table under a heading, without its own heading.
std::vector<Row> table(std::string_view heading) {
  const std::string text = page();
  const std::size_t begin = text.find(fmt::format("\n## {}\n", heading));
  EXPECT_NE(begin, std::string::npos) << heading;
  const std::string section = text.substr(begin + 1, text.find("\n## ", begin + 1) - begin - 1);
  std::vector<Row> rows;
  for (std::size_t at = section.find("\n| "); at != std::string::npos; at = section.find("\n| ", at + 1)) {
    const std::string line = section.substr(at + 2, section.find('\n', at + 1) - at - 2);
    Row row;
    for (std::size_t cell_begin = 0, bar = line.find('|'); bar != std::string::npos;
         cell_begin = bar + 1, bar = line.find('|', cell_begin)) {
      row.push_back(cell(line.substr(cell_begin, bar - cell_begin)));
    }
    rows.push_back(std::move(row));
  }
  EXPECT_GT(rows.size(), 2U) << heading;
  rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

constexpr std::string_view kNone = "–";

std::string_view role_name(Role role) {
  switch (role) {
    case Role::Dialect:
      return "dialect";
    case Role::Assertion:
      return "assertion";
    case Role::Applicator:
      return "applicator";
    case Role::Annotation:
      return "annotation";
  }
  return "";
}

bool fits(const std::string& schema, const std::string& instance) {
  const auto compiled = Schema::compile(schema);
  const auto document = json::Document::parse(instance, json::kOutputCaps);
  EXPECT_TRUE(compiled) << schema;
  EXPECT_TRUE(document) << instance;
  return compiled && document && compiled->is_valid(document->root());
}

TEST(SupportDocument, ListsEveryKeyword) {
  const std::vector<Row> rows = table("Keywords");
  ASSERT_EQ(rows.size(), keywords().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    ASSERT_EQ(row.size(), 5U) << row.front();
    EXPECT_EQ(row[0], keywords()[i].name);
    EXPECT_EQ(row[1], role_name(keywords()[i].role)) << row[0];
    EXPECT_NE(row[2].find('"' + row[0] + '"'), std::string::npos) << "the example does not use " << row[0];
    EXPECT_TRUE(fits(row[2], row[3])) << row[0];
    const bool decides = keywords()[i].role == Role::Assertion || keywords()[i].role == Role::Applicator;
    EXPECT_EQ(row[4] != kNone, decides) << row[0];
    if (decides) EXPECT_FALSE(fits(row[2], row[4])) << row[0];
  }
}

TEST(SupportDocument, ListsEveryFormat) {
  const std::vector<Row> rows = table("Formats");
  ASSERT_EQ(rows.size(), formats().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const FormatInfo& format = formats()[i];
    ASSERT_EQ(rows[i].size(), 4U);
    EXPECT_EQ(rows[i][0], format.name);
    EXPECT_EQ(rows[i][1], format.source);
    EXPECT_EQ(rows[i][2], format.example);
    EXPECT_TRUE(format.matches(rows[i][2])) << format.name;
    EXPECT_FALSE(format.matches(rows[i][3])) << format.name;
  }
}

TEST(SupportDocument, ListsEveryLimit) {
  const std::vector<std::size_t> limits = {json::kSchemaCaps.bytes_max,
                                           json::kSchemaCaps.depth_max,
                                           kNodesMax,
                                           kBranchesMax,
                                           kBranchNestingMax,
                                           kPatternBytesMax,
                                           kPatternPositionsMax,
                                           kPatternsPositionsMax,
                                           kPatternMemoryBytesMax / 1024,
                                           kPatternsMemoryBytesMax / 1024,
                                           kPatternPropertiesMax,
                                           kWorkUnitsMax,
                                           kExplanationUnitsMax};
  const std::vector<Row> rows = table("Limits");
  ASSERT_EQ(rows.size(), limits.size());
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].at(1), std::to_string(limits[i])) << rows[i][0];
}

TEST(SupportDocument, ListsEveryCode) {
  const std::vector<Row> rows = table("Codes of a refused schema");
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(RefusalCode::PatternTooComplex) + 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto code = static_cast<RefusalCode>(i);
    ASSERT_EQ(rows[i].size(), 3U);
    EXPECT_EQ(rows[i][0], code_name(code));
    if (rows[i][2] == kNone) continue;
    const auto compiled = Schema::compile(rows[i][2]);
    ASSERT_FALSE(compiled) << rows[i][2];
    EXPECT_EQ(compiled.error().code, code) << rows[i][2];
  }
}

TEST(SupportDocument, ShowsTheFeedbackAsItIs) {
  const std::string text = page();
  const auto block = [&](std::string_view kind) {
    const std::string fence = fmt::format("```{}\n", kind);
    const std::size_t begin = text.find(fence) + fence.size();
    return text.substr(begin, text.find("\n```", begin) - begin);
  };
  const auto schema = Schema::compile(block("json"));
  ASSERT_TRUE(schema);
  const auto instance = json::Document::parse(R"({"comand":"make test","retries":0.5})", json::kOutputCaps);
  EXPECT_EQ(feedback(schema->validate(instance->root()).issues), block("text"));
}

}  // namespace
}  // namespace assay::schema

#include "cli/validate.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace assay::cli {
namespace {

TEST(ValidateBatch, AnswersValidValues) {
  EXPECT_EQ(batch_verdict(R"({"schema_text":"{\"type\":\"integer\"}","instance_text":"1e2"})"),
            R"({"schema":"ok","instance":"valid","issues":[]})");
}

TEST(ValidateBatch, NamesPathAndRuleOfAnInvalidValue) {
  const std::string verdict = batch_verdict(
      R"({"schema_text":"{\"properties\":{\"a\":{\"type\":\"integer\"}}}","instance_text":"{\"a\":\"x\"}"})");
  EXPECT_TRUE(verdict.starts_with(R"({"schema":"ok","instance":"invalid","issues":[{"path":"/a","rule":"type)"))
      << verdict;
}

TEST(ValidateBatch, NamesWhatTheBoundaryRefusesInAValue) {
  const std::string verdict = batch_verdict(R"({"schema_text":"true","instance_text":"{\"a\":1,\"a\":2}"})");
  EXPECT_TRUE(verdict.starts_with(R"({"schema":"ok","instance":{"code":"duplicate_key","detail":)")) << verdict;
}

TEST(ValidateBatch, LeavesTheInstanceNullWhenTheSchemaIsRefused) {
  const std::string verdict =
      batch_verdict(R"({"schema_text":"{\"properties\":{\"a\":{\"$ref\":\"#\"}}}","instance_text":"1"})");
  EXPECT_NE(verdict.find(R"("schema":{"code":"unsupported_keyword","detail":)"), std::string::npos) << verdict;
  EXPECT_NE(verdict.find(R"("path":"/properties/a/$ref"},"instance":null,"issues":[]})"), std::string::npos) << verdict;
}

TEST(ValidateBatch, AnswersLinesOfAnotherShape) {
  for (const char* line : {"nonsense", "[]", "{}", R"({"schema_text":1,"instance_text":"1"})"}) {
    EXPECT_TRUE(batch_verdict(line).starts_with(R"({"schema":{"code":"invalid_line",)")) << line;
  }
}

TEST(ValidateBatch, WritesOneLineForEachLine) {
  std::istringstream in(
      "{}\n\n"
      R"({"schema_text":"true","instance_text":"1"})"
      "\n");
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(validate_batch(in, out, err), kExitOk);
  EXPECT_EQ(err.str(), "");
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

// As a full disk is.
class FullStream : private std::streambuf, public std::ostream {
 public:
  FullStream() : std::ostream(static_cast<std::streambuf*>(this)) {}
};

TEST(ValidateBatch, EndsWhenItsResultsCannotBeWritten) {
  std::istringstream in("{}\n{}\n");
  FullStream out;
  std::ostringstream err;
  EXPECT_EQ(validate_batch(in, out, err), kExitInternal);
  EXPECT_TRUE(err.str().starts_with("cannot write the results: ")) << err.str();
}

class ValidateFilesTest : public testing::Test {
 protected:
  ValidateFilesTest()
      : folder_(std::filesystem::temp_directory_path() / ("assay-validate-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~ValidateFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    std::ofstream(path) << text;
    return path;
  }
  ExitCode run(const std::string& schema, const std::string& instance) {
    return validate_files({.schema_path = schema, .instance_path = instance}, out_, err_);
  }

  std::filesystem::path folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ValidateFilesTest, ChecksOneValueAFile) {
  const std::string schema = file("s.json", R"({"type":"integer"})"
                                            "\n");
  EXPECT_EQ(run(schema, file("good.json", "7\n")), kExitOk);
  EXPECT_EQ(out_.str(), "valid\n");
  EXPECT_EQ(run(schema, file("bad.json", "\"x\"")), kExitNegative);
}

TEST_F(ValidateFilesTest, EndsWhenTheVerdictCannotBeWritten) {
  FullStream out;
  const ValidateFiles files{.schema_path = file("s.json", "true"), .instance_path = file("good.json", "7")};
  EXPECT_EQ(validate_files(files, out, err_), kExitInternal);
  EXPECT_TRUE(err_.str().starts_with("cannot write the results: ")) << err_.str();
}

TEST_F(ValidateFilesTest, ChecksOneValueALineAndCountsThem) {
  const std::string schema = file("s.json", R"({"type":"integer"})");
  EXPECT_EQ(run(schema, file("some.jsonl", "1\n\"x\"\n\n3\n")), kExitNegative);
  EXPECT_TRUE(out_.str().starts_with("line 2: at the root: type")) << out_.str();
  EXPECT_TRUE(err_.str().starts_with("3 values, 2 valid, 1 invalid")) << err_.str();
  EXPECT_EQ(run(schema, file("all.jsonl", "1\n2")), kExitOk);
}

TEST_F(ValidateFilesTest, SaysWhichFileOrSchemaIsWrong) {
  EXPECT_EQ(run((folder_ / "absent.json").string(), "x.jsonl"), kExitUsage);
  EXPECT_NE(err_.str().find("absent.json: No such file"), std::string::npos) << err_.str();
  EXPECT_EQ(run(file("s.json", R"({"$id":"x"})"), "x.jsonl"), kExitUsage);
  EXPECT_NE(err_.str().find("schema refused at /$id"), std::string::npos) << err_.str();
  EXPECT_EQ(run(file("t.json", "true"), (folder_ / "absent.jsonl").string()), kExitUsage);
}

}  // namespace
}  // namespace assay::cli

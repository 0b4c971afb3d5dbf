#include "cli/validate_lines.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>

namespace assay::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Settings {
  std::string schema = R"({"type":"integer"})";
  bool is_quiet = false;
  bool show_progress = false;
  StopRequest stop = {};
};

struct Report {
  ExitCode code;
  std::string out;
  std::string err;
};

Report validate(const std::string& content, const Settings& run = {}) {
  std::FILE* const file = std::tmpfile();
  std::fwrite(content.data(), 1, content.size(), file);
  std::fflush(file);
  std::rewind(file);
  const auto schema = schema::Schema::compile(run.schema);
  EXPECT_TRUE(schema);
  std::ostringstream out;
  std::ostringstream err;
  const ExitCode code = validate_lines(*schema,
                                       {.descriptor = ::fileno(file),
                                        .name = "the file",
                                        .is_quiet = run.is_quiet,
                                        .show_progress = run.show_progress,
                                        .stop = run.stop},
                                       out, err);
  std::fclose(file);
  return {code, out.str(), err.str()};
}

TEST(ValidateLines, CountsValuesAndLines) {
  const Report report = validate("1\n\n \t\r\n\"x\"\n3");
  EXPECT_EQ(report.code, kExitNegative);
  EXPECT_EQ(report.out, "line 4: at the root: type: expected integer, not a string\n");
  EXPECT_THAT(report.err, StartsWith("3 values, 2 valid, 1 invalid, 5 lines, "));
  EXPECT_THAT(report.err, testing::MatchesRegex(".* [0-9.]+ MB/s, [0-9]+ values/s\n"));
}

TEST(ValidateLines, AcceptsNoValueAtAll) {
  for (const char* content : {"", "\n", "\r\n  \n"}) {
    EXPECT_EQ(validate(content).code, kExitOk) << content;
    EXPECT_THAT(validate(content).err, StartsWith("0 values, 0 valid, 0 invalid, "));
  }
}

TEST(ValidateLines, TakesReturnsBeforeNewlinesAsPartOfTheEnd) {
  EXPECT_EQ(validate("1\r\n2\r\n3").code, kExitOk);
  // U+000D elsewhere is JSON's white space and ends no line.
  EXPECT_EQ(validate("1\r2\n").out, "line 1: unexpected data after the value at byte 2\n");
}

TEST(ValidateLines, SaysWhatTheBoundaryRefusesInALineAndGoesOn) {
  const std::string nul("1\0", 2);
  const Report report = validate("{\"a\":1\n" + nul + "\n\"\xFF\"\n{\"a\":1,\"a\":2}\n1 1\n7\n");
  EXPECT_THAT(report.out, HasSubstr("line 1: "));
  EXPECT_THAT(report.out, HasSubstr("line 2: unexpected data after the value at byte 1\n"));
  EXPECT_THAT(report.out, HasSubstr("line 3: invalid UTF-8 at byte 1\n"));
  EXPECT_THAT(report.out, HasSubstr("line 4: duplicate key in an object at byte 7\n"));
  EXPECT_THAT(report.out, HasSubstr("line 5: unexpected data after the value at byte 2\n"));
  EXPECT_THAT(report.err, StartsWith("6 values, 1 valid, 5 invalid, 6 lines, "));
}

TEST(ValidateLines, NamesAByteOrderMark) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(validate(mark + "1\n2\n").out, "line 1: begins with a byte order mark, which JSON text must not have\n");
  EXPECT_THAT(validate("1\n" + mark + "2\n").out, StartsWith("line 2: "));
}

TEST(ValidateLines, HoldsLinesToTheCapOfAnOutputValue) {
  const std::size_t cap = json::kOutputCaps.bytes_max;
  const std::string full = '"' + std::string(cap - 2, 'x') + '"';
  const Settings any{.schema = "true"};
  for (const char* end : {"", "\n", "\r\n"}) EXPECT_EQ(validate("1\n" + full + end, any).code, kExitOk);
  for (const std::size_t excess : {std::size_t{1}, std::size_t{2}, std::size_t{1'000'000}}) {
    const Report report = validate("1\n" + std::string(excess, ' ') + full + "\n2\n", any);
    EXPECT_THAT(report.out, StartsWith("line 2: the document is too long: a value may have 65536 bytes\n")) << excess;
    EXPECT_THAT(report.err, StartsWith("3 values, 2 valid, 1 invalid, 3 lines, ")) << excess;
  }
}

TEST(ValidateLines, PrintsOneLineForAnInvalidValueWhateverItsKeysHold) {
  const Report report =
      validate(R"({"a\nb\u001b[2J\u007f":1})", {.schema = R"({"additionalProperties":{"type":"string"}})"});
  EXPECT_EQ(report.out, "line 1: at /a\\u000ab\\u001b[2J\\u007f: type: expected string, not a number\n");
}

TEST(ValidateLines, QuietGivesTotalsAlone) {
  const Report report = validate("1\n\"x\"\nnonsense\n", {.is_quiet = true});
  EXPECT_EQ(report.code, kExitNegative);
  EXPECT_EQ(report.out, "");
  EXPECT_THAT(report.err, StartsWith("3 values, 1 valid, 2 invalid"));
}

TEST(ValidateLines, ShowsProgressOnlyWhenAsked) {
  EXPECT_THAT(validate("1\n").err, Not(HasSubstr("\r")));
  const Report report = validate("1\n", {.show_progress = true});
  EXPECT_THAT(report.err, HasSubstr("\r\x1b[K1 values, 1 valid")) << "the last word replaces the progress";
}

TEST(ValidateLines, ReportsWhatItSawWhenStopped) {
  const volatile std::sig_atomic_t flag = 2;
  EXPECT_THAT(validate("1\n", {.stop = {.flag = &flag}}).err, StartsWith("interrupted: 0 values"));
}

TEST(ValidateLines, EndsWhenItsResultsCannotBeWritten) {
  class FullBuffer : public std::streambuf {};
  FullBuffer buffer;
  std::ostream out(&buffer);
  std::ostringstream err;
  const auto schema = schema::Schema::compile("false");
  const int zeros = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);  // a line without an end
  EXPECT_EQ(validate_lines(*schema, {.descriptor = zeros, .name = "zeros"}, out, err), kExitInternal);
  EXPECT_THAT(err.str(), StartsWith("cannot write the results: "));
  ::close(zeros);
}

TEST(ValidateLines, NamesAnInputThatCannotBeRead) {
  std::ostringstream out;
  std::ostringstream err;
  const auto schema = schema::Schema::compile("true");
  const int folder = ::open("/", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(validate_lines(*schema, {.descriptor = folder, .name = "/"}, out, err), kExitUsage);
  EXPECT_THAT(err.str(), HasSubstr("cannot read / beyond line 0: Is a directory"));
  ::close(folder);
}

}  // namespace
}  // namespace assay::cli

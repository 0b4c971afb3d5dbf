// `assay validate` at the end of pipes: it says what it knows while it waits, and ends by the signal that ends it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/harness/deployment.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;

// A named pipe that the test writes and the command reads.
class LinePipe {
 public:
  LinePipe() : folder_("/tmp/assay-validate-XXXXXX") {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/values.jsonl";
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);  // so that neither side's open waits for the other
  }
  ~LinePipe() {
    ::close(descriptor_);
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }
  LinePipe(const LinePipe&) = delete;
  LinePipe& operator=(const LinePipe&) = delete;

  void write(std::string_view text) {
    EXPECT_EQ(::write(descriptor_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string folder_;
  std::string path_;
  int descriptor_ = -1;
};

class ValidateSignals : public testing::TestWithParam<int> {};

TEST_P(ValidateSignals, ReportsWhatItSawAndEndsByTheSignal) {
  const TemporaryFile schema(R"({"type":"integer"})", ".json");
  LinePipe values;
  ChildProcess command(binary("assay"), {"validate", schema.path(), values.path()}, {});
  values.write("1\n\"x\"\n3\n\"unfinis");
  ASSERT_TRUE(command.wait_for_line("line 2: at the root: type")) << "it must not sit on what it knows";
  command.send_signal(GetParam());
  EXPECT_EQ(command.wait_for_exit(), -GetParam());
  EXPECT_THAT(command.output(), HasSubstr("interrupted: 3 values, 2 valid, 1 invalid"));
}

INSTANTIATE_TEST_SUITE_P(Each, ValidateSignals, testing::Values(SIGINT, SIGTERM),
                         [](const auto& signal) { return signal.param == SIGINT ? "Interrupt" : "Terminate"; });

TEST(ValidateCommand, EndsSilentlyWhenNobodyReadsItsResults) {
  const TemporaryFile schema("false", ".json");
  const Finished finished =
      run_program("/bin/bash", {"-c", "yes 1 | " + binary("assay") + " validate " + schema.path() + " - | head -n 1"});
  EXPECT_THAT(finished.output, testing::MatchesRegex("line 1: at the root: [^\n]*\n"));
}

TEST(ValidateCommand, ReadsStandardInputAndAnswersByItsExitStatus) {
  const TemporaryFile schema(R"({"type":"integer"})", ".json");
  const auto run = [&](const std::string& values) {
    return run_program("/bin/bash", {"-c", "printf '" + values + "' | " + binary("assay") + " validate --quiet " +
                                               schema.path() + " -"});
  };
  EXPECT_EQ(run("1\\n2").exit_code, 0);
  const Finished invalid = run("1\\nx\\n");
  EXPECT_EQ(invalid.exit_code, 1);
  EXPECT_THAT(invalid.output, testing::StartsWith("2 values, 1 valid, 1 invalid, 2 lines"));
}

TEST(ValidateCommand, NeedsNoServerProgramWhereOtherCommandsDo) {
  const TemporaryFile schema("true", ".json");
  const std::string lonely = schema.path() + ".assay";
  std::filesystem::copy_file(binary("assay"), lonely);
  EXPECT_EQ(run_program(lonely, {"validate", schema.path(), schema.path()}).output, "valid\n");
  const Finished other = run_program(lonely, {"--version"});
  EXPECT_EQ(other.exit_code, 70);
  EXPECT_THAT(other.output, HasSubstr("assay-server, which belongs beside it: No such file"));
  std::filesystem::remove(lonely);
}

}  // namespace
}  // namespace assay::tests

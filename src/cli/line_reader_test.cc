#include "cli/line_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "base/random.h"

namespace assay::cli {
namespace {

constexpr std::size_t kCap = 1000;

// A file without a name that holds `content`.
class Input {
 public:
  explicit Input(const std::string& content) : file_(std::tmpfile()) {
    std::fwrite(content.data(), 1, content.size(), file_);
    std::fflush(file_);
    std::rewind(file_);
  }
  ~Input() { std::fclose(file_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  [[nodiscard]] int descriptor() const { return ::fileno(file_); }

 private:
  std::FILE* file_;
};

std::vector<std::string> all_lines(int descriptor) {
  LineReader reader(descriptor, {.line_bytes_max = kCap});
  std::vector<std::string> lines;
  while (const auto line = reader.next()) {
    if (line->size() <= kCap) EXPECT_EQ(line->data()[line->size()], '\0');
    lines.emplace_back(*line);
  }
  EXPECT_EQ(reader.fault(), 0);
  return lines;
}

std::vector<std::string> lines_of(const std::string& content) { return all_lines(Input(content).descriptor()); }

using Lines = std::vector<std::string>;

TEST(LineReader, EndsLinesAtNewlinesWithOrWithoutReturns) {
  EXPECT_EQ(lines_of("a\nb\r\n\n\r\nc\rd\n"), (Lines{"a", "b", "", "", "c\rd"}));
}

TEST(LineReader, TakesALastLineWithoutItsEnd) {
  EXPECT_EQ(lines_of("a\nb"), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of("a\nb\r"), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of(""), Lines{});
  EXPECT_EQ(lines_of("\n"), Lines{""});
}

TEST(LineReader, KeepsNulBytes) { EXPECT_EQ(lines_of(std::string("a\0b\n\0", 5)), (Lines{{"a\0b", 3}, {"\0", 1}})); }

TEST(LineReader, JoinsLinesThatBlocksCut) {
  SeededRandom random(5);
  std::string content;
  Lines expected;
  while (content.size() < 4 * kLineBlockBytes) {
    expected.emplace_back(random.below(kCap + 1), static_cast<char>('a' + random.below(26)));
    content += expected.back() + (random.below(2) == 0 ? "\n" : "\r\n");
  }
  EXPECT_EQ(lines_of(content), expected);
}

TEST(LineReader, CutsOnlyWhatIsOverTheCap) {
  const std::string full(kCap, 'x');
  const std::string filler(kLineBlockBytes - kCap - 1, 'f');  // puts the line across two blocks
  for (const std::string& before : {std::string(), std::string("\n"), filler.substr(0, filler.size() - kCap)}) {
    for (const std::string& end : {std::string("\n"), std::string("\r\n"), std::string()}) {
      Lines lines = lines_of(before + "\n" + full + end);
      EXPECT_EQ(lines.back(), full);
      lines = lines_of(before + "\n" + full + "y" + end);
      EXPECT_EQ(lines.back().substr(0, kCap + 1), full + "y");
    }
  }
}

TEST(LineReader, PassesOverTheRestOfAnOverlongLine) {
  for (const std::size_t size : {kCap + 2, kLineBlockBytes - 1, kLineBlockBytes, 3 * kLineBlockBytes + 7}) {
    const Lines lines = lines_of("a\n" + std::string(size, 'x') + "\nb\n");
    ASSERT_EQ(lines.size(), 3U) << size;
    EXPECT_GT(lines[1].size(), kCap) << size;
    EXPECT_EQ(lines[2], "b") << size;
    EXPECT_EQ(lines_of(std::string(size, 'x')).size(), 1U) << size;
  }
}

TEST(LineReader, CountsTheBytesOfTheLinesItGave) {
  const Input input("ab\r\ncd\nefg");
  LineReader reader(input.descriptor(), {.line_bytes_max = kCap});
  std::vector<std::uint64_t> bytes;
  while (reader.next()) bytes.push_back(reader.bytes());
  EXPECT_EQ(bytes, (std::vector<std::uint64_t>{4, 7, 10}));
}

TEST(LineReader, SaysWhyReadingFailed) {
  const int folder = ::open("/", O_RDONLY | O_CLOEXEC);
  LineReader reader(folder, {.line_bytes_max = kCap});
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.fault(), EISDIR);
  ::close(folder);
}

// A pipe whose other end stays open and silent: a read would wait for ever (tests/validate_command_test.cc waits).
TEST(LineReader, BeginsNoReadOnceAskedToStop) {
  int input[2];
  int stop[2];
  ASSERT_EQ(::pipe(input), 0);
  ASSERT_EQ(::pipe(stop), 0);
  ASSERT_EQ(::write(input[1], "a\nb", 3), 3);
  volatile std::sig_atomic_t flag = 0;
  int refills = 0;
  const auto ask_to_stop = [&] {
    if (++refills != 2) return;
    flag = SIGINT;
    EXPECT_EQ(::write(stop[1], "", 1), 1);
  };
  LineReader reader(input[0], {.line_bytes_max = kCap, .on_refill = ask_to_stop, .stop = {&flag, stop[0]}});
  EXPECT_EQ(reader.next(), "a");
  EXPECT_FALSE(reader.next()) << "an unfinished line is no line";
  EXPECT_EQ(reader.fault(), 0);
  for (const int descriptor : {input[0], input[1], stop[0], stop[1]}) ::close(descriptor);
}

}  // namespace
}  // namespace assay::cli

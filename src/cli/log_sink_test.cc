#include "cli/log_sink.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::cli {
namespace {

const std::vector<log::Field> kFields{
    {"chat", "c1"}, {"reason", "lease \"lost\"\nat once"}, {"empty", ""}, {"count", 3}};

TEST(LogLine, TextQuotesWhatABareWordCannotHold) {
  EXPECT_EQ(log_line(LogFormat::Text, "T", log::Level::Warning, "runner left", kFields),
            R"(T warning runner left chat=c1 reason="lease \"lost\"\nat once" empty="" count=3)");
}

TEST(LogLine, JsonIsOneObject) {
  EXPECT_EQ(
      log_line(LogFormat::Json, "T", log::Level::Info, "started", kFields),
      R"({"time":"T","level":"info","event":"started","chat":"c1","reason":"lease \"lost\"\nat once","empty":"","count":"3"})");
}

TEST(LogLevel, NamesAreClosed) {
  EXPECT_EQ(parse_log_level("error"), log::Level::Error);
  ASSERT_FALSE(parse_log_level("loud"));
  EXPECT_EQ(parse_log_level("loud").error(), "'loud' is no log level: use debug, info, warning or error");
}

}  // namespace
}  // namespace assay::cli

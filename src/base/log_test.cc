#include "base/log.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::log {
namespace {

TEST(Log, HandsEventAndFieldsToTheSink) {
  std::vector<std::string> lines;
  set_sink([&](Level level, std::string_view event, std::span<const Field> fields) {
    std::string line = level == Level::Warning ? "warning " : "other ";
    line += event;
    for (const Field& field : fields) line += fmt::format(" {}={}", field.name, field.value);
    lines.push_back(line);
  });
  warning("lease lost", {{"chat", "c1"}, {"attempt", 3}});
  set_sink(nullptr);
  warning("nobody listens");
  EXPECT_EQ(lines, std::vector<std::string>{"warning lease lost chat=c1 attempt=3"});
}

}  // namespace
}  // namespace assay::log

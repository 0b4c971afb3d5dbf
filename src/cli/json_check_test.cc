#include "cli/json_check.h"

#include <gtest/gtest.h>

#include <sstream>

namespace assay::cli {
namespace {

TEST(JsonCheck, AcceptsWhatTheBoundaryAccepts) {
  EXPECT_EQ(json_check_verdict(R"({"text_base64":"eyJhIjoxfQ==","as":"output"})"),
            R"({"ok":true,"code":null,"offset":null})");
}

TEST(JsonCheck, NamesCodeAndOffset) {
  // {"a":1,"a":2}
  EXPECT_EQ(json_check_verdict(R"({"text_base64":"eyJhIjoxLCJhIjoyfQ==","as":"schema"})"),
            R"({"ok":false,"code":"duplicate_key","offset":7})");
  // the byte FF
  EXPECT_TRUE(json_check_verdict(R"({"text_base64":"Iv8i","as":"metadata"})")
                  .starts_with(R"({"ok":false,"code":"invalid_utf8")"));
}

TEST(JsonCheck, AppliesTheCapsOfTheNamedRole) {
  // The innermost of 34 arrays has 33 containers around it: too deep for an output value, not for arguments.
  const std::string deep =
      R"("text_base64":"W1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW11dXV1dXV1dXV1dXV1dXV1dXV1dXV1dXV1dXV1dXV1dXV0=")";
  EXPECT_TRUE(json_check_verdict("{" + deep + R"(,"as":"arguments"})").starts_with(R"({"ok":true)"));
  EXPECT_TRUE(json_check_verdict("{" + deep + R"(,"as":"output"})").starts_with(R"({"ok":false,"code":"too_deep")"));
}

TEST(JsonCheck, AnswersLinesOfAnotherShape) {
  for (const char* line : {"x", "[]", "{}", R"({"text_base64":"!!!!","as":"output"})",
                           R"({"text_base64":"MQ==","as":"x"})", R"({"text_base64":"MQ","as":"output"})"}) {
    EXPECT_TRUE(json_check_verdict(line).starts_with(R"({"ok":false,"code":"invalid_line")")) << line;
  }
}

TEST(JsonCheck, WritesOneLineForEachLine) {
  std::istringstream in("x\ny\n");
  std::ostringstream out;
  EXPECT_EQ(json_check_batch(in, out), kExitOk);
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

}  // namespace
}  // namespace assay::cli

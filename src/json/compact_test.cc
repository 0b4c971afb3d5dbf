#include "json/compact.h"

#include <gtest/gtest.h>

namespace assay::json {
namespace {

TEST(JsonCompact, DropsOnlyTheSpaceBetweenTokens) {
  EXPECT_EQ(compact(" { \"a b\" : [ 1.00 , -0e+5 ,\ttrue\n, null ] ,\r\n \"\\\" \\u0061 \\\\\" : \" x \" } "),
            R"({"a b":[1.00,-0e+5,true,null],"\" \u0061 \\":" x "})");
  EXPECT_EQ(compact(" 1 "), "1");
  EXPECT_EQ(compact("\"\""), "\"\"");
}

TEST(JsonCompact, TakesAValueOfADocument) {
  const Document document = *Document::parse(R"({"a": [ 1, "\n" ] })", {});
  EXPECT_EQ(compact(*document.root().find("a")), R"([1,"\n"])");
  EXPECT_EQ(compact(document.root()), R"({"a":[1,"\n"]})");
}

}  // namespace
}  // namespace assay::json

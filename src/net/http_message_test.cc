#include "net/http_message.h"

#include <gtest/gtest.h>

namespace assay::net {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

TEST(HttpHeaders, FindsNamesWithoutCaseAndKeepsRepeatedOnes) {
  HttpHeaders headers = {{"Accept", "a"}, {"ACCEPT", "b"}};
  EXPECT_EQ(headers.get("accept"), "a");
  EXPECT_EQ(headers.count("Accept"), 2u);
  EXPECT_FALSE(headers.has("Accep"));
}

TEST(HttpHeaders, FindsTokensInLists) {
  const HttpHeaders headers = {{"Connection", "keep-alive, Upgrade"}, {"Connection", "\tte "}};
  EXPECT_TRUE(headers.lists("connection", "upgrade"));
  EXPECT_TRUE(headers.lists("Connection", "TE"));
  EXPECT_FALSE(headers.lists("Connection", "up"));
}

TEST(HttpTarget, DecodesPathAndQuery) {
  const auto target = parse_http_target("/a%20b/c+d?x=1&x=%26+2&flag&=nameless&&y=a=b#part");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/a b/c+d");
  EXPECT_EQ(target->query, (Query{{"x", "1"}, {"x", "& 2"}, {"flag", ""}, {"", "nameless"}, {"y", "a=b"}}));
}

TEST(HttpTarget, TakesTheAbsoluteAndTheAsteriskForm) {
  EXPECT_EQ(parse_http_target("http://host:1/x?q=1")->path, "/x");
  EXPECT_EQ(parse_http_target("HTTPS://host")->path, "/");
  EXPECT_EQ(parse_http_target("http://host?q=1")->query, (Query{{"q", "1"}}));
  EXPECT_EQ(parse_http_target("*")->path, "*");
}

TEST(HttpTarget, RefusesOtherFormsBadEscapesAndNul) {
  for (const char* target :
       {"", "host:80", "x", "/%", "/%4", "/%zz", "/?a=%", "/?%g0", "/%00", "/?a=%00", "ftp://h/"}) {
    EXPECT_FALSE(parse_http_target(target)) << target;
  }
}

TEST(PercentDecode, DecodesBothCasesAtTheEnd) {
  EXPECT_EQ(percent_decode("%c3%BC", Plus::Literal), "\xC3\xBC");
  EXPECT_EQ(percent_decode("+", Plus::Space), " ");
}

TEST(ResponseHead, IsFormattedWithItsFields) {
  const HttpHeaders headers = {{"A", "1"}, {"B", ""}};
  EXPECT_EQ(format_response_head(404, headers), "HTTP/1.1 404 Not Found\r\nA: 1\r\nB: \r\n\r\n");
}

TEST(ResponseHead, RefusesFieldsThatBreakTheFraming) {
  for (const HttpHeaders::Field& field : std::vector<HttpHeaders::Field>{{"A", "x\r\nSet-Cookie: y"},
                                                                         {"A", "x\n"},
                                                                         {"A", std::string("\0", 1)},
                                                                         {"A b", "x"},
                                                                         {"", "x"},
                                                                         {"A:", "x"}}) {
    HttpHeaders headers;
    headers.add(field.name, field.value);
    EXPECT_FALSE(format_response_head(200, headers)) << field.name;
  }
}

TEST(HttpDate, HasTheStandardForm) {
  EXPECT_EQ(format_http_date(WallTime(std::chrono::seconds(784111777))), "Sun, 06 Nov 1994 08:49:37 GMT");
}

}  // namespace
}  // namespace assay::net

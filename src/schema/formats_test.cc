#include "schema/formats.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::schema {
namespace {

struct Texts {
  const char* format;
  std::vector<std::string> good;
  std::vector<std::string> bad;
};

TEST(Formats, TheListIsTheContracts) {
  EXPECT_EQ(format_names(),
            "date, time, date-time, hostname, email, idn-email, ipv4, ipv6, uri, uri-reference, iri, iri-reference, "
            "uri-template, uuid, json-pointer, relative-json-pointer");
  for (const FormatInfo& format : formats()) {
    EXPECT_EQ(find_format(format.name), &format);
    EXPECT_TRUE(format.matches(format.example)) << format.name;
  }
  EXPECT_EQ(find_format("regex"), nullptr);
}

// What the official suite (official_suite_test.cc) leaves open.
const std::vector<Texts>& cases() {
  static const std::vector<Texts> all = {
      {"date-time",
       {"2016-12-31T23:59:60Z", "2017-01-01T00:59:60+01:00", "2016-12-30T23:59:59.1-23:59", "2015-06-30T23:59:60.5z",
        "2016-12-31T00:00:00-00:00", "2016-12-31T22:59:60-01:00"},
       {"2016-12-30T23:59:60Z", "2017-01-01T23:59:60+23:59", "2016-12-31 23:59:59Z", "2016-12-31T23:59:59.Z",
        "2016-12-31T23:59:59", "2016-12-31T23:59:60+01:00", "", "T"}},
      {"time", {"23:59:60Z", "00:59:60+01:00", "00:00:00.000z"}, {"", "00:00:00+1:00", "00:00:00+0100", "00:00Z"}},
      {"hostname",
       {std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') + "." + std::string(61, 'd'),
        "A.b", "127.0.0.1", "XN--9N2BP8Q"},
       {std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') + "." + std::string(62, 'd'),
        "a..b", "a_b", "xn--", "xn--a", "xn--a-", "xn--99999999", "xn--\xC3\xA4"}},
      {"email",
       {"\"joe bloggs\"@example.com", "\"a@b\"@example.com", "\"a\\\"b\"@c", "\"a\\\\\"@c", "a@[127.0.0.1]",
        "a@[IPv6:::1]", "a@[ipV6:::1]", std::string(64, 'a') + "@b"},
       {"\"a\"b\"@c", "\"a\\\"@c", "a@[::1]", "a@[256.0.0.1]", "a@b_c", "a@b.", "a@@b", "\xC3\xA4@b",
        std::string(65, 'a') + "@b", "@", ""}},
      {"idn-email", {"\xC3\xA4@\xC3\xA4.de", "a@b"}, {"a b@c", "a@-\xC3\xA4", "\xC3\xA4"}},
      {"ipv6",
       {"1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1::8", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "ABCD::"},
       {"", ":", ":::", "1:2:3:4:5:6:7:8:", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:1.2.3.4",
        "1:", "::1.2.3", "1.2.3.4::"}},
      {"uri",
       {"a:", "a:b", "a:/b", "a://", "a://:80", "http://[v1.a:b]", "http://u:p@h:1/?#", "a:?", "a:#", "urn:a:b%20c"},
       {"", ":", "a", "a:b#c#d", "a://[::1", "a://[::1]x", "a://[::1]:x", "a://h:80:80", "a:\xC3\xA4", "a: b", "a:[",
        "http://[v.a]", "http://[v1.]"}},
      {"iri", {"a:\xC3\xA4", "a:?\xEE\x80\x80"}, {"a:\xEE\x80\x80", "a:\xC2\x80", "a:\xEF\xB7\x90", "\xC3\xA4:b"}},
      {"uri-reference", {"", "#", "?", "//", "/", "a/b:c", "./b:c"}, {"1a:b", ":", "//[", "\xC3\xA4", "##"}},
      {"uri-template",
       {"{a:9999}", "{+a,b*}", "{%41.b}", "{!a}", "a{b}c{d}"},
       {"{", "}", "{a", "{+}", "{a:}", "{a:b}", "{a*:1}", "{.a.}", "{%4}", "%4", "{a b}", "{{a}}", "<", "\x01"}},
      {"uuid",
       {"123E4567-E89B-12D3-A456-426614174000", "00000000-0000-0000-0000-000000000000"},
       {"", "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400",
        "123e4567-e89b-12d3-a456-42661417400g", "{123e4567-e89b-12d3-a456-426614174000}",
        "123e4567-e89b-12d3-a456_426614174000"}},
      {"json-pointer", {"", "/", "/~0~1"}, {"~0", "/~", "/~2", "a"}},
      {"relative-json-pointer", {"0", "10#", "1/~0"}, {"", "#", "00", "1a", "1##", "-1"}},
  };
  return all;
}

TEST(Formats, TellGoodTextsFromBadOnes) {
  for (const Texts& texts : cases()) {
    const FormatInfo& format = *find_format(texts.format);
    for (const std::string& text : texts.good) EXPECT_TRUE(format.matches(text)) << format.name << " " << text;
    for (const std::string& text : texts.bad) EXPECT_FALSE(format.matches(text)) << format.name << " " << text;
  }
}

}  // namespace
}  // namespace assay::schema

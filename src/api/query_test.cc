#include <gtest/gtest.h>

#include "api/request.h"

namespace assay::api {
namespace {

std::string list_fault(const QueryParameters& query) {
  const auto request = decode_list(query);
  if (request) return "accepted";
  EXPECT_EQ(request.error().status, 400);
  return request.error().validations.size() == 1 ? request.error().validations[0].field : "?";
}

std::string page_fault(const QueryParameters& query) {
  const auto request = decode_page(query);
  if (request) return "accepted";
  EXPECT_EQ(request.error().status, 400);
  return request.error().validations.size() == 1 ? request.error().validations[0].field : "?";
}

TEST(DecodeList, HasItsDefaults) {
  const auto request = decode_list({});
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->archived, false);
  EXPECT_EQ(request->limit, kListChatsDefault);
  EXPECT_EQ(request->offset, 0);
}

TEST(DecodeList, ReadsTermsLabelsAndPaging) {
  const auto request = decode_list({{"q", R"( title:"two words" archived:true source:created_by_me )"},
                                    {"label", "a:b:c"},
                                    {"label", "d:e"},
                                    {"limit", "10"},
                                    {"offset", "20"},
                                    {"after_id", "00000000-0000-4000-8000-000000000001"}});
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->title_contains, "two words");
  EXPECT_EQ(request->archived, true);
  ASSERT_EQ(request->labels.size(), 2u);
  EXPECT_EQ(request->labels[0], (std::pair<std::string, std::string>("a", "b:c")));
  EXPECT_EQ(request->limit, 10);
  EXPECT_EQ(request->offset, 20);
  EXPECT_TRUE(request->after_id.has_value());
}

TEST(DecodeList, CapsTheLimitAndTakesZeroForTheDefault) {
  EXPECT_EQ(decode_list({{"limit", "0"}})->limit, kListChatsDefault);
  EXPECT_EQ(decode_list({{"limit", "200"}})->limit, kListChatsMax);
  EXPECT_EQ(decode_list({{"limit", "201"}})->limit, kListChatsMax);
}

TEST(DecodeList, NamesTheParameterOfEachFault) {
  for (const std::string search :
       {"word", ":x", "title:", "title:\"open", "archived:maybe", "pr:7", "source:elsewhere"}) {
    EXPECT_EQ(list_fault({{"q", search}}), "q") << search;
  }
  for (const std::string label : {"", "a", ":b", "a:"}) EXPECT_EQ(list_fault({{"label", label}}), "label") << label;
  EXPECT_EQ(list_fault({{"limit", "x"}}), "limit");
  EXPECT_EQ(list_fault({{"limit", "-1"}}), "limit");
  EXPECT_EQ(list_fault({{"offset", "-1"}}), "offset");
  EXPECT_EQ(list_fault({{"after_id", "x"}}), "after_id");
}

TEST(DecodePage, HasItsDefaultsAndItsLimits) {
  EXPECT_EQ(decode_page({})->limit, kPageMessagesDefault);
  EXPECT_EQ(decode_page({{"limit", "1"}})->limit, 1);
  EXPECT_EQ(decode_page({{"limit", "200"}})->limit, 200);
  EXPECT_EQ(page_fault({{"limit", "201"}}), "limit");
  EXPECT_EQ(page_fault({{"limit", "0"}}), "limit");
}

TEST(DecodePage, NamesTheParameterOfEachFault) {
  EXPECT_EQ(page_fault({{"before_id", "x"}}), "before_id");
  EXPECT_EQ(page_fault({{"before_id", "0"}}), "before_id");
  EXPECT_EQ(page_fault({{"after_id", "-1"}}), "after_id");
  EXPECT_EQ(page_fault({{"after_id", "5"}, {"before_id", "5"}}), "after_id");
  EXPECT_EQ(page_fault({{"after_id", "4"}, {"before_id", "5"}}), "accepted");
}

}  // namespace
}  // namespace assay::api

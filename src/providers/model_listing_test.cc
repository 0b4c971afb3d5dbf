#include "providers/model_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::providers {
namespace {

using ::testing::ElementsAre;

TEST(ModelListing, ReadsTheShapesInUse) {
  EXPECT_THAT(*parse_model_listing("p", R"({"object":"list","data":[{"id":"b","object":"model"},{"id":"a"}]})"),
              ElementsAre("b", "a"));
  EXPECT_THAT(*parse_model_listing("p", R"({"models":[{"name":"x"}]})"), ElementsAre("x"));
  EXPECT_THAT(*parse_model_listing("p", R"(["x","y"])"), ElementsAre("x", "y"));
}

TEST(ModelListing, SkipsWhatIsNoId) {
  const std::string longest(kModelIdBytesMax, 'x');
  EXPECT_THAT(*parse_model_listing("p", R"({"data":[1,null,{},{"id":7},{"id":""},{"id":"a"},{"id":"a"},{"id":")" +
                                            longest + R"("},{"id":")" + longest + R"(x"}]})"),
              ElementsAre("a", longest));
}

TEST(ModelListing, KeepsABoundedNumber) {
  std::string body = "[";
  for (std::size_t i = 0; i <= kListedModelsMax; ++i) body += "\"" + std::to_string(i) + "\",";
  EXPECT_EQ(parse_model_listing("p", body + "\"\"]")->size(), kListedModelsMax);
}

TEST(ModelListing, RefusesEverythingElse) {
  for (const char* body : {"", "<html>", "{}", "7", R"({"data":{}})"}) {
    EXPECT_FALSE(parse_model_listing("p", body).has_value()) << body;
  }
  EXPECT_EQ(parse_model_listing("p", R"({"error":{"code":401,"message":"no"}})").error().error.kind, "auth");
}

}  // namespace
}  // namespace assay::providers

#include "cli/model_catalogue.h"

#include <gtest/gtest.h>

namespace assay::cli {
namespace {

TEST(ModelConfigId, IsTheSameOnEveryReplica) {
  EXPECT_EQ(model_config_id("openai", "gpt-5").to_string(), model_config_id("openai", "gpt-5").to_string());
  EXPECT_EQ(model_config_id("openai", "gpt-5").to_string()[14], '8') << "a version 8 UUID";
}

TEST(ModelConfigId, KeepsProviderAndModelApart) {
  EXPECT_NE(model_config_id("a", "bc"), model_config_id("ab", "c"));
  EXPECT_NE(model_config_id("a", "b"), model_config_id("b", "a"));
}

}  // namespace
}  // namespace assay::cli

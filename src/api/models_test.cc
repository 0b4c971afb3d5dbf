#include "api/models.h"

#include <gtest/gtest.h>

#include "json/document.h"

namespace assay::api {
namespace {

Offer offer() {
  Offer all;
  chat::ModelDescription model;
  model.id.value.bytes[15] = 1;
  model.provider = "main";
  model.model = "m-1";
  model.display_name = "Model 1";
  model.context_limit = 499'999;
  model.is_default = true;
  all.models.push_back(model);
  model.id.value.bytes[15] = 2;
  model.context_limit = 500'000;
  model.reasoning_efforts = {"low", "high"};
  all.models.push_back(model);
  return all;
}

json::Document document(std::string text) {
  auto parsed = json::Document::parse(std::move(text), json::kEnvelopeCaps);
  EXPECT_TRUE(parsed.has_value());
  return std::move(*parsed);
}

TEST(Models, ListsModelsAndEachProviderOnce) {
  const auto listed = document(organization_models_json(offer(), OrganizationId(), WallTime()));
  const auto models = *listed.root().find("models");
  ASSERT_EQ(models.size(), 2u);
  const auto first = *models.elements().begin();
  EXPECT_EQ(first.find("model")->string(), "m-1");
  EXPECT_TRUE(first.find("is_default")->boolean());
  EXPECT_EQ(first.find("compression_threshold")->number(), "70");
  EXPECT_FALSE(first.find("reasoning_efforts").has_value());
  const auto second = *std::next(models.elements().begin());
  EXPECT_EQ(second.find("compression_threshold")->number(), "30");
  EXPECT_EQ(second.find("reasoning_efforts")->size(), 2u);
  const auto providers = *listed.root().find("providers");
  ASSERT_EQ(providers.size(), 1u);
  EXPECT_EQ((*providers.elements().begin()).find("id")->string(), first.find("ai_provider_id")->string());
  EXPECT_EQ(listed.root().find("unsupported_providers")->size(), 0u);
}

TEST(Models, ListsTheOlderFormAsABareArray) {
  const auto listed = document(model_configs_json(offer(), OrganizationId(), WallTime()));
  ASSERT_TRUE(listed.root().is(json::Kind::Array));
  const auto first = *listed.root().elements().begin();
  for (const std::string_view name : {"id", "provider", "model", "display_name", "enabled"}) {
    EXPECT_TRUE(first.find(name).has_value()) << name;
  }
}

TEST(Models, DerivesAProvidersIdFromItsName) {
  EXPECT_EQ(provider_id("main"), provider_id("main"));
  EXPECT_NE(provider_id("main"), provider_id("other"));
  EXPECT_EQ(provider_id("main").to_string()[14], '8');
}

}  // namespace
}  // namespace assay::api

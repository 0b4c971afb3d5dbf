#include "providers/config.h"

#include <gtest/gtest.h>

namespace assay::providers {
namespace {

ProviderConfig sound() {
  ProviderConfig provider;
  provider.name = "local";
  provider.base_url = "http://127.0.0.1:8000";
  provider.key = Secret("sk-123");
  return provider;
}

struct Join {
  const char* base;
  const char* url;
};

class EndpointUrl : public ::testing::TestWithParam<Join> {};

TEST_P(EndpointUrl, Joins) {
  const auto url = endpoint_url(GetParam().base, "chat/completions");
  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(*url, GetParam().url);
}

INSTANTIATE_TEST_SUITE_P(
    Bases, EndpointUrl,
    ::testing::Values(Join{"https://api.openai.com", "https://api.openai.com/v1/chat/completions"},
                      Join{"https://api.openai.com/", "https://api.openai.com/v1/chat/completions"},
                      Join{"https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"},
                      Join{"https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"},
                      Join{"https://openrouter.ai/api/v1//", "https://openrouter.ai/api/v1/chat/completions"},
                      Join{"http://127.0.0.1:11434/v1/chat/completions", "http://127.0.0.1:11434/v1/chat/completions"},
                      Join{"https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1/chat/completions"},
                      Join{"http://[::1]:80", "http://[::1]:80/v1/chat/completions"},
                      Join{"https://x.example/openai?api-version=3",
                           "https://x.example/openai/chat/completions?api-version=3"},
                      Join{"https://x.example?a=b/c", "https://x.example/v1/chat/completions?a=b/c"}));

class RefusedUrl : public ::testing::TestWithParam<const char*> {};

TEST_P(RefusedUrl, IsAnErrorThatNamesTheFieldAndNotTheValue) {
  const auto url = endpoint_url(GetParam(), "models");
  ASSERT_FALSE(url.has_value());
  EXPECT_TRUE(url.error().message.starts_with("base_url: ")) << url.error().message;
  EXPECT_EQ(url.error().message.find("hunter2"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Bases, RefusedUrl,
                         ::testing::Values("", "api.openai.com", "ftp://x", "file:///etc/passwd", "http://",
                                           "https:///v1", "https://user:hunter2@x/v1", "http://x/v1#hunter2",
                                           "http://x /v1", "http://x/v1\r\nhunter2: 1"));

TEST(ProviderConfig, AcceptsASoundOne) { EXPECT_FALSE(check(sound()).has_value()); }

TEST(ProviderConfig, RefusesWhatCouldSplitAHeader) {
  ProviderConfig provider = sound();
  provider.headers.push_back({"X-Extra", "a\r\nb"});
  EXPECT_TRUE(check(provider).has_value());
  provider = sound();
  provider.headers.push_back({"X Extra", "a"});
  EXPECT_TRUE(check(provider).has_value());
  provider = sound();
  provider.organization = "a\n";
  EXPECT_TRUE(check(provider).has_value());
  provider = sound();
  provider.api_version = "a\n";
  EXPECT_TRUE(check(provider).has_value());
  provider = sound();
  provider.beta = {"a\r\nb: c"};
  EXPECT_TRUE(check(provider).has_value());
}

TEST(ProviderConfig, RefusesAKeyWithWhiteSpaceWithoutSayingIt) {
  ProviderConfig provider = sound();
  provider.key = Secret("sk-hunter2\n");
  const auto error = check(provider);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->message.find("hunter2"), std::string::npos);
}

TEST(ProviderConfig, RefusesNamesAndTimeoutsOutOfRange) {
  ProviderConfig provider = sound();
  provider.name = std::string(64, 'a');
  EXPECT_FALSE(check(provider).has_value());
  provider.name = std::string(65, 'a');
  EXPECT_TRUE(check(provider).has_value());
  provider.name = "";
  EXPECT_TRUE(check(provider).has_value());
  provider = sound();
  provider.timeouts.idle = Milliseconds(0);
  EXPECT_TRUE(check(provider).has_value());
}

TEST(ModelSettings, KeepAThinkingBudgetWithinItsBounds) {
  ModelSettings model;
  const auto is_refused = [&](std::optional<std::int64_t> budget, std::optional<std::int64_t> cap) {
    model.thinking.budget_tokens = budget;
    model.output_tokens_max = cap;
    return check(sound(), model).has_value();
  };
  model.thinking.mode = ThinkingMode::Enabled;
  EXPECT_TRUE(is_refused(std::nullopt, std::nullopt));
  EXPECT_TRUE(is_refused(1023, std::nullopt));
  EXPECT_FALSE(is_refused(1024, std::nullopt));
  EXPECT_FALSE(is_refused(1024, 1025));
  EXPECT_TRUE(is_refused(1024, 1024));
  model.thinking.mode = ThinkingMode::Adaptive;
  EXPECT_TRUE(is_refused(1024, std::nullopt));
  EXPECT_FALSE(is_refused(std::nullopt, std::nullopt));
}

TEST(ModelSettings, RefuseWhatNoProviderTakes) {
  ModelSettings model;
  model.model = "m";
  EXPECT_FALSE(check(sound(), model).has_value());
  model.output_tokens_max = 0;
  EXPECT_TRUE(check(sound(), model).has_value());
  model.output_tokens_max = 1;
  for (const char* definition : {"", "{", "[]", "{}", "7"}) {
    model.hosted_tools = {{"web_search", definition}};
    EXPECT_TRUE(check(sound(), model).has_value()) << definition;
  }
  model.hosted_tools = {{"web_search", R"({"type":"web_search"})"}};
  EXPECT_FALSE(check(sound(), model).has_value());
}

}  // namespace
}  // namespace assay::providers

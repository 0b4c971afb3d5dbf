#include "providers/wire.h"

#include <gtest/gtest.h>

namespace assay::providers {
namespace {

TEST(Wires, NamesReadBack) {
  for (const WireEntry& entry : wires()) {
    EXPECT_EQ(parse_wire(entry.name), entry.wire);
    EXPECT_EQ(wire_name(entry.wire), entry.name);
    EXPECT_NE(wire_names().find(entry.name), std::string::npos);
  }
  EXPECT_EQ(parse_wire("smoke_signals"), std::nullopt);
  EXPECT_EQ(parse_wire(""), std::nullopt);
}

std::string headers_of(const ProviderConfig& config) {
  std::string all;
  for (const Header& header : request_headers(config, {{"Accept", "x"}})) all += header.name + "=" + header.value + ";";
  return all;
}

TEST(RequestHeaders, CarryTheKeyAsTheProviderTakesIt) {
  ProviderConfig config;
  EXPECT_EQ(headers_of(config), "Accept=x;User-Agent=assay/0.1;");
  config.key = Secret("sk");
  EXPECT_EQ(headers_of(config), "Accept=x;User-Agent=assay/0.1;Authorization=Bearer sk;");
  config.key_header = KeyHeader::XApiKey;
  EXPECT_EQ(headers_of(config), "Accept=x;User-Agent=assay/0.1;x-api-key=sk;");
}

TEST(RequestHeaders, OfAnthropicNameVersionAndFeatures) {
  ProviderConfig config;
  config.wire = Wire::Anthropic;
  config.key = Secret("sk");
  EXPECT_EQ(headers_of(config), "Accept=x;User-Agent=assay/0.1;x-api-key=sk;anthropic-version=2026-10-21;");
  config.key_header = KeyHeader::Bearer;
  config.api_version = "2023-06-01";
  config.beta = {"a", "b"};
  EXPECT_EQ(headers_of(config),
            "Accept=x;User-Agent=assay/0.1;Authorization=Bearer sk;anthropic-version=2023-06-01;anthropic-beta=a,b;");
}

TEST(RequestHeaders, LetTheConfigurationReplaceOurs) {
  ProviderConfig config;
  config.key = Secret("sk");
  config.headers = {{"authorization", "Basic x"}, {"X-Title", "assay"}};
  EXPECT_EQ(headers_of(config), "Accept=x;User-Agent=assay/0.1;authorization=Basic x;X-Title=assay;");
}

}  // namespace
}  // namespace assay::providers

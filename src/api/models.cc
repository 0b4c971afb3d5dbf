#include "api/models.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "json/writer.h"

namespace assay::api {

namespace {

// When a chat's context counts as full, in percent: what the public API sets for models of either size.
constexpr std::int64_t kCompressionThreshold = 70;
constexpr std::int64_t kCompressionThresholdLarge = 30;
constexpr std::int64_t kLargeContextTokens = 500'000;

void write_model(json::Writer& writer, const chat::ModelDescription& model, OrganizationId organization,
                 WallTime started_at) {
  writer.begin_object();
  writer.member("id", model.id.to_string());
  writer.member("organization_id", organization.to_string());
  writer.member("ai_provider_id", provider_id(model.provider).to_string());
  writer.member("provider", model.provider);
  writer.member("model", model.model);
  writer.member("display_name", model.display_name);
  writer.member("enabled", model.enabled);
  writer.member("is_default", model.is_default);
  writer.member("context_limit", model.context_limit);
  writer.member("compression_threshold",
                model.context_limit >= kLargeContextTokens ? kCompressionThresholdLarge : kCompressionThreshold);
  if (!model.reasoning_efforts.empty()) {
    writer.key("reasoning_efforts").begin_array();
    for (const auto& effort : model.reasoning_efforts) writer.string(effort);
    writer.end_array();
  }
  writer.member("created_at", to_rfc3339(started_at)).member("updated_at", to_rfc3339(started_at));
  writer.end_object();
}

void write_models(json::Writer& writer, const Offer& offer, OrganizationId organization, WallTime started_at) {
  writer.begin_array();
  for (const auto& model : offer.models) write_model(writer, model, organization, started_at);
  writer.end_array();
}

// A provider is configured with whatever key it needs, or the process would not offer its models.
void write_provider(json::Writer& writer, std::string_view name) {
  writer.begin_object();
  writer.member("id", provider_id(name).to_string());
  writer.member("type", name).member("display_name", name).member("icon", "");
  writer.member("enabled", true).member("has_api_key", true).member("has_user_api_key", false);
  writer.member("has_effective_api_key", true).member("allow_user_api_key", false).member("available", true);
  writer.end_object();
}

std::uint64_t fnv1a(std::string_view text, std::uint64_t hash) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

}  // namespace

Uuid provider_id(std::string_view name) {
  constexpr std::uint64_t kBasis = 0xcbf29ce484222325;
  const std::uint64_t high = fnv1a(name, kBasis);
  const std::uint64_t low = fnv1a(name, high);
  Uuid id;
  for (std::size_t i = 0; i < 8; ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(high >> (8 * i));
    id.bytes[8 + i] = static_cast<std::uint8_t>(low >> (8 * i));
  }
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0fu) | 0x80u);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3fu) | 0x80u);
  return id;
}

std::string organization_models_json(const Offer& offer, OrganizationId organization, WallTime started_at) {
  std::vector<std::string_view> providers;
  for (const auto& model : offer.models) {
    if (std::ranges::find(providers, model.provider) == providers.end()) providers.push_back(model.provider);
  }
  json::Writer writer;
  writer.begin_object();
  write_models(writer.key("models"), offer, organization, started_at);
  writer.key("providers").begin_array();
  for (const auto name : providers) write_provider(writer, name);
  writer.end_array();
  writer.key("unsupported_providers").begin_array().end_array().end_object();
  return writer.take();
}

std::string model_configs_json(const Offer& offer, OrganizationId organization, WallTime started_at) {
  json::Writer writer;
  write_models(writer, offer, organization, started_at);
  return writer.take();
}

}  // namespace assay::api

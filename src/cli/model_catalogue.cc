#include "cli/model_catalogue.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "net/timer.h"

namespace assay::cli {
namespace {

constexpr Milliseconds kListingPatience{30'000};  // a local model server may still be loading
constexpr Milliseconds kListingRetryDelay{1'000};

worker::ModelRoute route_of(const providers::ProviderConfig& provider, const ModelEntry& entry) {
  worker::ModelRoute route;
  route.provider = provider;
  chat::ModelDescription& model = route.description;
  model.id = model_config_id(provider.name, entry.settings.model);
  model.provider = provider.name;
  model.model = entry.settings.model;
  model.display_name = entry.display_name.empty() ? model.model : entry.display_name;
  model.context_limit = entry.context_limit.value_or(0);
  model.max_output_tokens = entry.settings.output_tokens_max;
  route.settings = entry.settings;
  model.is_default = entry.is_default;
  return route;
}

net::Task<Result<std::string, CommandFailure>> first_listed_model(const providers::ProviderConfig& provider,
                                                                  providers::ModelClient& client, net::StopToken stop) {
  const Deadline patience = Deadline::after(system_clock(), kListingPatience);
  for (;;) {
    auto listed = co_await client.list_models(provider, stop);
    if (listed && !listed->empty()) co_return listed->front();
    std::string reason = "it lists none";
    if (!listed) {
      reason = listed.error().error.message;
      if (!listed.error().error.detail.empty()) reason += " " + listed.error().error.detail;
    }
    const bool is_final = !listed && !listed.error().retryable;
    if (is_final || stop.stopped() || patience.has_passed(system_clock())) {
      std::string message = fmt::format(
          "no model of provider '{}' is configured and its listing gives none ({}); check its URL and key, or name a "
          "model "
          "(ASSAY_PROVIDER_MODEL, or a [[model]] table)",
          provider.name, reason);
      co_return fail(CommandFailure(is_final ? kExitUsage : kExitProviderUnavailable, std::move(message)));
    }
    log::warning("provider lists no model yet", {{"provider", provider.name}, {"reason", reason}});
    co_await net::sleep_for(kListingRetryDelay, stop);
  }
}

}  // namespace

ModelConfigId model_config_id(std::string_view provider, std::string_view model) {
  std::string text(provider);
  text += '\0';
  text += model;
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  const int done = EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  ModelConfigId id;
  ASSAY_CHECK(done == 1 && size >= id.value.bytes.size(), "SHA-256 is always there");
  std::copy_n(digest, id.value.bytes.size(), id.value.bytes.begin());
  id.value.bytes[6] = static_cast<std::uint8_t>((id.value.bytes[6] & 0x0F) | 0x80);
  id.value.bytes[8] = static_cast<std::uint8_t>((id.value.bytes[8] & 0x3F) | 0x80);
  return id;
}

net::Task<Result<std::vector<worker::ModelRoute>, CommandFailure>> resolve_models(const ServeOptions& options,
                                                                                  providers::ModelClient& client,
                                                                                  net::StopToken stop) {
  std::vector<worker::ModelRoute> routes;
  for (const providers::ProviderConfig& provider : options.providers) {
    const std::size_t before = routes.size();
    for (const ModelEntry& entry : options.models) {
      if (entry.provider == provider.name) routes.push_back(route_of(provider, entry));
    }
    if (routes.size() > before) continue;
    auto listed = co_await first_listed_model(provider, client, stop);
    if (!listed) co_return fail(std::move(listed.error()));
    ModelEntry entry;
    entry.provider = provider.name;
    entry.settings.model = std::move(*listed);
    routes.push_back(route_of(provider, entry));
  }
  const bool has_default = std::any_of(routes.begin(), routes.end(),
                                       [](const worker::ModelRoute& route) { return route.description.is_default; });
  if (!has_default && !routes.empty()) routes.front().description.is_default = true;
  co_return routes;
}

}  // namespace assay::cli

#include "providers/config.h"

#include <algorithm>

#include "json/document.h"
#include "json/limits.h"
#include "providers/wire.h"

namespace assay::providers {
namespace {

constexpr std::size_t kNameBytesMax = 64;
constexpr std::int64_t kThinkingBudgetMin = 1024;  // the vendor's own

bool is_visible_ascii(char c) { return c > ' ' && c < '\x7f'; }

bool is_token_byte(char c) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";  // RFC 9110, 5.6.2
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         kOthers.find(c) != std::string_view::npos;
}

// RFC 9110, 5.5: no control character but the tab.
bool is_header_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
           c == '.';
  });
}

}  // namespace

Result<std::string, ConfigError> endpoint_url(std::string_view base_url, std::string_view path) {
  if (base_url.empty()) return fail(ConfigError{"base_url: missing"});
  if (!std::all_of(base_url.begin(), base_url.end(), is_visible_ascii)) {
    return fail(ConfigError{"base_url: holds white space, a control character or bytes outside ASCII"});
  }
  const std::size_t scheme_end = base_url.find("://");
  const std::string_view scheme = base_url.substr(0, scheme_end);
  if (scheme_end == std::string_view::npos || (scheme != "http" && scheme != "https")) {
    return fail(ConfigError{"base_url: must begin with http:// or https://"});
  }
  if (base_url.find('#') != std::string_view::npos) return fail(ConfigError{"base_url: must not have a fragment"});

  const std::size_t query_at = std::min(base_url.find('?'), base_url.size());
  const std::string_view query = base_url.substr(query_at);
  const std::size_t authority_at = scheme_end + 3;
  const std::size_t path_at = std::min(base_url.find('/', authority_at), query_at);
  const std::string_view authority = base_url.substr(authority_at, path_at - authority_at);
  if (authority.empty()) return fail(ConfigError{"base_url: names no host"});
  if (authority.find('@') != std::string_view::npos) {
    return fail(ConfigError{"base_url: must not hold credentials; the key is a setting of its own"});
  }
  std::string_view base_path = base_url.substr(path_at, query_at - path_at);
  while (base_path.ends_with('/')) base_path.remove_suffix(1);
  for (const WireEntry& entry : wires()) {
    const std::string suffix = "/" + std::string(entry.path);
    if (base_path.ends_with(suffix)) base_path.remove_suffix(suffix.size());
  }

  std::string url(base_url.substr(0, path_at));
  url += base_path.empty() ? std::string_view("/v1") : base_path;
  url += '/';
  url += path;
  url += query;
  return url;
}

std::optional<ConfigError> check(const ProviderConfig& provider) {
  if (!is_name(provider.name)) {
    return ConfigError{"name: must be 1 to 64 letters, digits, '_', '-' or '.'"};
  }
  if (auto url = endpoint_url(provider.base_url, "models"); !url) return std::move(url.error());
  const auto is_key_byte = [](char c) { return is_visible_ascii(c); };
  const std::string& key = provider.key.reveal();
  if (!std::all_of(key.begin(), key.end(), is_key_byte)) {
    return ConfigError{"key: holds white space, a control character or bytes outside ASCII"};
  }
  if (!is_header_value(provider.organization)) return ConfigError{"organization: is no header value"};
  if (!is_header_value(provider.api_version)) return ConfigError{"api_version: is no header value"};
  for (const std::string& feature : provider.beta) {
    if (feature.empty() || !is_header_value(feature)) return ConfigError{"beta: a name is no header value"};
  }
  if (!is_header_value(provider.project)) return ConfigError{"project: is no header value"};
  for (const Header& header : provider.headers) {
    if (header.name.empty() || !std::all_of(header.name.begin(), header.name.end(), is_token_byte)) {
      return ConfigError{"headers: a name is empty or holds a character that no header name may have"};
    }
    if (!is_header_value(header.value))
      return ConfigError{"headers: the value of " + header.name + " holds a control character"};
  }
  const Timeouts& timeouts = provider.timeouts;
  for (const Milliseconds wait : {timeouts.connect, timeouts.first_byte, timeouts.idle, timeouts.total}) {
    if (wait <= Milliseconds::zero()) return ConfigError{"timeouts: each must be longer than zero"};
  }
  return std::nullopt;
}

std::optional<ConfigError> check(const ProviderConfig&, const ModelSettings& model) {
  if (model.output_tokens_max && *model.output_tokens_max <= 0) {
    return ConfigError{"max_output_tokens: must be positive"};
  }
  const Thinking& thinking = model.thinking;
  if ((thinking.mode == ThinkingMode::Enabled) != thinking.budget_tokens.has_value()) {
    return ConfigError{"thinking_budget_tokens: goes with thinking = \"enabled\", and only with it"};
  }
  if (thinking.budget_tokens && *thinking.budget_tokens < kThinkingBudgetMin) {
    return ConfigError{"thinking_budget_tokens: must be at least 1024"};
  }
  if (thinking.budget_tokens && model.output_tokens_max && *thinking.budget_tokens >= *model.output_tokens_max) {
    return ConfigError{"thinking_budget_tokens: must be less than max_output_tokens"};
  }
  for (const HostedTool& tool : model.hosted_tools) {
    const auto definition = json::Document::parse(tool.definition, json::kEnvelopeCaps);
    if (!definition || !definition->root().is(json::Kind::Object) || definition->root().size() == 0) {
      return ConfigError{"hosted_tools: each must be an object that names its type"};
    }
  }
  return std::nullopt;
}

}  // namespace assay::providers

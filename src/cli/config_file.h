#pragma once
// The TOML file of `assay serve` (docs/configuration.md): the settings of serve_options.h at the top, then any number
// of
// [[provider]] and [[model]] tables. Unknown keys and wrong types are errors that name line and key.
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/serve_options.h"
#include "providers/config.h"

namespace assay::cli {

struct ConfigFile {
  std::map<std::string, std::string, std::less<>> settings;  // by setting name
  std::vector<providers::ProviderConfig> providers;
  std::vector<ModelEntry> models;
};

// Keys come from `key_env` and `key_file`, read through `surroundings`; the file itself cannot hold one.
Result<ConfigFile, std::string> parse_config_file(const std::string& text, const Surroundings& surroundings);

// One line: the key. The error names the file, never its content.
Result<providers::Secret, std::string> read_key_file(const std::string& path, const Surroundings& surroundings);

// What is wrong with a provider, in the words of the settings: its `base_url` is `url` there.
std::string in_setting_words(const providers::ConfigError& error);

// Sets what is known of a vendor by its host name (OpenAI: max_completion_tokens, the developer role; Anthropic: its
// wire).
void adapt_to_known_vendor(providers::ProviderConfig& provider);

}  // namespace assay::cli

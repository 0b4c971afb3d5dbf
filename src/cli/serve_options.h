#pragma once
// The configuration of `assay serve`: flags win over ASSAY_* environment variables, those over the TOML file, that over
// defaults. Pure: environment and files come in as functions. The table of settings feeds `--help` and
// docs/operations.md.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "providers/config.h"

namespace assay::cli {

// One setting that has a flag, an environment variable and a key at the top of the TOML file.
struct Setting {
  std::string_view name;   // the flag without dashes; ASSAY_ and underscores make the variable, underscores the key
  std::string_view value;  // placeholder in --help
  std::string_view help;
  std::string_view fallback;  // shown as the default; empty: none
};
std::span<const Setting> serve_settings();
std::string environment_name(std::string_view setting);  // "data-dir" → "ASSAY_DATA_DIR"
std::string file_key(std::string_view setting);          // "data-dir" → "data_dir"

struct Address {
  std::string host;
  std::uint16_t port = 0;
};
Result<Address, std::string> parse_address(std::string_view text);

struct ModelEntry {
  std::string provider;  // name of a configured provider
  std::string display_name;
  std::optional<std::int64_t> context_limit;
  bool is_default = false;
  providers::ModelSettings settings;
};

inline constexpr std::string_view kStructuredOutputExperiment = "chat-structured-output";

struct ServeOptions {
  Address address;
  std::string data_dir;
  std::string database_url;  // empty: the private cluster under data_dir
  std::set<std::string, std::less<>> experiments;
  std::vector<providers::ProviderConfig> providers;
  std::vector<ModelEntry> models;  // of all providers; a provider without an entry offers the first model it lists
  bool log_json = false;
  std::string log_level = "info";
  Milliseconds lease{20'000};
  Milliseconds heartbeat{5'000};
  Milliseconds acquire_interval{1'000};
  Milliseconds shutdown_grace{10'000};
  std::int64_t attempts_max = 5;
  Milliseconds attempts_window{60'000};
  Milliseconds client_tools_timeout{300'000};
  std::int64_t steps_max = 1200;
  std::size_t database_connections = 16;
};

// What the program around reads; injected for tests.
struct Surroundings {
  std::function<std::optional<std::string>(const std::string& name)> environment;
  std::function<Result<std::string, std::string>(const std::string& path)> read_file;
  bool is_root = false;
};

using Flags = std::map<std::string, std::string, std::less<>>;  // by setting name, those that were given

// The error is one sentence that names the setting and where it came from, the rule and the cure.
Result<ServeOptions, std::string> load_serve_options(const Flags& flags, const Surroundings& surroundings);

}  // namespace assay::cli

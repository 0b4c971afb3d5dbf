#include "cli/serve_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/config_file.h"
#include "cli/log_sink.h"
#include "providers/wire.h"

namespace assay::cli {
namespace {

constexpr std::array kSettings{
    Setting{"address", "HOST:PORT", "where the API listens", "127.0.0.1:8080"},
    Setting{"data-dir", "FOLDER", "the private PostgreSQL and other state",
            "/var/lib/assay as root, else ~/.local/state/assay"},
    Setting{"database-url", "URL", "a PostgreSQL 15 or newer to use in place of the private one", ""},
    Setting{"experiments", "LIST", "comma-separated features to turn on: chat-structured-output", ""},
    Setting{"config", "FILE", "a TOML file; flags and ASSAY_* variables win over it", ""},
    Setting{"provider-url", "URL", "one provider: its base URL, usually ending in /v1", ""},
    Setting{"provider-wire", "WIRE", "the protocol that it speaks", "openai_chat"},
    Setting{"provider-model", "MODEL", "its model", "the first one that it lists"},
    Setting{"provider-key-file", "FILE", "a file with its API key (or set ASSAY_PROVIDER_KEY; never a flag)", ""},
    Setting{"log-format", "text|json", "how log lines look on stderr", "text"},
    Setting{"log-level", "LEVEL", "debug, info, warning or error", "info"},
    Setting{"lease-ms", "MS", "a replica silent for so long loses its chats", "20000"},
    Setting{"heartbeat-ms", "MS", "between two signs of life; well under the lease", "5000"},
    Setting{"acquire-interval-ms", "MS", "between two looks for chats without an owner", "1000"},
    Setting{"shutdown-grace-ms", "MS", "what running requests get after SIGTERM", "10000"},
    Setting{"attempts-max", "N", "model calls per step before a retryable failure becomes final", "5"},
    Setting{"attempts-window-ms", "MS", "and the time after which no further attempt begins", "60000"},
    Setting{"client-tools-timeout-ms", "MS", "what a client gets to answer calls of its own tools", "300000"},
    Setting{"steps-max", "N", "model steps of one turn", "1200"},
    Setting{"database-connections", "N", "size of the connection pool", "16"},
};

constexpr std::string_view kProviderKeyVariable = "ASSAY_PROVIDER_KEY";
constexpr std::string_view kSingleProvider = "default";  // the name of the provider made of the provider-* settings

struct Found {
  std::string text;
  std::string source;  // how the user said it: "--address", "ASSAY_ADDRESS", "address in assay.toml"
};

// The settings by precedence, each with where it came from.
class Settings {
 public:
  static Result<Settings, std::string> gather(const Flags& flags, const Surroundings& surroundings) {
    Settings settings;
    for (const Setting& setting : kSettings) {
      const std::string name(setting.name);
      if (const auto flag = flags.find(name); flag != flags.end()) {
        settings.found_[name] = Found{flag->second, "--" + name};
      } else if (auto value = surroundings.environment(environment_name(name)); value && !value->empty()) {
        settings.found_[name] = Found{std::move(*value), environment_name(name)};
      }
    }
    const Found* path = settings.find("config");
    if (path == nullptr) return settings;
    auto text = surroundings.read_file(path->text);
    if (!text) return fail(fmt::format("{}: {}", path->source, text.error()));
    auto file = parse_config_file(*text, surroundings);
    if (!file) return fail(fmt::format("{}: {}", path->text, file.error()));
    settings.file_ = std::move(*file);
    for (const Setting& setting : kSettings) {
      const std::string name(setting.name);
      const auto entry = settings.file_.settings.find(name);
      if (entry == settings.file_.settings.end() || settings.found_.contains(name)) continue;
      settings.found_[name] = Found{entry->second, fmt::format("{} in {}", file_key(name), path->text)};
    }
    return settings;
  }

  [[nodiscard]] const Found* find(std::string_view name) const {
    const auto found = found_.find(name);
    return found == found_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::string text(std::string_view name, std::string_view fallback) const {
    const Found* found = find(name);
    return found == nullptr ? std::string(fallback) : found->text;
  }
  [[nodiscard]] const ConfigFile& file() const { return file_; }

 private:
  std::map<std::string, Found, std::less<>> found_;
  ConfigFile file_;
};

Result<std::int64_t, std::string> number(const Settings& settings, std::string_view name, std::int64_t fallback,
                                         std::int64_t least, std::int64_t most) {
  const Found* found = settings.find(name);
  if (found == nullptr) return fallback;
  std::int64_t value = 0;
  const char* end = found->text.data() + found->text.size();
  const auto [rest, error] = std::from_chars(found->text.data(), end, value);
  if (error != std::errc() || rest != end || value < least || value > most) {
    return fail(fmt::format("{} is '{}': use a whole number from {} to {}", found->source, found->text, least, most));
  }
  return value;
}

std::string default_data_dir(const Surroundings& surroundings) {
  if (surroundings.is_root) return "/var/lib/assay";
  if (const auto state = surroundings.environment("XDG_STATE_HOME"); state && !state->empty()) return *state + "/assay";
  if (const auto home = surroundings.environment("HOME"); home && !home->empty()) return *home + "/.local/state/assay";
  return {};
}

Result<std::set<std::string, std::less<>>, std::string> experiments(const Settings& settings) {
  std::set<std::string, std::less<>> names;
  const Found* found = settings.find("experiments");
  if (found == nullptr) return names;
  std::string_view rest = found->text;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view name = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (name.empty()) continue;
    if (name != kStructuredOutputExperiment) {
      return fail(fmt::format("{} names the unknown experiment '{}': the ones there are: {}", found->source, name,
                              kStructuredOutputExperiment));
    }
    names.emplace(name);
  }
  return names;
}

// The provider of the provider-* settings, if they are used.
Result<std::optional<providers::ProviderConfig>, std::string> single_provider(const Settings& settings,
                                                                              const Surroundings& surroundings) {
  const Found* url = settings.find("provider-url");
  if (url == nullptr) {
    for (const std::string_view name : {"provider-wire", "provider-model", "provider-key-file"}) {
      if (const Found* found = settings.find(name)) {
        return fail(fmt::format("{} is set but no provider: set ASSAY_PROVIDER_URL too", found->source));
      }
    }
    return std::nullopt;
  }
  providers::ProviderConfig provider;
  provider.name = kSingleProvider;
  provider.base_url = url->text;
  adapt_to_known_vendor(provider);
  if (const Found* wire = settings.find("provider-wire")) {
    const auto parsed = providers::parse_wire(wire->text);
    if (!parsed)
      return fail(fmt::format("{} is '{}': this build speaks {}", wire->source, wire->text, providers::wire_names()));
    provider.wire = *parsed;
  }
  if (auto key = surroundings.environment(std::string(kProviderKeyVariable)); key && !key->empty()) {
    provider.key = providers::Secret(std::move(*key));
  } else if (const Found* file = settings.find("provider-key-file")) {
    auto from_file = read_key_file(file->text, surroundings);
    if (!from_file) return fail(fmt::format("{}: {}", file->source, from_file.error()));
    provider.key = std::move(*from_file);
  }
  if (const auto error = providers::check(provider))
    return fail(fmt::format("{}: {}", url->source, in_setting_words(*error)));
  return provider;
}

// Times and counts. The fault, if there is one.
std::optional<std::string> read_limits(const Settings& settings, ServeOptions& options) {
  constexpr std::int64_t kDayMs = 86'400'000;
  struct Duration {
    std::string_view name;
    Milliseconds* target;
    std::int64_t least;
  };
  for (const Duration& duration :
       {Duration{"lease-ms", &options.lease, 100}, Duration{"heartbeat-ms", &options.heartbeat, 10},
        Duration{"acquire-interval-ms", &options.acquire_interval, 10},
        Duration{"shutdown-grace-ms", &options.shutdown_grace, 0},
        Duration{"attempts-window-ms", &options.attempts_window, 0},
        Duration{"client-tools-timeout-ms", &options.client_tools_timeout, 1}}) {
    const auto value = number(settings, duration.name, duration.target->count(), duration.least, kDayMs);
    if (!value) return value.error();
    *duration.target = Milliseconds(*value);
  }
  if (options.heartbeat * 2 > options.lease) {
    return fmt::format(
        "heartbeat-ms is {} and lease-ms {}: the lease must be at least twice the heartbeat, or one "
        "late sign of life loses a chat",
        options.heartbeat.count(), options.lease.count());
  }
  const auto attempts = number(settings, "attempts-max", options.attempts_max, 1, 100);
  if (!attempts) return attempts.error();
  options.attempts_max = *attempts;
  const auto steps = number(settings, "steps-max", options.steps_max, 1, 100'000);
  if (!steps) return steps.error();
  options.steps_max = *steps;
  const auto connections = number(settings, "database-connections", 16, 2, 1'000);
  if (!connections) return connections.error();
  options.database_connections = static_cast<std::size_t>(*connections);
  return std::nullopt;
}

std::optional<std::string> model_fault(const ServeOptions& options) {
  std::size_t defaults = 0;
  for (const ModelEntry& model : options.models) {
    const auto provider = std::find_if(options.providers.begin(), options.providers.end(),
                                       [&](const auto& known) { return known.name == model.provider; });
    if (provider == options.providers.end()) {
      return fmt::format("model '{}' names the provider '{}', which no [[provider]] has as its name",
                         model.settings.model, model.provider);
    }
    if (const auto error = providers::check(*provider, model.settings)) {
      return fmt::format("model '{}' of provider '{}': {}", model.settings.model, model.provider, error->message);
    }
    defaults += model.is_default ? 1 : 0;
  }
  if (defaults > 1) return "more than one [[model]] says default = true: keep one";
  return std::nullopt;
}

}  // namespace

std::span<const Setting> serve_settings() { return kSettings; }

std::string environment_name(std::string_view setting) {
  std::string name = "ASSAY_";
  for (const char c : setting) name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

std::string file_key(std::string_view setting) {
  std::string key(setting);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

Result<Address, std::string> parse_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon == std::string_view::npos ? 0 : colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const char* begin = colon == std::string_view::npos ? end : text.data() + colon + 1;
  const auto [rest, error] = std::from_chars(begin, end, port);
  if (host.empty() || begin == end || error != std::errc() || rest != end) {
    return fail(fmt::format("'{}' is no address: use HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080", text));
  }
  if (host == "localhost") host = "127.0.0.1";
  return Address{.host = std::string(host), .port = port};
}

Result<ServeOptions, std::string> load_serve_options(const Flags& flags, const Surroundings& surroundings) {
  auto settings = Settings::gather(flags, surroundings);
  if (!settings) return fail(std::move(settings.error()));

  ServeOptions options;
  auto address = parse_address(settings->text("address", "127.0.0.1:8080"));
  if (!address) return fail(fmt::format("{}: {}", settings->find("address")->source, address.error()));
  options.address = std::move(*address);
  options.data_dir = settings->text("data-dir", default_data_dir(surroundings));
  options.database_url = settings->text("database-url", "");
  if (options.data_dir.empty() && options.database_url.empty()) {
    return fail(std::string("there is no home folder to keep data in: set ASSAY_DATA_DIR"));
  }
  auto enabled = experiments(*settings);
  if (!enabled) return fail(std::move(enabled.error()));
  options.experiments = std::move(*enabled);

  const std::string format = settings->text("log-format", "text");
  if (format != "text" && format != "json") {
    return fail(fmt::format("{} is '{}': use text or json", settings->find("log-format")->source, format));
  }
  options.log_json = format == "json";
  options.log_level = settings->text("log-level", "info");
  if (const auto level = parse_log_level(options.log_level); !level) {
    return fail(fmt::format("{}: {}", settings->find("log-level")->source, level.error()));
  }

  if (auto fault = read_limits(*settings, options)) return fail(std::move(*fault));

  options.providers = settings->file().providers;
  options.models = settings->file().models;
  auto single = single_provider(*settings, surroundings);
  if (!single) return fail(std::move(single.error()));
  if (*single) {
    options.providers.push_back(std::move(**single));
    if (const Found* model = settings->find("provider-model")) {
      ModelEntry entry;
      entry.provider = kSingleProvider;
      entry.settings.model = model->text;
      entry.is_default = std::none_of(options.models.begin(), options.models.end(),
                                      [](const ModelEntry& other) { return other.is_default; });
      options.models.push_back(std::move(entry));
    }
  }
  if (const auto fault = model_fault(options)) return fail(*fault);
  return options;
}

}  // namespace assay::cli

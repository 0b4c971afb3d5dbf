#include "cli/config_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <type_traits>

#include "providers/wire.h"
#include "structured/finalizer.h"

namespace assay::cli {
namespace {

using Fault = std::string;

// Reads the members of one table by name and complains about what is left over.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string where) : table_(table), where_(std::move(where)) {}

  template <class T>
  void read(std::string_view key, std::optional<T>& target, std::string_view kind) {
    known_.emplace(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<T>();
    if (!value) return complain(*node, key, fmt::format("must be {}", kind));
    target = *value;
  }
  void text(std::string_view key, std::string& target) {
    std::optional<std::string> value;
    read(key, value, "a string");
    if (value) target = std::move(*value);
  }
  void flag(std::string_view key, bool& target) {
    std::optional<bool> value;
    read(key, value, "true or false");
    if (value) target = *value;
  }
  void milliseconds(std::string_view key, Milliseconds& target) {
    std::optional<std::int64_t> value;
    read(key, value, "a whole number of milliseconds");
    if (value) target = Milliseconds(*value);
  }
  template <class Enum>
  using Names = std::vector<std::pair<std::string_view, Enum>>;
  template <class Enum>
  void choice(std::string_view key, Enum& target, const Names<std::type_identity_t<Enum>>& names) {
    std::string text;
    this->text(key, text);
    if (text.empty()) return;
    std::string allowed;
    for (const auto& [name, value] : names) {
      if (name == text) {
        target = value;
        return;
      }
      allowed += (allowed.empty() ? "" : ", ") + std::string(name);
    }
    complain(*table_.get(key), key, "must be one of " + allowed);
  }
  const toml::node* raw(std::string_view key) {
    known_.emplace(key);
    return table_.get(key);
  }
  void complain(const toml::node& node, std::string_view key, std::string_view rule) {
    if (fault_.empty()) fault_ = fmt::format("line {}: {}{} {}", node.source().begin.line, where_, key, rule);
  }
  void complain(std::string_view rule) {
    if (fault_.empty()) fault_ = fmt::format("line {}: {}{}", table_.source().begin.line, where_, rule);
  }

  // The first fault; empty when all went well.
  Fault finish() {
    for (const auto& [key, node] : table_) {
      if (!known_.contains(std::string(key.str()))) complain(node, key.str(), "is no setting here");
    }
    return std::move(fault_);
  }

 private:
  const toml::table& table_;
  std::string where_;
  std::set<std::string, std::less<>> known_;
  Fault fault_;
};

void read_key(TableReader& reader, providers::ProviderConfig& provider, const Surroundings& surroundings) {
  std::string variable;
  std::string path;
  reader.text("key_env", variable);
  reader.text("key_file", path);
  if (const toml::node* key = reader.raw("key")) {
    return reader.complain(*key, "key", "must not stand in the file: use key_env or key_file");
  }
  if (!variable.empty() && !path.empty()) return reader.complain("key_env and key_file exclude each other");
  if (!variable.empty()) {
    auto key = surroundings.environment(variable);
    if (!key || key->empty()) return reader.complain(fmt::format("key_env names {}, which is not set", variable));
    provider.key = providers::Secret(std::move(*key));
  } else if (!path.empty()) {
    auto key = read_key_file(path, surroundings);
    if (!key) return reader.complain("key_file: " + key.error());
    provider.key = std::move(*key);
  }
}

void read_headers(TableReader& reader, providers::ProviderConfig& provider) {
  const toml::node* node = reader.raw("headers");
  if (node == nullptr) return;
  const toml::table* headers = node->as_table();
  if (headers == nullptr) return reader.complain(*node, "headers", "must be a table of strings");
  for (const auto& [name, value] : *headers) {
    const auto text = value.value_exact<std::string>();
    if (!text) return reader.complain(value, "headers", "must be a table of strings");
    provider.headers.push_back(providers::Header{.name = std::string(name.str()), .value = *text});
  }
}

void read_beta(TableReader& reader, providers::ProviderConfig& provider) {
  const toml::node* node = reader.raw("beta");
  if (node == nullptr) return;
  const toml::array* names = node->as_array();
  if (names == nullptr) return reader.complain(*node, "beta", "must be a list of strings");
  for (const toml::node& item : *names) {
    const auto name = item.value_exact<std::string>();
    if (!name) return reader.complain(*node, "beta", "must be a list of strings");
    provider.beta.push_back(*name);
  }
}

Fault read_provider(const toml::table& table, const Surroundings& surroundings, providers::ProviderConfig& provider) {
  TableReader reader(table, "provider: ");
  reader.text("name", provider.name);
  reader.text("url", provider.base_url);
  adapt_to_known_vendor(provider);
  TableReader::Names<providers::Wire> wires;
  for (const providers::WireEntry& entry : providers::wires()) wires.emplace_back(entry.name, entry.wire);
  reader.choice("wire", provider.wire, wires);
  reader.choice("key_header", provider.key_header,
                {{"authorization", providers::KeyHeader::Bearer}, {"x-api-key", providers::KeyHeader::XApiKey}});
  reader.choice("prompt_cache", provider.prompt_cache,
                {{"off", providers::PromptCache::Off},
                 {"5m", providers::PromptCache::FiveMinutes},
                 {"1h", providers::PromptCache::OneHour}});
  reader.text("organization", provider.organization);
  reader.text("project", provider.project);
  reader.text("api_version", provider.api_version);
  read_beta(reader, provider);
  reader.choice("token_cap_field", provider.token_cap_field,
                {{"max_tokens", providers::TokenCapField::MaxTokens},
                 {"max_completion_tokens", providers::TokenCapField::MaxCompletionTokens}});
  reader.choice("system_role", provider.system_role,
                {{"system", providers::SystemRole::System}, {"developer", providers::SystemRole::Developer}});
  reader.choice("reasoning_replay", provider.reasoning_replay,
                {{"none", providers::ReasoningReplay::None},
                 {"reasoning_content", providers::ReasoningReplay::ReasoningContent},
                 {"reasoning", providers::ReasoningReplay::Reasoning}});
  reader.flag("accepts_strict", provider.accepts_strict);
  reader.flag("forces_strict", provider.forces_strict);
  reader.flag("accepts_stream_usage", provider.accepts_stream_usage);
  reader.flag("accepts_cache_key", provider.accepts_cache_key);
  reader.text("proxy", provider.proxy);
  reader.text("ca_file", provider.ca_file);
  reader.milliseconds("connect_timeout_ms", provider.timeouts.connect);
  reader.milliseconds("first_byte_timeout_ms", provider.timeouts.first_byte);
  reader.milliseconds("idle_timeout_ms", provider.timeouts.idle);
  reader.milliseconds("total_timeout_ms", provider.timeouts.total);
  read_headers(reader, provider);
  read_key(reader, provider, surroundings);
  if (Fault fault = reader.finish(); !fault.empty()) return fault;
  if (const auto error = providers::check(provider)) {
    return fmt::format("line {}: provider: {}", table.source().begin.line, in_setting_words(*error));
  }
  return {};
}

// Tables that reach the provider as JSON objects, as they are.
void read_hosted_tools(TableReader& reader, providers::ModelSettings& settings) {
  constexpr std::string_view kKey = "hosted_tools";
  const toml::node* node = reader.raw(kKey);
  if (node == nullptr) return;
  const toml::array* tools = node->as_array();
  if (tools == nullptr) return reader.complain(*node, kKey, "must be a list of tables");
  for (const toml::node& item : *tools) {
    const toml::table* tool = item.as_table();
    if (tool == nullptr) return reader.complain(*node, kKey, "must be a list of tables");
    const auto type = (*tool)["type"].value<std::string>();
    if (!type) return reader.complain(*node, kKey, "needs a type in each table");
    std::ostringstream json;
    json << toml::json_formatter(*tool);
    std::string name = (*tool)["name"].value_or(*type);
    if (name == structured::kFinalizerName) return reader.complain(*node, kKey, "uses a reserved name");
    settings.hosted_tools.push_back({.name = std::move(name), .definition = json.str()});
  }
}

Fault read_model(const toml::table& table, ModelEntry& model) {
  TableReader reader(table, "model: ");
  reader.text("provider", model.provider);
  reader.text("model", model.settings.model);
  reader.text("display_name", model.display_name);
  reader.read("context_limit", model.context_limit, "a whole number of tokens");
  reader.read("max_output_tokens", model.settings.output_tokens_max, "a whole number of tokens");
  reader.read("reasoning_effort", model.settings.reasoning_effort, "a string");
  reader.read("reasoning_summary", model.settings.reasoning_summary, "a string");
  reader.flag("encrypted_reasoning", model.settings.encrypted_reasoning);
  reader.read("parallel_tool_calls", model.settings.parallel_tool_calls, "true or false");
  read_hosted_tools(reader, model.settings);
  reader.choice("thinking", model.settings.thinking.mode,
                {{"adaptive", providers::ThinkingMode::Adaptive},
                 {"enabled", providers::ThinkingMode::Enabled},
                 {"disabled", providers::ThinkingMode::Disabled},
                 {"between_tools", providers::ThinkingMode::BetweenTools}});
  reader.read("thinking_budget_tokens", model.settings.thinking.budget_tokens, "a whole number of tokens");
  reader.choice("thinking_display", model.settings.thinking.display,
                {{"summarized", "summarized"}, {"omitted", "omitted"}});
  reader.flag("default", model.is_default);
  if (model.provider.empty()) reader.complain("provider is missing");
  if (model.settings.model.empty()) reader.complain("model is missing");
  if (model.context_limit && *model.context_limit <= 0) reader.complain("context_limit: must be positive");
  return reader.finish();
}

template <class Entry, class Read>
Fault read_tables(const toml::node* node, std::string_view name, std::vector<Entry>& entries, Read read) {
  if (node == nullptr) return {};
  const toml::array* tables = node->as_array();
  if (tables == nullptr) return fmt::format("line {}: write [[{}]]", node->source().begin.line, name);
  for (const toml::node& item : *tables) {
    const toml::table* table = item.as_table();
    if (table == nullptr) return fmt::format("line {}: write [[{}]]", item.source().begin.line, name);
    if (Fault fault = read(*table, entries.emplace_back()); !fault.empty()) return fault;
  }
  return {};
}

// Numbers, booleans and lists of strings are as good as the text that a flag would have.
std::optional<std::string> setting_text(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return fmt::to_string(*number);
  const toml::array* list = node.as_array();
  if (list == nullptr) return std::nullopt;
  std::string joined;
  for (const toml::node& item : *list) {
    const auto text = item.value_exact<std::string>();
    if (!text) return std::nullopt;
    joined += (joined.empty() ? "" : ",") + *text;
  }
  return joined;
}

Fault read_settings(TableReader& reader, ConfigFile& file) {
  for (const Setting& setting : serve_settings()) {
    if (setting.name == "config") continue;
    const std::string key = file_key(setting.name);
    const toml::node* node = reader.raw(key);
    if (node == nullptr) continue;
    auto text = setting_text(*node);
    if (!text) {
      reader.complain(*node, key, "must be a string, a whole number or a list of strings");
      continue;
    }
    file.settings.emplace(setting.name, std::move(*text));
  }
  return reader.finish();
}

}  // namespace

Result<ConfigFile, std::string> parse_config_file(const std::string& text, const Surroundings& surroundings) {
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return fail(fmt::format("line {}: {}", error.source().begin.line, error.description()));
  }
  ConfigFile file;
  TableReader reader(root, "");
  const toml::node* providers_node = reader.raw("provider");
  const toml::node* models_node = reader.raw("model");
  if (Fault fault = read_settings(reader, file); !fault.empty()) return fail(std::move(fault));
  Fault fault = read_tables(providers_node, "provider", file.providers,
                            [&](const toml::table& table, providers::ProviderConfig& provider) {
                              return read_provider(table, surroundings, provider);
                            });
  if (!fault.empty()) return fail(std::move(fault));
  fault = read_tables(models_node, "model", file.models, read_model);
  if (!fault.empty()) return fail(std::move(fault));
  std::set<std::string> names;
  for (const providers::ProviderConfig& provider : file.providers) {
    if (!names.insert(provider.name).second) {
      return fail(fmt::format("two [[provider]] tables have the name '{}'", provider.name));
    }
  }
  return file;
}

Result<providers::Secret, std::string> read_key_file(const std::string& path, const Surroundings& surroundings) {
  auto text = surroundings.read_file(path);
  if (!text) return fail(std::move(text.error()));
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
  if (text->empty()) return fail(fmt::format("{} holds no key", path));
  return providers::Secret(std::move(*text));
}

std::string in_setting_words(const providers::ConfigError& error) {
  constexpr std::string_view kField = "base_url: ";
  if (!error.message.starts_with(kField)) return error.message;
  return "url: " + error.message.substr(kField.size());
}

void adapt_to_known_vendor(providers::ProviderConfig& provider) {
  if (provider.base_url.starts_with("https://api.openai.com")) {
    provider.token_cap_field = providers::TokenCapField::MaxCompletionTokens;
    provider.system_role = providers::SystemRole::Developer;
    provider.accepts_cache_key = true;
  }
  if (provider.base_url.starts_with("https://api.anthropic.com")) provider.wire = providers::Wire::Anthropic;
}

}  // namespace assay::cli

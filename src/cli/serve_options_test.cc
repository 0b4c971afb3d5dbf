#include "cli/serve_options.h"

#include <gtest/gtest.h>

#include "cli/config_file.h"
#include "json/compact.h"
#include "providers/wire.h"

namespace assay::cli {
namespace {

struct World {
  std::map<std::string, std::string> variables{{"HOME", "/home/u"}};
  std::map<std::string, std::string> files;
  bool is_root = false;

  Result<ServeOptions, std::string> load(const Flags& flags = {}) const {
    Surroundings surroundings;
    surroundings.is_root = is_root;
    surroundings.environment = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      if (found == variables.end()) return std::nullopt;
      return found->second;
    };
    surroundings.read_file = [this](const std::string& path) -> Result<std::string, std::string> {
      const auto found = files.find(path);
      if (found == files.end()) return fail("cannot read " + path);
      return found->second;
    };
    return load_serve_options(flags, surroundings);
  }
  std::string fault(const Flags& flags = {}) const {
    const auto options = load(flags);
    return options ? "no fault" : options.error();
  }
};

TEST(ServeOptions, HasDefaultsThatRunWithoutAnySetting) {
  const auto options = World{}.load();
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->address.host, "127.0.0.1");
  EXPECT_EQ(options->address.port, 8080);
  EXPECT_EQ(options->data_dir, "/home/u/.local/state/assay");
  EXPECT_TRUE(options->experiments.empty()) << "structured output is off by default";
  EXPECT_TRUE(options->providers.empty());
}

TEST(ServeOptions, KeepsRootsDataWhereAnotherUserCanReachIt) {
  World world;
  world.is_root = true;
  EXPECT_EQ(world.load()->data_dir, "/var/lib/assay");
}

TEST(ServeOptions, FlagsWinOverEnvironmentAndThatOverTheFile) {
  World world;
  world.files["a.toml"] =
      "address = '127.0.0.1:1'\nlease_ms = 7000\nattempts_max = 2\nexperiments = ['chat-structured-output']";
  world.variables["ASSAY_CONFIG"] = "a.toml";
  world.variables["ASSAY_ADDRESS"] = "127.0.0.1:2";
  world.variables["ASSAY_LEASE_MS"] = "8000";
  world.variables["ASSAY_HEARTBEAT_MS"] = "100";
  const auto options = world.load({{"address", "127.0.0.1:3"}});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->address.port, 3);
  EXPECT_EQ(options->lease, Milliseconds(8000));
  EXPECT_EQ(options->attempts_max, 2);
  EXPECT_TRUE(options->experiments.contains("chat-structured-output"));
}

TEST(ServeOptions, NamesTheSettingTheRuleAndTheCure) {
  World world;
  EXPECT_EQ(world.fault({{"address", "8080"}}),
            "--address: '8080' is no address: use HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080");
  EXPECT_EQ(world.fault({{"experiments", "chat-magic"}}),
            "--experiments names the unknown experiment 'chat-magic': the ones there are: chat-structured-output");
  EXPECT_EQ(world.fault({{"steps-max", "0"}}), "--steps-max is '0': use a whole number from 1 to 100000");
  EXPECT_EQ(world.fault({{"provider-model", "m"}}),
            "--provider-model is set but no provider: set ASSAY_PROVIDER_URL too");
  EXPECT_EQ(world.fault({{"provider-url", "http://x"}, {"provider-wire", "smoke"}}),
            "--provider-wire is 'smoke': this build speaks " + providers::wire_names());
  EXPECT_EQ(world.fault({{"provider-url", "ftp://x"}}), "--provider-url: url: must begin with http:// or https://");
  EXPECT_EQ(world.fault({{"config", "b.toml"}}), "--config: cannot read b.toml");
  world.variables["ASSAY_HEARTBEAT_MS"] = "15000";
  EXPECT_TRUE(world.fault().starts_with("heartbeat-ms is 15000 and lease-ms 20000: the lease must be"))
      << world.fault();
  World homeless;
  homeless.variables.clear();
  EXPECT_EQ(homeless.fault(), "there is no home folder to keep data in: set ASSAY_DATA_DIR");
}

TEST(ServeOptions, MakesOneProviderOfTheProviderSettings) {
  World world;
  world.variables["ASSAY_PROVIDER_URL"] = "https://api.openai.com/v1";
  world.variables["ASSAY_PROVIDER_KEY"] = "k";
  world.variables["ASSAY_PROVIDER_MODEL"] = "m";
  const auto options = world.load();
  ASSERT_TRUE(options) << options.error();
  ASSERT_EQ(options->providers.size(), 1U);
  EXPECT_EQ(options->providers[0].key.reveal(), "k");
  EXPECT_EQ(options->providers[0].token_cap_field, providers::TokenCapField::MaxCompletionTokens);
  ASSERT_EQ(options->models.size(), 1U);
  EXPECT_EQ(options->models[0].settings.model, "m");
  EXPECT_TRUE(options->models[0].is_default);
}

TEST(ServeOptions, ReadsTheKeyFromAFileWithoutItsNewline) {
  World world;
  world.files["key"] = "secret\n";
  const auto options = world.load({{"provider-url", "http://127.0.0.1:1"}, {"provider-key-file", "key"}});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->providers[0].key.reveal(), "secret");
  EXPECT_EQ(world.fault({{"provider-url", "http://127.0.0.1:1"}, {"provider-key-file", "none"}}),
            "--provider-key-file: cannot read none");
}

constexpr const char* kFile = R"(
log_level = "debug"

[[provider]]
name = "local"
url = "http://127.0.0.1:11434/v1"
accepts_strict = false
idle_timeout_ms = 5000
headers = { "X-Title" = "assay" }

[[provider]]
name = "vendor"
url = "https://example.test/v1"
key_env = "VENDOR_KEY"

[[model]]
provider = "vendor"
model = "large"
context_limit = 128000
max_output_tokens = 4000
parallel_tool_calls = false
reasoning_summary = "auto"
encrypted_reasoning = false
hosted_tools = [{ type = "web_search", max_uses = 3, filters = { domains = ["example.org"] } }]
default = true
)";

TEST(ConfigFile, ReadsProvidersAndModels) {
  World world;
  world.files["a.toml"] = kFile;
  world.variables["VENDOR_KEY"] = "v";
  const auto options = world.load({{"config", "a.toml"}});
  ASSERT_TRUE(options) << options.error();
  ASSERT_EQ(options->providers.size(), 2U);
  EXPECT_FALSE(options->providers[0].accepts_strict);
  EXPECT_EQ(options->providers[0].timeouts.idle, Milliseconds(5000));
  EXPECT_EQ(options->providers[0].headers.at(0).name, "X-Title");
  EXPECT_EQ(options->providers[1].key.reveal(), "v");
  EXPECT_EQ(options->models.at(0).context_limit, 128000);
  const providers::ModelSettings& settings = options->models[0].settings;
  EXPECT_EQ(settings.output_tokens_max, 4000);
  EXPECT_EQ(settings.parallel_tool_calls, false);
  EXPECT_EQ(settings.reasoning_summary, "auto");
  EXPECT_FALSE(settings.encrypted_reasoning);
  ASSERT_EQ(settings.hosted_tools.size(), 1U);
  EXPECT_EQ(settings.hosted_tools[0].name, "web_search");
  EXPECT_EQ(json::compact(settings.hosted_tools[0].definition),
            R"({"filters":{"domains":["example.org"]},"max_uses":3,"type":"web_search"})");
  EXPECT_EQ(options->log_level, "debug");
}

TEST(ConfigFile, NamesLineAndKeyOfEachFault) {
  const std::pair<const char*, const char*> cases[] = {
      {"adress = 'x'", "a.toml: line 1: adress is no setting here"},
      {"address = true", "a.toml: line 1: address must be a string, a whole number or a list of strings"},
      {"x = ", "a.toml: line 1: "},
      {"[provider]\nname='a'", "a.toml: line 1: write [[provider]]"},
      {"[[provider]]\nname='a'\nurl='http://h'\nkey='k'",
       "a.toml: line 4: provider: key must not stand in the file: use key_env or key_file"},
      {"[[provider]]\nname='a'\nurl='http://h'\nkey_env='NONE'",
       "a.toml: line 1: provider: key_env names NONE, which is not set"},
      {"[[provider]]\nname='a'\nurl=3", "a.toml: line 3: provider: url must be a string"},
      {"[[provider]]\nname='a'\nurl='http://h'\nwire='x'",
       "a.toml: line 4: provider: wire must be one of openai_chat, openai_responses, anthropic"},
      {"[[provider]]\nname='a b'\nurl='http://h'", "a.toml: line 1: provider: name: must be"},
      {"[[provider]]\nname='a'\nurl='http://h'\n[[provider]]\nname='a'\nurl='http://h'",
       "a.toml: two [[provider]] tables have the name 'a'"},
      {"[[provider]]\nname='a'", "a.toml: line 1: provider: url: missing"},
      {"[[model]]\nmodel='m'", "a.toml: line 1: model: provider is missing"},
      {"[[model]]\nprovider='p'\nmodel='m'\ncontext_limit=-1",
       "a.toml: line 1: model: context_limit: must be positive"},
      {"[[provider]]\nname='p'\nurl='http://h'\n[[model]]\nprovider='p'\nmodel='m'\nmax_output_tokens=0",
       "model 'm' of provider 'p': max_output_tokens: must be positive"},
      {"[[model]]\nprovider='p'\nmodel='m'\nhosted_tools='x'",
       "a.toml: line 4: model: hosted_tools must be a list of tables"},
      {"[[model]]\nprovider='p'\nmodel='m'\nhosted_tools=[{name='x'}]",
       "a.toml: line 4: model: hosted_tools needs a type in each table"},
      {"[[model]]\nprovider='p'\nmodel='m'\nhosted_tools=[{type='coder_structured_output'}]",
       "a.toml: line 4: model: hosted_tools uses a reserved name"},
      {"[[model]]\nprovider='p'\nmodel='m'", "model 'm' names the provider 'p', which no [[provider]] has as its name"},
  };
  for (const auto& [text, message] : cases) {
    World world;
    world.files["a.toml"] = text;
    EXPECT_TRUE(world.fault({{"config", "a.toml"}}).starts_with(message)) << world.fault({{"config", "a.toml"}});
  }
}

TEST(Address, ReadsHostAndPort) {
  EXPECT_EQ(parse_address("[::1]:80")->host, "::1");
  EXPECT_EQ(parse_address("localhost:80")->host, "127.0.0.1");
  EXPECT_EQ(parse_address("0.0.0.0:0")->port, 0);
  for (const char* text : {"", ":80", "x:", "x", "x:70000", "x:8o"}) EXPECT_FALSE(parse_address(text)) << text;
}

TEST(Settings, HaveOneNameInThreeSpellings) {
  EXPECT_EQ(environment_name("data-dir"), "ASSAY_DATA_DIR");
  EXPECT_EQ(file_key("data-dir"), "data_dir");
}

}  // namespace
}  // namespace assay::cli

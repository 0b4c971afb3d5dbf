#include "cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <string>

#include "cli/ask.h"
#include "cli/config_file.h"
#include "cli/exit_code.h"
#include "cli/json_check.h"
#include "cli/log_sink.h"
#include "cli/serve.h"
#include "cli/serve_options.h"
#include "cli/text_file.h"
#include "cli/token.h"
#include "cli/validate_command.h"

namespace assay::cli {
namespace {

constexpr const char* kVersion = "assay 0.1.0";

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

Surroundings process_surroundings() {
  Surroundings surroundings;
  surroundings.environment = environment;
  surroundings.read_file = read_text_file;
  surroundings.is_root = ::geteuid() == 0;
  return surroundings;
}

// The flags that a command shares with `serve`, from the one table of settings.
void add_settings(CLI::App& command, Flags& flags, std::initializer_list<std::string_view> only = {}) {
  for (const Setting& setting : serve_settings()) {
    if (only.size() != 0 && std::find(only.begin(), only.end(), setting.name) == only.end()) continue;
    std::string help = fmt::format("{} [{}]", setting.help, environment_name(setting.name));
    if (!setting.fallback.empty()) help += fmt::format(" (default: {})", setting.fallback);
    const std::string name(setting.name);
    command
        .add_option_function<std::string>(
            "--" + name, [&flags, name](const std::string& value) { flags[name] = value; }, help)
        ->type_name(std::string(setting.value));
  }
}

// Loads the options, or says what is wrong with them.
std::optional<ServeOptions> options_from(const Flags& flags) {
  auto options = load_serve_options(flags, process_surroundings());
  if (!options) {
    std::cerr << "assay: " << options.error() << '\n';
    return std::nullopt;
  }
  install_log_sink(options->log_json ? LogFormat::Json : LogFormat::Text, *parse_log_level(options->log_level));
  return std::move(*options);
}

int with_options(const Flags& flags, const std::function<ExitCode(const ServeOptions&)>& command) {
  const auto options = options_from(flags);
  return options ? command(*options) : kExitUsage;
}

struct AskFlags {
  AskOptions options;
  std::string token_file;
  std::int64_t timeout_s = 600;
};

void add_ask(CLI::App& app, AskFlags& ask) {
  CLI::App* command = app.add_subcommand("ask", "Ask a running server one question and print the answer");
  command->add_option("question", ask.options.question, "What to ask")->required();
  command->add_option("--schema", ask.options.schema_path,
                      "A JSON Schema file: the answer is a value that fits it (without it, plain text)");
  command->add_option("--name", ask.options.name, "What the value is called (default: the schema's file name)");
  command->add_option(
      "--server", ask.options.server_url,
      "The server's URL [ASSAY_SERVER] (default: http:// and ASSAY_ADDRESS, else http://127.0.0.1:8080)");
  command->add_option("--token-file", ask.token_file, "A file with an API token (or set ASSAY_TOKEN)");
  command->add_option(
      "--model", ask.options.model_config_id,
      "Id of the model to ask, of those in GET /api/experimental/chats/model-configs (default: the server's)");
  command->add_option("--timeout", ask.timeout_s, "Seconds to wait for the answer")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  command->add_flag("--receipt", ask.options.prints_receipt, "Print the whole receipt message in place of the value");
  command->footer(
      "Exit status: 0 the value was printed; 1 a failed or canceled receipt; 2 the question or the schema is wrong;\n"
      "3 the server cannot be reached or gave no answer in time.");
}

int run_ask(AskFlags& ask) {
  AskOptions& options = ask.options;
  if (options.server_url.empty()) {
    const auto address = environment("ASSAY_ADDRESS");
    options.server_url = environment("ASSAY_SERVER").value_or("http://" + address.value_or("127.0.0.1:8080"));
  }
  while (options.server_url.ends_with('/')) options.server_url.pop_back();
  if (!options.server_url.starts_with("http://") && !options.server_url.starts_with("https://")) {
    std::cerr << "assay: --server is '" << options.server_url << "': use a URL such as http://127.0.0.1:8080\n";
    return kExitUsage;
  }
  options.token = environment("ASSAY_TOKEN").value_or("");
  if (!ask.token_file.empty()) {
    auto token = read_key_file(ask.token_file, process_surroundings());
    if (!token) {
      std::cerr << "assay: --token-file: " << token.error() << '\n';
      return kExitUsage;
    }
    options.token = token->reveal();
  }
  if (options.token.empty()) {
    std::cerr << "assay: no API token: set ASSAY_TOKEN or --token-file; `assay token create --user NAME` makes one\n";
    return kExitUsage;
  }
  options.timeout = Milliseconds(ask.timeout_s * 1000);
  options.is_terminal = ::isatty(STDERR_FILENO) == 1;
  options.prints_to_terminal = ::isatty(STDOUT_FILENO) == 1;
  return ask_server(options, std::cout, std::cerr);
}

}  // namespace

int run(int argc, const char* const* argv) {
  CLI::App app("assay: agent chats whose structured answers the server validates itself");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);

  Flags flags;
  CLI::App* serve_command = app.add_subcommand("serve", "Run the server");
  add_settings(*serve_command, flags);
  serve_command->footer(
      "Exit status: 0 after SIGTERM or SIGINT; 2 a setting is wrong; 4 the address is taken; 5 the database cannot be\n"
      "reached; 6 its schema is newer than this binary; 7 a provider cannot be asked for its model. Several providers "
      "and models: see docs/configuration.md.");

  CLI::App* migrate_command = app.add_subcommand("migrate", "Bring the database's schema to this version and exit");
  add_settings(*migrate_command, flags, {"data-dir", "database-url", "config", "log-format", "log-level"});

  std::string user;
  CLI::App* token_command = app.add_subcommand("token", "API tokens")->require_subcommand(1);
  CLI::App* token_create =
      token_command->add_subcommand("create", "Make a token for a user and print it as the last line");
  token_create->add_option("--user", user, "The user's name; a new name makes a new user")->required();
  add_settings(*token_create, flags, {"data-dir", "database-url", "config", "log-format", "log-level"});

  AskFlags ask;
  add_ask(app, ask);
  ValidateFlags validate;
  add_validate(app, validate);

  CLI::App* json_command = app.add_subcommand("json", "The raw JSON boundary")->require_subcommand(1);
  CLI::App* json_check = json_command->add_subcommand("check", "Say whether documents pass the raw JSON boundary");
  bool is_json_batch = false;
  json_check
      ->add_flag("--batch", is_json_batch,
                 R"(Read lines {"text_base64", "as": "schema"|"output"|"arguments"|"metadata"} and answer each)")
      ->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  if (serve_command->parsed()) return with_options(flags, serve);
  if (migrate_command->parsed()) return with_options(flags, migrate);
  if (token_create->parsed()) {
    return with_options(flags, [&](const ServeOptions& options) { return create_token(options, user, std::cout); });
  }
  if (app.got_subcommand("ask")) return run_ask(ask);
  if (app.got_subcommand("validate")) return run_validate(validate);
  return json_check_batch(std::cin, std::cout);
}

}  // namespace assay::cli

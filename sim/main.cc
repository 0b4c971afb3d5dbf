// assay-sim: plays a model provider, for try-outs and tests.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "net/loop.h"
#include "sim/byte_server.h"
#include "sim/script.h"
#include "sim/simulator.h"

namespace assay::sim {
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitFailure = 1;

constexpr const char* kDescription =
    "assay-sim plays a model provider: an HTTP server that speaks OpenAI-compatible Chat Completions\n"
    "(POST /v1/chat/completions), OpenAI Responses (POST /v1/responses) and Anthropic Messages\n"
    "(POST /v1/messages), all streamed and not, and the model listing (GET /v1/models). No model is behind it, and\n"
    "every answer's model name says so. Without a script it answers a structured request with a value that fits the\n"
    "schema and everything else with text.";

constexpr const char* kFooter =
    "Scripts (answers, faults, delays, wait points) and the control addresses below /sim are described in\n"
    "docs/simulator.md. Try:\n"
    "  assay-sim --address 127.0.0.1:8099 &\n"
    "  curl -N http://127.0.0.1:8099/v1/chat/completions \\\n"
    "    -d '{\"model\":\"assay-sim\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}'";

struct Address {
  std::string host;
  std::uint16_t port = 0;
};

std::optional<Address> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  Address address;
  address.host = text.substr(0, colon);
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  const char* begin = text.data() + colon + 1;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, address.port);
  if (error != std::errc() || rest != end) return std::nullopt;
  return address;
}

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

net::Task<> serve(net::Loop& loop, ByteServer& server) {
  co_await loop.wait_for_signal();
  co_await server.stop();
}

int complain(int code, const std::string& message) {
  fmt::print(stderr, "assay-sim: {}\n", message);
  return code;
}

int run(const std::string& address_text, const std::string& script_path, bool prints_port) {
  const auto address = parse_address(address_text);
  if (!address) return complain(kExitUsage, "--address must be HOST:PORT, such as 127.0.0.1:8099");
  Script script;
  if (!script_path.empty()) {
    auto text = read_file(script_path);
    if (!text) return complain(kExitUsage, fmt::format("the script '{}' cannot be read", script_path));
    auto parsed = parse_script(std::move(*text));
    if (!parsed) return complain(kExitUsage, fmt::format("'{}': {}", script_path, parsed.error()));
    script = std::move(*parsed);
  }

  net::Loop loop;
  Simulator simulator(std::move(script));
  ByteServerOptions options;
  options.address = address->host;
  options.port = address->port;
  options.points = &simulator.points();
  options.plan = [&simulator](SimRequest request, net::StopToken client) {
    return simulator.plan(std::move(request), std::move(client));
  };
  options.on_done = [&simulator](std::int64_t entry, const PlanResult& result) { simulator.on_done(entry, result); };
  auto server = ByteServer::listen(loop, std::move(options));
  if (!server) return complain(kExitFailure, server.error());
  if (prints_port) {
    fmt::print("{}\n", (*server)->port());
  } else {
    fmt::print("assay-sim answers at http://{}:{}/v1 (a simulator: no model is behind it)\n", address->host,
               (*server)->port());
  }
  std::fflush(stdout);
  loop.run(serve(loop, **server));
  return 0;
}

}  // namespace
}  // namespace assay::sim

int main(int argc, char** argv) {
  CLI::App app(assay::sim::kDescription, "assay-sim");
  app.footer(assay::sim::kFooter);
  std::string address = "127.0.0.1:8099";
  std::string script;
  bool prints_port = false;
  app.add_option("--address", address, "HOST:PORT to listen on; port 0 lets the system choose")->capture_default_str();
  app.add_option("--script", script, "JSON file that says what to answer");
  app.add_flag("--print-port", prints_port, "print the port alone on the first line, for scripts");
  CLI11_PARSE(app, argc, argv);
  return assay::sim::run(address, script, prints_port);
}

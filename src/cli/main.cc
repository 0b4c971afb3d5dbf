// `assay`: validates by itself; every other command is one of `assay-server` beside it, whose libraries (HTTP, TLS,
// LDAP, Kerberos: some forty) cost more to load than a small data set takes to check.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "cli/exit_code.h"
#include "cli/validate_command.h"

namespace {

int validate(int argc, const char* const* argv) {
  using namespace assay::cli;
  CLI::App app("assay: agent chats whose structured answers the server validates itself");
  ValidateFlags flags;
  add_validate(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  return run_validate(flags);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "validate") return validate(argc, argv);
  std::error_code unknown;
  const std::filesystem::path server =
      std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path() / "assay-server";
  ::execv(server.c_str(), argv);
  std::cerr << "assay: cannot start " << server.string() << ", which belongs beside it: " << std::strerror(errno)
            << '\n';
  return assay::cli::kExitInternal;
}

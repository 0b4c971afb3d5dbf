#include "cli/validate_command.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>

namespace assay::cli {
namespace {

volatile std::sig_atomic_t stop_signal = 0;
int stop_pipe[2] = {-1, -1};

// The first SIGINT or SIGTERM asks for the totals so far; a second one ends the process at once.
StopRequest take_stop_signals() {
  if (::pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return {};  // both signals keep their default action
  struct sigaction action{};
  action.sa_handler = [](int signal) {
    stop_signal = signal;
    [[maybe_unused]] const ssize_t written = ::write(stop_pipe[1], "", 1);
  };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  return {.flag = &stop_signal, .descriptor = stop_pipe[0]};
}

}  // namespace

void add_validate(CLI::App& app, ValidateFlags& validate) {
  CLI::App* command = app.add_subcommand("validate", "Check JSON values against a schema, without a server");
  command->add_option("schema", validate.files.schema_path, "The JSON Schema file");
  command->add_option("instance", validate.files.instance_path,
                      "The value's file; one that ends in .jsonl, or -, holds one value a line");
  command->add_flag("--batch", validate.is_batch,
                    "Read lines {\"schema_text\", \"instance_text\"} and answer each with one line of JSON");
  command->add_flag("-q,--quiet", validate.files.is_quiet, "Say nothing about single values");
  command->footer(
      "A blank line holds no value. Each invalid one gets a line on standard output: `line N: ...`; totals, and on a\n"
      "terminal progress, go to standard error.\n"
      "Exit status: 0 all values are valid; 1 some are not; 2 the schema or a file is unusable; 70 the results cannot\n"
      "be written. SIGINT and SIGTERM end it by that signal, after the totals. With --batch 0: each line has its own\n"
      "verdict.");
}

int run_validate(ValidateFlags& validate) {
  std::ios::sync_with_stdio(false);
  if (validate.is_batch && !validate.files.schema_path.empty()) {
    std::cerr << "assay: validate --batch reads schemas and values from its lines: leave SCHEMA and INSTANCE out\n";
    return kExitUsage;
  }
  if (validate.is_batch) return validate_batch(std::cin, std::cout, std::cerr);
  if (validate.files.schema_path.empty() || validate.files.instance_path.empty()) {
    std::cerr << "assay: validate needs a SCHEMA and an INSTANCE file, or --batch\n";
    return kExitUsage;
  }
  validate.files.show_progress = ::isatty(STDERR_FILENO) == 1;
  validate.files.stop = take_stop_signals();
  const ExitCode code = validate_files(validate.files, std::cout, std::cerr);
  if (stop_signal != 0) {
    ::signal(stop_signal, SIG_DFL);
    ::raise(stop_signal);  // whoever started it sees what ended it
  }
  return code;
}

}  // namespace assay::cli

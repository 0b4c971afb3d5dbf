#pragma once
// The command line of `assay`: every command, its flags and its help.

namespace assay::cli {

// Runs the command that the arguments name and returns its exit code (exit_code.h).
int run(int argc, const char* const* argv);

}  // namespace assay::cli

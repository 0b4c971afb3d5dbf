#pragma once
// The command line of `assay validate`: for `assay` itself, which holds no other command, and for the help of all.
#include "cli/validate.h"

namespace CLI {
class App;
}

namespace assay::cli {

struct ValidateFlags {
  ValidateFiles files;
  bool is_batch = false;
};

// Lifetime: `validate` must outlive `app`.
void add_validate(CLI::App& app, ValidateFlags& validate);
// After parsing. Ends the process by the signal that asked it to stop.
int run_validate(ValidateFlags& validate);

}  // namespace assay::cli

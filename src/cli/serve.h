#pragma once
// `assay serve`: puts the rooms together and runs them until SIGTERM or SIGINT.
#include "cli/exit_code.h"
#include "cli/serve_options.h"

namespace assay::cli {

ExitCode serve(const ServeOptions& options);

}  // namespace assay::cli

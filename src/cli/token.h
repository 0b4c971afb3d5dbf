#pragma once
// `assay token create` and `assay migrate`: short visits to the database.
#include <iosfwd>
#include <string>

#include "cli/exit_code.h"
#include "cli/serve_options.h"

namespace assay::cli {

// Prints the new token as the last line of `out`; nobody can read it again.
ExitCode create_token(const ServeOptions& options, const std::string& user, std::ostream& out);

ExitCode migrate(const ServeOptions& options);

}  // namespace assay::cli

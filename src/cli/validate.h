#pragma once
// Offline validation: `assay validate`. The same boundary, schema rules and validator as the server's.
#include <iosfwd>
#include <string>
#include <string_view>

#include "cli/exit_code.h"
#include "cli/line_reader.h"

namespace assay::cli {

// One line of `assay validate --batch`: {"schema_text", "instance_text"} in, one JSON object out (without newline):
// {"schema": "ok" | {code, detail, path}, "instance": "valid" | "invalid" | {code, detail} | null, "issues": [{path,
// rule}]}. `instance` is null when the schema was refused. A line of another shape is answered as a refused schema,
// `invalid_line`.
std::string batch_verdict(std::string_view line);

// Answers each line of `in` on `out`, in order; faults of writing go to `err`.
ExitCode validate_batch(std::istream& in, std::ostream& out, std::ostream& err);

struct ValidateFiles {
  std::string schema_path;
  std::string instance_path;  // one that ends in .jsonl, or "-": one value a line
  bool is_quiet = false;      // the exit code, and of lines the totals
  bool show_progress = false;
  StopRequest stop = {};
};

// Results go to `out`, faults and progress to `err`.
ExitCode validate_files(const ValidateFiles& files, std::ostream& out, std::ostream& err);

}  // namespace assay::cli

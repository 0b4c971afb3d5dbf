#pragma once
// `assay validate` over one JSON value a line.
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/exit_code.h"
#include "cli/line_reader.h"
#include "json/document.h"
#include "schema/schema.h"

namespace assay::cli {

inline constexpr std::string_view kBudgetDetail = "validation needs more work than one value may cost";

// What is wrong with a value, in one line; empty when it is valid.
[[nodiscard]] std::string complaint(const schema::Schema& schema, const Result<json::Value, json::Error>& value);

// `code` once all results are written; kExitInternal, and why on `err`, where they are not.
[[nodiscard]] ExitCode after_writing(std::ostream& out, std::ostream& err, ExitCode code);

struct LineValidation {
  int descriptor;         // borrowed
  std::string name;       // of the input, for messages
  bool is_quiet = false;  // no line for an invalid value
  bool show_progress = false;
  StopRequest stop = {};
};

// Writes one line for each invalid value to `out`, totals and faults to `err`. A blank line (spaces, tabs) holds no
// value. Stopped, it reports what it has seen.
ExitCode validate_lines(const schema::Schema& schema, const LineValidation& input, std::ostream& out,
                        std::ostream& err);

}  // namespace assay::cli

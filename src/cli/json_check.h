#pragma once
// `assay json check --batch`: what the raw JSON boundary says of a document.
#include <iosfwd>
#include <string>
#include <string_view>

#include "cli/exit_code.h"

namespace assay::cli {

// One line {"text_base64", "as": "schema"|"output"|"arguments"|"metadata"} in, one JSON object out (without newline):
// {"ok": bool, "code", "offset"}; code and offset are null when ok. A line of another shape: code `invalid_line`.
std::string json_check_verdict(std::string_view line);

// Answers each line of `in` on `out`, in order.
ExitCode json_check_batch(std::istream& in, std::ostream& out);

}  // namespace assay::cli

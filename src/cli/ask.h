#pragma once
// `assay ask`: one question to a running server, from the command line to the receipt.
#include <optional>
#include <ostream>
#include <string>

#include "base/time.h"
#include "cli/exit_code.h"

namespace assay::cli {

struct AskOptions {
  std::string server_url;   // such as http://127.0.0.1:8080
  std::string token;        // a secret: never printed
  std::string schema_path;  // empty: an ordinary question, answered in text
  std::string name;         // of the structured output; empty: made of the schema's file name
  std::string question;
  std::string model_config_id;  // empty: the server's default
  Milliseconds timeout{600'000};
  bool is_terminal = false;         // progress is drawn for a person
  bool prints_to_terminal = false;  // text answers lose control characters; values have none
  bool prints_receipt = false;      // the whole receipt message in place of the value
};

// Prints the value (or the receipt) on `out`; progress, failures and their codes on `err`.
ExitCode ask_server(const AskOptions& options, std::ostream& out, std::ostream& err);

// A name that the contract accepts, from a file name: letters, digits, `_` and `-`, at most 64 bytes.
std::string output_name(const std::string& schema_path);

}  // namespace assay::cli

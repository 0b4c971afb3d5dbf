#pragma once
// What a person sees while a turn runs: stream events as short lines, text as it comes.
#include <ostream>
#include <string>
#include <string_view>

#include "json/document.h"

namespace assay::cli {

// What a terminal may show of a model's text: no control character (C0, DEL, C1) but newline and tab.
std::string printable(std::string_view text);

class AskProgress {
 public:
  AskProgress(std::ostream& err, bool is_terminal) : err_(err), is_terminal_(is_terminal) {}

  // One event of the chat's stream. Off a terminal only what changes the turn's course is written.
  void show(json::Value event);
  // A line of its own.
  void note(std::string_view text);
  // Ends a line that is still open.
  void finish();

 private:
  void show_part(json::Value part);
  void write_inline(std::string_view text);

  std::ostream& err_;
  bool is_terminal_;
  bool line_is_open_ = false;
  std::string last_status_;
};

}  // namespace assay::cli

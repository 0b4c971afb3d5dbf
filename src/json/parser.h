#pragma once
// One pass from text to tape. Used through document.h; the tests also run the scalar twin.
#include <optional>

#include "json/document.h"

namespace assay::json {

// Reads tape.text into tape.nodes. Requires: the text is at most kDocumentBytesMax long, a NUL follows it, and
// kPaddingBytes behind it can be read. On failure the nodes are
// meaningless. Needs no native stack beyond its own frame, and memory only in proportion to the text.
[[nodiscard]] std::optional<Error> parse_tape(Tape& tape, const Caps& caps, Dialect dialect);
[[nodiscard]] std::optional<Error> parse_tape_scalar(Tape& tape, const Caps& caps, Dialect dialect);

}  // namespace assay::json

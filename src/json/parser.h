#pragma once
// One pass over the tokens of a text (kernel.h) to its tape. Used through document.h; the tests choose the kernel.
#include <optional>
#include <string_view>

#include "json/document.h"
#include "json/kernel.h"

namespace assay::json {

// Reads `source` into tape.nodes, and tape.text from `copy`, where it is copied on the way, or in place where `copy` is
// null. Requires: at most kDocumentBytesMax bytes; a NUL follows tape.text, and kPaddingBytes behind it can be read. On
// failure the nodes are meaningless. Needs no native stack beyond its own frame, and memory only in proportion to the
// text.
[[nodiscard]] std::optional<Error> parse_tape(Tape& tape, std::string_view source, char* copy, const Caps& caps,
                                              Dialect dialect, const Kernel& kernel = kernels().front());

}  // namespace assay::json

#pragma once
// Why a text is no document. Reads byte by byte and shares next to nothing with the parser, so that which fault is
// reported depends on neither kernels nor blocks, and the tests have a second opinion on what is none.
#include <optional>
#include <string_view>

#include "json/document.h"

namespace assay::json {

// The first fault met while reading; none: it is a document. Requires: a text within Caps::bytes_max. Needs no native
// stack beyond its own frame, and memory only in proportion to the text.
[[nodiscard]] std::optional<Error> first_fault(std::string_view text, const Caps& caps, Dialect dialect);

}  // namespace assay::json

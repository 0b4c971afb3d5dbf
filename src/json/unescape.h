#pragma once
// The escapes of RFC 8259, section 7.
#include "json/document.h"
#include "json/error.h"

namespace assay::json {

struct Unescaped {
  const char* next;  // behind the escape (or pair of escapes); null where it is refused
  char* out;         // behind what was written
  ErrorCode code;    // of a refusal,
  const char* at;    // and its place
};

// Reads the escape at the backslash `p` and writes its UTF-8 to `out`. Requires: a NUL stands at `end`. Where that NUL
// is what stops the escape, the refusal is UnexpectedEnd.
[[nodiscard]] Unescaped unescape(const char* p, const char* end, char* out, Dialect dialect);

}  // namespace assay::json

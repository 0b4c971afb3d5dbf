#pragma once
// The escapes of RFC 8259, section 7.
#include "json/document.h"
#include "json/error.h"

namespace assay::json {

struct Unescaped {
  const char* next;  // behind the escape (or pair of escapes); null where it is refused
  char* out;         // behind what was written
};

struct EscapeFault {
  ErrorCode code;
  const char* at;
};

// Reads the escape at the backslash `p` and writes its UTF-8 to `out`; `fault` is written where it is refused.
// Requires: a NUL stands at `end`, and kPaddingBytes behind it can be read. Where that NUL is what stops the escape,
// the fault is UnexpectedEnd.
[[nodiscard]] Unescaped unescape(const char* p, const char* end, char* out, Dialect dialect, EscapeFault& fault);

}  // namespace assay::json

#pragma once
// ASSAY_CHECK guards invariants that only a programmer can break: it logs and aborts the process, in every build.
// Bytes from a client, a model, a tool or the database must never reach one; those failures are Result values.
#include <string_view>

namespace assay {

[[noreturn]] void check_failed(std::string_view condition, std::string_view file, int line, std::string_view message);

}  // namespace assay

#define ASSAY_CHECK(condition, message)                                 \
  do {                                                                  \
    if (!(condition)) [[unlikely]]                                      \
      ::assay::check_failed(#condition, __FILE__, __LINE__, (message)); \
  } while (false)

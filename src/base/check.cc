#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace assay {

void check_failed(std::string_view condition, std::string_view file, int line, std::string_view message) {
  std::fprintf(stderr, "assay: broken invariant at %.*s:%d: %.*s (%.*s)\n", static_cast<int>(file.size()), file.data(),
               line, static_cast<int>(message.size()), message.data(), static_cast<int>(condition.size()),
               condition.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace assay

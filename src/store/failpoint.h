#pragma once
// Named points at the edges of commits. In the product nothing happens there (failpoint.cc). The crash tests link a
// binary of their own with another body, which kills or stops the process, or loses the database's answer
// (tests/crash/failpoint.cc): no switch, no environment and no code of it is in `assay`.
#include <string_view>

namespace assay::store {

// True: behave as though the connection had been lost here. The name is `at`, a dot and `what`.
bool failpoint(std::string_view at, std::string_view what);

}  // namespace assay::store

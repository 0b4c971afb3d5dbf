#pragma once
// Programs of others that run on Node: installed by scripts/test into build/sdk, with the Node that they want.
#include <string>
#include <vector>

#include "tests/harness/child_process.h"

namespace assay::tests {

// What is missing; empty: nothing. Where CI=true that is a failure, else the test says so and is skipped.
[[nodiscard]] std::string missing_peer();

// The folder that holds node_modules.
[[nodiscard]] std::string modules();
[[nodiscard]] std::string node();
// A file of this folder.
[[nodiscard]] std::string beside(const std::string& name);

// Runs one of this folder's scripts, which finds its packages in modules(); patience as for any child.
Finished run_script(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace assay::tests

#define ASSAY_NEEDS_PEERS()                                                                    \
  if (const std::string missing = ::assay::tests::missing_peer(); !missing.empty()) {          \
    const char* ci = std::getenv("CI");                                                        \
    ASSERT_FALSE(ci != nullptr && std::string(ci) == "true") << missing;                       \
    GTEST_SKIP() << missing << ": what the vendors' own code says of the wires is NOT tested"; \
  }                                                                                            \
  static_assert(true)

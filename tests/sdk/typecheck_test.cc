// The golden requests against the vendors' published types, compiled by the vendors' compiler of them.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/sdk/node_peer.h"

namespace assay::tests {
namespace {

TEST(VendorTypes, AcceptEveryGoldenRequest) {
  ASSAY_NEEDS_PEERS();
  const Finished check = run_script("typecheck.mjs", {beside("golden")});
  EXPECT_EQ(check.exit_code, 0) << check.output;
}

// A judge that accepts everything is none.
TEST(VendorTypes, RefuseWhatIsWrong) {
  ASSAY_NEEDS_PEERS();
  const Finished check = run_script("typecheck.mjs", {beside("golden"), "--break"});
  EXPECT_EQ(check.exit_code, 0) << check.output;
}

}  // namespace
}  // namespace assay::tests

#pragma once
// Runs code in a child process that is caught at its first system call beyond what memory, locks and randomness need.
#include <functional>
#include <string>

namespace assay::hermetic {

struct TrappedRun {
  enum class End {
    Returned,      // `code` is what the action returned
    Caught,        // `code` is the number of the system call that was tried
    NotPermitted,  // the filter could not be installed: nothing was run, nothing is proved; `code` is the errno
    Died,          // `code` is the signal
  };
  End end = End::Died;
  int code = 0;

  [[nodiscard]] std::string describe() const;
};

// `action` returns a number from 0 to 63. Requires: one thread.
[[nodiscard]] TrappedRun run_trapped(const std::function<int()>& action);

}  // namespace assay::hermetic

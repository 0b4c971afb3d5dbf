#pragma once
// Sleeping and yielding. Only on the loop thread.
#include "base/time.h"
#include "net/stop.h"
#include "net/task.h"

namespace assay::net {

// True once the deadline has passed; false as soon as the token stops.
Task<bool> sleep_until(Deadline deadline, StopToken stop = StopToken());
Task<bool> sleep_for(Milliseconds wait, StopToken stop = StopToken());  // from the call on

// Lets every other task that is ready go first: for work that would hold up the loop.
Task<> yield();

}  // namespace assay::net

#pragma once
// What the simulator does with one request, down to the byte: a list of steps that the server carries out in order.
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"

namespace assay::sim {

struct SimRequest {
  std::string method;
  std::string path;  // without the query
  std::string query;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  std::int64_t connection = 0;  // counts the connections from 1
};

struct Send {
  std::string bytes;
};
struct Pause {
  Milliseconds wait;
};
// Until the point is released.
struct Hold {
  std::string point;
};
// Says nothing more until the client leaves.
struct Stall {};
// Ends the connection here: by a reset, or in order but before the answer is complete.
struct Cut {
  bool is_reset = false;
};
using Step = std::variant<Send, Pause, Hold, Stall, Cut>;

struct Plan {
  std::vector<Step> steps;
  bool keeps_connection = true;
  std::int64_t journal_entry = 0;  // whose outcome this plan decides; 0: none
};

}  // namespace assay::sim

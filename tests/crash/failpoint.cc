// The body of store/failpoint.h that `assay-failpoints` has. ASSAY_FAILPOINT=NAME[:NTH]=ACTION[,...] with the actions
//   kill  the process dies as by kill -9
//   hold  the process stops until somebody sends SIGCONT
//   lose  the caller is told that the database's answer was lost
// each once, at the NTH time (1 where none is given) that the point is reached. Says on stderr what it does.
#include "store/failpoint.h"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace assay::store {
namespace {

struct Plan {
  std::string name;
  int reached_before = 1;
  std::string action;
};

std::vector<Plan> plans_from(const char* text) {
  std::vector<Plan> plans;
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    Plan plan;
    plan.action = one.substr(one.find('=') + 1);
    one = one.substr(0, one.find('='));
    if (const std::size_t colon = one.find(':'); colon != std::string_view::npos) {
      std::from_chars(one.data() + colon + 1, one.data() + one.size(), plan.reached_before);
      one = one.substr(0, colon);
    }
    plan.name = one;
    plans.push_back(std::move(plan));
  }
  return plans;
}

void say(const std::string& line) {
  const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  if (written < 0) std::abort();
}

}  // namespace

bool failpoint(std::string_view at, std::string_view what) {
  static std::mutex mutex;
  static std::vector<Plan> plans = plans_from(std::getenv("ASSAY_FAILPOINT"));
  const std::string name = std::string(at) + "." + std::string(what);
  std::string action;
  {
    const std::scoped_lock lock(mutex);
    for (Plan& plan : plans) {
      if (plan.name == name && --plan.reached_before == 0) action = plan.action;
    }
  }
  if (action.empty()) return false;
  say("failpoint " + name + " " + action + "\n");
  if (action == "kill") ::kill(::getpid(), SIGKILL);
  if (action == "hold") ::kill(::getpid(), SIGSTOP);
  return action == "lose";
}

}  // namespace assay::store

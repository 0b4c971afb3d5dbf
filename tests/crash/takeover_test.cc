// How long a killed replica's chat is without an owner, with the settings of the product: nobody waits for the lease,
// since PostgreSQL itself knows that the owner's session is gone. ASSAY_TAKEOVERS=N measures more of them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/random.h"
#include "tests/harness/deployment.h"

namespace assay::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kTakeoversInCi = 3;
// The lease is 20 s: whatever is taken over in half of it was not waited for.
constexpr milliseconds kFarBelowTheLease{10'000};
constexpr std::uint64_t kPhaseMs = 1'000;  // between two looks for chats

milliseconds time_until(Deployment& deployment, const std::string& query, const std::string& no_longer) {
  const auto began = steady_clock::now();
  while (deployment.database().value(query) == no_longer && steady_clock::now() - began < kPatience) {
    std::this_thread::yield();
  }
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - began);
}

TEST(Takeover, OfAKilledReplicasChatTakesNoLease) {
  const char* more = std::getenv("ASSAY_TAKEOVERS");
  const int count = more == nullptr ? kTakeoversInCi : std::atoi(more);
  Deployment deployment(R"({"rules":[{"reply":{"text":"later"},"delivery":{"hold":"never"}}]})",
                        {{"ASSAY_LOG_LEVEL", "info"}});
  std::vector<milliseconds> times;
  std::unique_ptr<Server> owner;  // of every chat; at first the deployment's own server
  for (int i = 0; i < count; ++i) {
    const Http http(owner ? owner->url() : deployment.server().url(), deployment.token());
    const Reply created = http.post(
        "/api/v2/chats", fmt::format(R"({{"organization_id":"{}","content":[{{"type":"text","text":"{}"}}]}})",
                                     deployment.organization(), i));
    ASSERT_EQ(created.status, 201) << created.body;
    const std::string runner =
        fmt::format("select runner_id from chats where id = '{}'", text(created.json().root(), "id"));
    time_until(deployment, runner, "null");
    const std::string killed = deployment.database().value(runner);
    auto successor = std::make_unique<Server>(deployment.server_options());
    const milliseconds phase(system_random().below(kPhaseMs));
    // tidy: allow sleep because the kill must fall into any phase between two looks of the successor
    std::this_thread::sleep_for(phase);
    (owner ? owner->process() : deployment.server().process()).kill();
    times.push_back(time_until(deployment, runner, killed));
    owner = std::move(successor);
  }
  std::sort(times.begin(), times.end());
  fmt::print("{} takeovers: median {} ms, longest {} ms\n", count, times[times.size() / 2].count(),
             times.back().count());
  EXPECT_LT(times.back(), kFarBelowTheLease);
}

}  // namespace
}  // namespace assay::tests

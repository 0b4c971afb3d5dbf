// Two replicas under client load, and everything happens to them and to their PostgreSQL, in an order that a seed
// gives. Then the books must balance. ASSAY_CRASH_SECONDS=N goes on for longer, ASSAY_CRASH_SEED=S repeats the order.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <tuple>

#include "tests/crash/books.h"
#include "tests/crash/fleet.h"
#include "tests/crash/load.h"

namespace assay::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::uint64_t kSecondsInCi = 40;
constexpr milliseconds kLease{1'000};
constexpr milliseconds kBetweenEvents{700};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

ChildProcess::Environment settings() {
  return {{"ASSAY_LEASE_MS", std::to_string(kLease.count())},
          {"ASSAY_HEARTBEAT_MS", "200"},
          {"ASSAY_ACQUIRE_INTERVAL_MS", "200"},
          {"ASSAY_ATTEMPTS_MAX", "2"},
          {"ASSAY_STEPS_MAX", "20"},
          {"ASSAY_CLIENT_TOOLS_TIMEOUT_MS", "3000"},
          {"ASSAY_LOG_LEVEL", "info"}};
}

constexpr const char* kPoints[] = {
    "before.acquire",      "after.acquire",      "before.attempt", "after.attempt", "before.step",  "after.step",
    "before.finish",       "after.finish",       "before.error",   "after.error",   "before.retry", "after.retry",
    "before.heartbeat",    "after.heartbeat",    "before.commit",  "sent.commit",   "before.read",  "answered.commit",
    "before.interruption", "after.interruption", "before.release", "after.release"};

class Crashes {
 public:
  Crashes(std::uint64_t seed, seconds duration)
      : random_(seed), ends_at_(steady_clock::now() + duration), simulator_(kLoadScript) {
    const ChildProcess::Environment database{{"ASSAY_DATABASE_URL", postgres_.url()}};
    const Finished migrated = run_program(binary("assay"), {"migrate"}, database);
    if (migrated.exit_code != 0) throw std::runtime_error(migrated.output);
    token_ = create_token(postgres_.url(), "tester");
    fleet_.emplace(postgres_, simulator_, settings());
    const json::Document me = Http(fleet_->url(0), token_).get("/api/v2/users/me").json();
    const std::string organization((*me.root().find("organization_ids")->elements().begin()).string());
    load_.emplace(*fleet_, token_, organization, seed);
  }

  void run() {
    auto told_at = steady_clock::now();
    while (steady_clock::now() < ends_at_) {
      happen();
      deaths_ += fleet_->look_after();
      load_->await_answers(1000, kBetweenEvents);
      if (steady_clock::now() < told_at + seconds(10)) continue;
      told_at = steady_clock::now();
      fmt::print("{} s to go: {} answers, {} errors, {} events\n",
                 std::chrono::duration_cast<seconds>(ends_at_ - told_at).count(), load_->answers(), load_->errors(),
                 total());
      std::fflush(stdout);
    }
  }

  // Everything is well again and comes to rest.
  Books settle() {
    load_->stop();
    for (std::size_t replica = 0; replica < Fleet::kReplicas; ++replica) fleet_->restart(replica);
    const auto patience = steady_clock::now() + seconds(120);
    while (!is_at_rest(postgres_.url())) {
      if (steady_clock::now() > patience)
        throw std::runtime_error("no rest:\n" + unrest(postgres_.url()) + fleet_->log());
      for (const std::string& chat : stuck_chats(postgres_.url())) load_->clear_queue(chat);
      fleet_->look_after();
      load_->await_answers(1, milliseconds(100));
    }
    return balance(postgres_.url(), load_->accepted());
  }

  [[nodiscard]] std::string told() const {
    std::string text;
    for (const auto& [event, count] : events_) text += fmt::format("{} {}, ", count, event);
    return text +
           fmt::format("{} deaths at failpoints, {} answers, {} errors", deaths_, load_->answers(), load_->errors());
  }
  [[nodiscard]] std::size_t answers() const { return load_->answers(); }

 private:
  [[nodiscard]] std::size_t total() const {
    std::size_t sum = 0;
    for (const auto& [event, count] : events_) sum += count;
    return sum;
  }

  void happen() {
    const std::size_t replica = random_.below(Fleet::kReplicas);
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
        ++events_["kill -9"];
        return fleet_->restart(replica);
      case 3:
        ++events_["shutdown"];
        fleet_->process(replica).send_signal(SIGTERM);
        return std::ignore = fleet_->process(replica).wait_for_exit(), fleet_->restart(replica);
      case 4:
      case 5:
        ++events_["stop past the lease"];
        return stop_for(replica, kLease * 2);
      case 6:
        ++events_["end of all sessions"];
        return postgres_.terminate_sessions();
      case 7:
        ++events_["kill -9 of PostgreSQL"];
        return postgres_.kill();
      case 8:
        ++events_["immediate stop of PostgreSQL"];
        return postgres_.stop_immediately();
      case 9:
        ++events_["pause of PostgreSQL"];
        postgres_.pause();
        load_->await_answers(1000, kLease * 3 / 2);
        return postgres_.resume();
      default:
        ++events_["failpoint"];
        return fleet_->restart(replica, failpoint());
    }
  }

  void stop_for(std::size_t replica, milliseconds time) {
    fleet_->process(replica).send_signal(SIGSTOP);
    load_->await_answers(10'000, time);
    fleet_->process(replica).send_signal(SIGCONT);
  }

  std::string failpoint() {
    const char* point = kPoints[random_.below(std::size(kPoints))];
    const bool loses = std::string_view(point) == "answered.commit" && random_.below(2) == 0;
    return fmt::format("{}:{}={}", point, 1 + random_.below(12), loses ? "lose" : "kill");
  }

  SeededRandom random_;
  const steady_clock::time_point ends_at_;
  Postgres postgres_;
  Simulator simulator_;
  std::string token_;
  std::optional<Fleet> fleet_;
  std::optional<Load> load_;
  std::map<std::string, std::size_t> events_;
  std::size_t deaths_ = 0;
};

TEST(Crash, LeavesBooksThatBalance) {
  const std::uint64_t seed = number_from("ASSAY_CRASH_SEED", system_random().below(1'000'000));
  const seconds duration(number_from("ASSAY_CRASH_SECONDS", kSecondsInCi));
  fmt::print("seed {}, {} s\n", seed, duration.count());
  std::fflush(stdout);
  Crashes crashes(seed, duration);
  crashes.run();
  const Books books = crashes.settle();
  fmt::print("{}\n{} chats, {} requests in history, {} receipts\n", crashes.told(), books.chats, books.requests,
             books.receipts);
  EXPECT_THAT(books.faults, testing::IsEmpty()) << "seed " << seed;
  EXPECT_GT(crashes.answers(), 50U);
  EXPECT_GT(books.requests, 5U);
}

}  // namespace
}  // namespace assay::tests

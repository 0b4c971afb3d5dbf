#pragma once
// The simulated provider: decides what each request gets, keeps a journal of them, and lets tests steer it. Only on the
// loop thread.
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/time.h"
#include "net/event.h"
#include "net/stop.h"
#include "net/task.h"
#include "sim/byte_server.h"
#include "sim/plan.h"
#include "sim/rendering.h"
#include "sim/script.h"
#include "sim/wait_points.h"

namespace assay::sim {

inline constexpr std::size_t kJournalEntriesMax = 1'000;
inline constexpr std::size_t kJournalBytesMax = 64 * 1024 * 1024;

// How answers that no rule gives are streamed, so that progress can be seen.
inline constexpr Milliseconds kUnscriptedEventDelay{15};
inline constexpr std::size_t kUnscriptedChunkCharacters = 12;

class Simulator {
 public:
  using RequestParser = Result<ChatRequest, std::string> (*)(std::string body);

  explicit Simulator(Script script, const Clock& clock = system_clock());

  // For ByteServerOptions::plan and on_done.
  net::Task<Plan> plan(SimRequest request, net::StopToken client);
  void on_done(std::int64_t journal_entry, const PlanResult& result);

  [[nodiscard]] WaitPoints& points() { return points_; }

 private:
  struct Entry {
    std::int64_t number = 0;
    std::string rule;  // empty: none matched
    SimRequest request;
    std::string outcome = "under way";
    std::int64_t bytes_sent = 0;
  };

  Plan plan_chat(SimRequest request, RequestParser parse);
  Plan plan_control(const SimRequest& request);
  net::Task<Plan> plan_await(SimRequest request, net::StopToken client);
  [[nodiscard]] Answer unscripted(const ChatRequest& request) const;
  [[nodiscard]] Reply fitting_reply(const ChatRequest& request) const;
  Entry& record(SimRequest request);
  [[nodiscard]] std::string journal_json() const;
  [[nodiscard]] std::string models_json() const;

  Script script_;
  const Clock* clock_;
  WaitPoints points_;
  net::Signal requests_changed_;
  std::vector<std::int64_t> uses_;  // per rule
  std::deque<Entry> journal_;
  std::size_t journal_bytes_ = 0;
  std::int64_t last_entry_ = 0;     // never reset: ids stay unique
  std::int64_t chat_requests_ = 0;  // since the last reset, as the next
  std::int64_t chat_requests_done_ = 0;
};

}  // namespace assay::sim

#pragma once
// A small HTTP/1.1 listener that sends exactly the bytes of a plan: cut, malformed and stalled answers included, which
// the product's own server rightly refuses to send. For loopback and tests; it knows no TLS and few limits.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/loop.h"
#include "net/stop.h"
#include "net/task.h"
#include "sim/plan.h"
#include "sim/wait_points.h"

namespace assay::sim {

inline constexpr std::size_t kRequestHeadBytesMax = 64 * 1024;
inline constexpr std::size_t kRequestBodyBytesMax = 64 * 1024 * 1024;

enum class PlanOutcome { Answered, Cut, ClientLeft };

struct PlanResult {
  PlanOutcome outcome = PlanOutcome::Answered;
  std::int64_t bytes_sent = 0;
};

struct ByteServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: the system chooses
  // Both run on the loop thread. The token stops when the client leaves.
  std::function<net::Task<Plan>(SimRequest, net::StopToken)> plan;
  std::function<void(std::int64_t journal_entry, const PlanResult&)> on_done;
  WaitPoints* points = nullptr;
};

// Requires: stop() has returned before it is destroyed, except when the Loop itself goes down.
class ByteServer {
 public:
  // The error says what is wrong with the address.
  static Result<std::unique_ptr<ByteServer>, std::string> listen(net::Loop& loop, ByteServerOptions options);
  ~ByteServer();
  ByteServer(const ByteServer&) = delete;
  ByteServer& operator=(const ByteServer&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  // Cuts every connection and returns when all are gone.
  net::Task<> stop();

 private:
  struct Parts;
  explicit ByteServer(std::shared_ptr<Parts> parts);
  std::shared_ptr<Parts> parts_;
};

}  // namespace assay::sim

#include "base/time.h"

#include <fmt/format.h>

#include "base/check.h"

namespace assay {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime steady_now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] WallTime wall_now() const override {
    return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
  }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

Milliseconds Deadline::remaining(const Clock& clock) const {
  ASSAY_CHECK(!is_never(), "a deadline that never comes has no remainder");
  const auto now = clock.steady_now();
  if (now >= instant_) return Milliseconds(0);
  return std::chrono::ceil<Milliseconds>(instant_ - now);
}

std::string to_rfc3339(WallTime instant) {
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(instant - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count(), time.subseconds().count());
}

}  // namespace assay

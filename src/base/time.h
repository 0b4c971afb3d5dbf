#pragma once
// Time is injected: pure code gets instants as arguments, shells read a Clock. A wait carries a Deadline, made once
// at the edge and passed down, never restarted on the way.
#include <chrono>
#include <string>

namespace assay {

using SteadyTime = std::chrono::steady_clock::time_point;
// Wall-clock instants in microseconds since the Unix epoch (PostgreSQL's resolution).
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;
using Milliseconds = std::chrono::milliseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual SteadyTime steady_now() const = 0;
  [[nodiscard]] virtual WallTime wall_now() const = 0;
};

const Clock& system_clock();

class ManualClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime steady_now() const override { return steady_; }
  [[nodiscard]] WallTime wall_now() const override { return wall_; }
  void advance(std::chrono::microseconds step) {
    steady_ += step;
    wall_ += step;
  }

 private:
  SteadyTime steady_{};
  WallTime wall_{};
};

class Deadline {
 public:
  static Deadline at(SteadyTime instant) { return Deadline(instant); }
  static Deadline after(const Clock& clock, Milliseconds wait) { return Deadline(clock.steady_now() + wait); }
  static Deadline never() { return Deadline(SteadyTime::max()); }

  [[nodiscard]] SteadyTime instant() const { return instant_; }
  [[nodiscard]] bool is_never() const { return instant_ == SteadyTime::max(); }
  [[nodiscard]] bool has_passed(const Clock& clock) const { return clock.steady_now() >= instant_; }
  // Zero once it has passed. Requires: not never().
  [[nodiscard]] Milliseconds remaining(const Clock& clock) const;
  [[nodiscard]] Deadline earlier_of(Deadline other) const { return instant_ <= other.instant_ ? *this : other; }

 private:
  explicit Deadline(SteadyTime instant) : instant_(instant) {}
  SteadyTime instant_;
};

// RFC 3339 in UTC with microseconds: 2026-01-31T23:59:59.123456Z.
std::string to_rfc3339(WallTime instant);

}  // namespace assay

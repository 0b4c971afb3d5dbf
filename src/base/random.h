#pragma once
// Randomness is injected, so that a test can replay a run.
#include <cstddef>
#include <cstdint>
#include <span>

namespace assay {

class Random {
 public:
  virtual ~Random() = default;
  virtual void fill(std::span<std::uint8_t> bytes) = 0;

  std::uint64_t next();
  // Uniform in [0, bound). Requires: bound > 0.
  std::uint64_t below(std::uint64_t bound);
};

// The operating system's generator (getrandom): unpredictable, safe from any thread.
Random& system_random();

// A fixed sequence for tests (SplitMix64); not safe across threads.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  void fill(std::span<std::uint8_t> bytes) override;

 private:
  std::uint64_t state_;
};

}  // namespace assay

#include "base/random.h"

#include <sys/random.h>

#include <array>
#include <cerrno>

#include "base/check.h"

namespace assay {
namespace {

class SystemRandom final : public Random {
 public:
  void fill(std::span<std::uint8_t> bytes) override {
    while (!bytes.empty()) {
      const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
      ASSAY_CHECK(got > 0 || errno == EINTR, "getrandom failed");
      if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
  }
};

}  // namespace

std::uint64_t Random::next() {
  std::array<std::uint8_t, 8> bytes{};
  fill(bytes);
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

std::uint64_t Random::below(std::uint64_t bound) {
  ASSAY_CHECK(bound > 0, "an empty range has no number");
  const std::uint64_t biased = (0 - bound) % bound;  // 2^64 mod bound: numbers under it would favour small results
  for (;;) {
    const std::uint64_t value = next();
    if (value >= biased) return value % bound;
  }
}

Random& system_random() {
  static SystemRandom random;
  return random;
}

void SeededRandom::fill(std::span<std::uint8_t> bytes) {
  for (std::uint8_t& byte : bytes) {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    byte = static_cast<std::uint8_t>((mixed ^ (mixed >> 31)) >> 24);
  }
}

}  // namespace assay

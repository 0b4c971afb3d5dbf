#include "json/hash.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/random.h"

namespace assay::json {
namespace {

// Multiply to 128 bits and fold: each input bit reaches about half of the output bits.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t load(const char* p, std::size_t bytes) {
  std::uint64_t word = 0;
  if (bytes != 0) std::memcpy(&word, p, bytes);
  return word;
}

// Odd, with balanced bits: the fractions of pi.
constexpr std::uint64_t kOdd1 = 0x243F6A8885A308D3;
constexpr std::uint64_t kOdd2 = 0x13198A2E03707345;
constexpr std::uint64_t kOdd3 = 0xA4093822299F31D1;

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  const char* p = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t state = seed ^ fold(bytes.size() ^ kOdd1, seed ^ kOdd2);
  for (; left > 16; left -= 16, p += 16) state = fold(load(p, 8) ^ state, load(p + 8, 8) ^ seed ^ kOdd3);
  const std::uint64_t a = load(p, std::min<std::size_t>(left, 8));
  const std::uint64_t b = left > 8 ? load(p + 8, left - 8) : 0;
  return fold(fold(a ^ state, b ^ seed ^ kOdd2) ^ kOdd1, state ^ kOdd3);
}

std::uint64_t process_seed() {
  static const std::uint64_t seed = system_random().next();
  return seed;
}

std::uint64_t hash_pair(std::uint64_t first, std::uint64_t second, std::uint64_t seed) {
  return fold(fold(first ^ seed ^ kOdd1, second ^ kOdd2) ^ seed, first ^ kOdd3);
}

}  // namespace assay::json

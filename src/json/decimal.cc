#include "json/decimal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "json/hash.h"

namespace assay::json {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A literal cut into its parts, without limits: the value is ±integer.fraction × 10^exponent.
struct Literal {
  bool negative = false;
  std::string_view integer;
  std::string_view fraction;
  std::int64_t exponent = 0;  // saturated

  [[nodiscard]] std::size_t size() const { return integer.size() + fraction.size(); }
  [[nodiscard]] char digit(std::size_t i) const {
    return i < integer.size() ? integer[i] : fraction[i - integer.size()];
  }
};

std::string_view take_digits(std::string_view& rest) {
  const auto end = std::ranges::find_if_not(rest, is_digit);
  const std::string_view digits = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(digits.size());
  return digits;
}

bool take(std::string_view& rest, char c) {
  if (!rest.starts_with(c)) return false;
  rest.remove_prefix(1);
  return true;
}

std::optional<std::int64_t> take_exponent(std::string_view& rest) {
  constexpr std::int64_t kSaturated = std::numeric_limits<std::int64_t>::max() / 32;
  if (!take(rest, 'e') && !take(rest, 'E')) return 0;
  const bool negative = take(rest, '-');
  if (!negative) take(rest, '+');
  const std::string_view digits = take_digits(rest);
  if (digits.empty()) return std::nullopt;
  std::int64_t magnitude = 0;
  for (const char c : digits) magnitude = std::min(magnitude * 10 + (c - '0'), kSaturated);
  return negative ? -magnitude : magnitude;
}

std::optional<Literal> split(std::string_view rest) {
  Literal literal;
  literal.negative = take(rest, '-');
  literal.integer = take_digits(rest);
  if (literal.integer.empty() || (literal.integer.size() > 1 && literal.integer[0] == '0')) return std::nullopt;
  if (take(rest, '.')) {
    literal.fraction = take_digits(rest);
    if (literal.fraction.empty()) return std::nullopt;
  }
  const auto exponent = take_exponent(rest);
  if (!exponent || !rest.empty()) return std::nullopt;
  literal.exponent = *exponent;
  return literal;
}

// Where the significant digits of a literal lie.
struct Significant {
  std::size_t first;
  std::size_t count;      // 0: the value is zero
  std::int64_t exponent;  // of the last of them
};

Significant significant(const Literal& literal) {
  std::size_t first = 0;
  std::size_t end = literal.size();
  while (first < end && literal.digit(first) == '0') ++first;
  while (end > first && literal.digit(end - 1) == '0') --end;
  if (first == end) return {0, 0, 0};
  const auto behind_point = static_cast<std::int64_t>(end) - static_cast<std::int64_t>(literal.integer.size());
  return {first, end - first, literal.exponent - behind_point};
}

struct Integer {
  bool negative;
  std::uint64_t magnitude;
};

std::optional<Integer> to_integer(const Value& value) {
  if (!value.is(Kind::Number)) return std::nullopt;
  const auto literal = split(value.number());
  if (!literal) return std::nullopt;
  const Significant digits = significant(*literal);
  constexpr std::int64_t kDigitsMax = std::numeric_limits<std::uint64_t>::digits10 + 1;
  if (digits.exponent < 0 || digits.exponent > kDigitsMax ||
      static_cast<std::int64_t>(digits.count) + digits.exponent > kDigitsMax) {
    return std::nullopt;
  }
  std::uint64_t magnitude = 0;
  const auto push = [&](unsigned digit) {
    return !__builtin_mul_overflow(magnitude, std::uint64_t{10}, &magnitude) &&
           !__builtin_add_overflow(magnitude, std::uint64_t{digit}, &magnitude);
  };
  for (std::size_t i = 0; i < digits.count; ++i) {
    if (!push(static_cast<unsigned>(literal->digit(digits.first + i) - '0'))) return std::nullopt;
  }
  for (std::int64_t i = 0; i < digits.exponent; ++i) {
    if (!push(0)) return std::nullopt;
  }
  return Integer{literal->negative, magnitude};
}

// A natural number of up to 128 decimal digits, in limbs of 32 bits from the lowest.
class Natural {
 public:
  static constexpr std::size_t kLimbsMax = 14;  // 128 digits × log2(10) / 32, rounded up

  explicit Natural(std::string_view digits) {
    for (const char c : digits) multiply_add(10, static_cast<std::uint32_t>(c - '0'));
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint32_t limb(std::size_t i) const { return limbs_[i]; }

  void multiply_add(std::uint32_t factor, std::uint32_t addend) {
    std::uint64_t carry = addend;
    for (std::size_t i = 0; i < size_; ++i) {
      carry += std::uint64_t{limbs_[i]} * factor;
      limbs_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs_[size_++] = static_cast<std::uint32_t>(carry);
  }

  void shift_left(unsigned bits) { multiply_add(std::uint32_t{1} << bits, 0); }

 private:
  std::array<std::uint32_t, kLimbsMax + 1> limbs_{};
  std::size_t size_ = 0;
};

// Remainders modulo a fixed natural number, built digit group by digit group.
class Remainder {
 public:
  // The modulus and all remainders are scaled by a power of two so that the modulus' top bit is set (Knuth, TAOCP
  // 4.3.1, algorithm D: a quotient limb is then estimated to within 2).
  explicit Remainder(Natural modulus) {
    shift_ = static_cast<unsigned>(__builtin_clz(modulus.limb(modulus.size() - 1)));
    modulus.shift_left(shift_);
    size_ = modulus.size();
    for (std::size_t i = 0; i < size_; ++i) modulus_[i] = modulus.limb(i);
  }

  // value = (value × factor + addend) mod modulus. Requires: addend < factor.
  void push(std::uint32_t factor, std::uint32_t addend) {
    std::uint64_t carry = std::uint64_t{addend} << shift_;
    for (std::size_t i = 0; i < size_; ++i) {
      carry += std::uint64_t{value_[i]} * factor;
      value_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    value_[size_] = static_cast<std::uint32_t>(carry);
    reduce();
  }

  [[nodiscard]] bool is_zero() const {
    return std::all_of(value_.begin(), value_.begin() + static_cast<std::ptrdiff_t>(size_),
                       [](std::uint32_t limb) { return limb == 0; });
  }

 private:
  // One step of long division: value_ has one limb more than the modulus, and its quotient fits into one limb.
  void reduce() {
    const std::uint64_t top = modulus_[size_ - 1];
    const std::uint64_t head = std::uint64_t{value_[size_]} << 32 | value_[size_ - 1];
    std::uint64_t quotient = std::min<std::uint64_t>(head / top, 0xFFFFFFFF);
    // Subtract quotient × modulus; the estimate is too large by at most 2.
    std::uint64_t carry = 0;
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      carry += quotient * modulus_[i];
      const std::int64_t difference = std::int64_t{value_[i]} - static_cast<std::uint32_t>(carry) + borrow;
      value_[i] = static_cast<std::uint32_t>(difference);
      borrow = difference >> 32;
      carry >>= 32;
    }
    std::int64_t rest = std::int64_t{value_[size_]} - static_cast<std::int64_t>(carry) + borrow;
    while (rest < 0) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < size_; ++i) {
        sum += std::uint64_t{value_[i]} + modulus_[i];
        value_[i] = static_cast<std::uint32_t>(sum);
        sum >>= 32;
      }
      rest += static_cast<std::int64_t>(sum);
    }
    value_[size_] = 0;
  }

  std::array<std::uint32_t, Natural::kLimbsMax + 1> modulus_{};
  std::array<std::uint32_t, Natural::kLimbsMax + 2> value_{};
  std::size_t size_ = 0;
  unsigned shift_ = 0;
};

constexpr std::uint32_t kGroupFactor = 1'000'000'000;  // nine digits at a time

bool divides(std::string_view divisor, std::string_view digits, std::int64_t zeros) {
  Remainder remainder{Natural(divisor)};
  for (; digits.size() >= 9; digits.remove_prefix(9)) {
    std::uint32_t group = 0;
    for (const char c : digits.substr(0, 9)) group = group * 10 + static_cast<std::uint32_t>(c - '0');
    remainder.push(kGroupFactor, group);
  }
  for (const char c : digits) remainder.push(10, static_cast<std::uint32_t>(c - '0'));
  for (; zeros >= 9; zeros -= 9) remainder.push(kGroupFactor, 0);
  for (; zeros > 0; --zeros) remainder.push(10, 0);
  return remainder.is_zero();
}

}  // namespace

std::optional<Decimal> Decimal::parse(std::string_view text) {
  if (text.size() > kNumberLiteralBytesMax) return std::nullopt;
  const auto literal = split(text);
  if (!literal || std::abs(literal->exponent) > kExponentMagnitudeMax) return std::nullopt;
  const Significant significant_digits = significant(*literal);
  Decimal decimal;
  decimal.exponent_ = static_cast<std::int32_t>(significant_digits.exponent);
  decimal.digit_count_ = static_cast<std::uint8_t>(significant_digits.count);
  decimal.negative_ = literal->negative && significant_digits.count != 0;
  for (std::size_t i = 0; i < significant_digits.count; ++i) {
    decimal.digits_[i] = literal->digit(significant_digits.first + i);
  }
  return decimal;
}

bool Decimal::is_multiple_of(const Decimal& divisor) const {
  if (is_zero()) return true;
  if (divisor.is_zero()) return false;
  // This = d × 10^zeros × 10^divisor.exponent. The digits d do not end with 0, so fewer than no zeros is no multiple.
  std::int64_t zeros = std::int64_t{exponent_} - divisor.exponent_;
  if (zeros < 0) return false;
  if (divisor.digits() == "1") return true;
  // Of 10^zeros only the factors 2 and 5 that the divisor's digits have can help: fewer than its bits.
  constexpr std::int64_t kUsefulZerosMax = Natural::kLimbsMax * 32;
  return divides(divisor.digits(), digits(), std::min(zeros, kUsefulZerosMax));
}

bool operator==(const Decimal& left, const Decimal& right) {
  return left.negative_ == right.negative_ && left.exponent_ == right.exponent_ && left.digits() == right.digits();
}

std::strong_ordering operator<=>(const Decimal& left, const Decimal& right) {
  if (left.is_zero() || right.is_zero() || left.negative_ != right.negative_) {
    const auto sign = [](const Decimal& decimal) { return decimal.is_zero() ? 0 : decimal.negative_ ? -1 : 1; };
    return sign(left) <=> sign(right);
  }
  const Decimal& low = left.negative_ ? right : left;  // by magnitude
  const Decimal& high = left.negative_ ? left : right;
  const auto integer_digits = [](const Decimal& decimal) { return decimal.exponent_ + decimal.digit_count_; };
  if (integer_digits(low) != integer_digits(high)) return integer_digits(low) <=> integer_digits(high);
  // Aligned at the first digit; a missing digit is 0, and the last one present is not.
  return low.digits() <=> high.digits();
}

std::uint64_t Decimal::hash(std::uint64_t seed) const {
  const auto scale = static_cast<std::uint64_t>(static_cast<std::uint32_t>(exponent_)) << 1 | (negative_ ? 1 : 0);
  return hash_bytes(digits(), seed ^ scale * 0x9E3779B97F4A7C15);
}

std::optional<std::int64_t> to_int64(const Value& value) {
  const auto integer = to_integer(value);
  if (!integer) return std::nullopt;
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (integer->magnitude > kMax + (integer->negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(integer->negative ? -integer->magnitude : integer->magnitude);
}

std::optional<std::uint64_t> to_uint64(const Value& value) {
  const auto integer = to_integer(value);
  if (!integer || (integer->negative && integer->magnitude != 0)) return std::nullopt;
  return integer->magnitude;
}

std::optional<double> to_double(const Value& value) {
  if (!value.is(Kind::Number)) return std::nullopt;
  const std::string_view text = value.number();
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc::result_out_of_range) return number;
  const auto literal = split(text);
  if (!literal) return std::nullopt;
  const Significant digits = significant(*literal);
  const bool too_large = static_cast<std::int64_t>(digits.count) + digits.exponent > 0;
  return std::copysign(too_large ? std::numeric_limits<double>::infinity() : 0.0, literal->negative ? -1.0 : 1.0);
}

}  // namespace assay::json

#include "json/decimal.h"

#include <algorithm>
#include <bit>
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

  // Divides and returns the remainder.
  std::uint32_t divide(std::uint32_t divisor) {
    std::uint64_t rest = 0;
    for (std::size_t i = size_; i-- > 0;) {
      rest = rest << 32 | limbs_[i];
      limbs_[i] = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    while (size_ > 0 && limbs_[size_ - 1] == 0) --size_;
    return static_cast<std::uint32_t>(rest);
  }

  // How often a prime divides this, at most `most` times, which are divided out: many at once while that goes.
  // Requires: not zero.
  struct Prime {
    std::uint32_t value;
    std::uint32_t power;
    std::int32_t exponent;  // of `power`
  };
  static constexpr Prime kTwo{2, 1U << 31, 31};
  static constexpr Prime kFive{5, 1'220'703'125, 13};
  std::int32_t take_out(const Prime& prime, std::int32_t most) {
    std::int32_t times = 0;
    for (Natural quotient = *this; times + prime.exponent <= most && quotient.divide(prime.power) == 0;
         times += prime.exponent) {
      *this = quotient;
    }
    for (Natural quotient = *this; times < most && quotient.divide(prime.value) == 0; ++times) *this = quotient;
    return times;
  }

 private:
  std::array<std::uint32_t, kLimbsMax + 1> limbs_{};
  std::size_t size_ = 0;
};

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
  return !divisor.is_zero() && Divisor(divisor).divides(*this);
}

// The divisor is 2^twos × 5^fives × rest × 10^exponent; of 10^n, only the rest has no use.
Divisor::Divisor(const Decimal& divisor) : exponent_(divisor.exponent_) {
  constexpr std::int32_t kFactorsMax = Natural::kLimbsMax * 32;
  Natural rest(divisor.digits());
  twos_ = rest.take_out(Natural::kTwo, kFactorsMax);
  fives_ = rest.take_out(Natural::kFive, kFactorsMax);
  // Scaled by a power of two so that the top bit is set (Knuth, TAOCP 4.3.1, algorithm D: a quotient limb is then
  // estimated to within 2).
  scale_ = static_cast<unsigned>(std::countl_zero(rest.limb(rest.size() - 1)));
  if (scale_ != 0) rest.shift_left(scale_);
  size_ = rest.size();
  for (std::size_t i = 0; i < size_; ++i) rest_[i] = rest.limb(i);
}

bool Divisor::divides(const Decimal& value) const {
  if (value.is_zero()) return true;
  // The value is its digits × 10^zeros, in units of 10^exponent_. The digits do not end with 0, so fewer than no zeros
  // is no multiple.
  const std::int32_t zeros = value.exponent_ - exponent_;
  if (zeros < 0) return false;
  Natural digits(value.digits());
  const auto has_factors = [&](const Natural::Prime& prime, std::int32_t needed) {
    Natural copy = digits;
    return needed <= 0 || copy.take_out(prime, needed) == needed;
  };
  return has_factors(Natural::kTwo, twos_ - zeros) && has_factors(Natural::kFive, fives_ - zeros) &&
         rest_divides(digits);
}

// Long division, limb by limb from the top; only the remainder is kept.
template <class Number>
bool Divisor::rest_divides(Number digits) const {
  const bool is_one = size_ == 1 && rest_[0] >> scale_ == 1;
  if (is_one) return true;
  if (scale_ != 0) digits.shift_left(scale_);
  std::array<std::uint32_t, kLimbsMax + 1> remainder{};  // below the rest but while a limb was just added
  for (std::size_t i = digits.size(); i-- > 0;) {
    std::copy_backward(remainder.begin(), remainder.begin() + static_cast<std::ptrdiff_t>(size_),
                       remainder.begin() + static_cast<std::ptrdiff_t>(size_) + 1);
    remainder[0] = digits.limb(i);
    reduce(remainder);
  }
  return std::ranges::all_of(remainder, [](std::uint32_t limb) { return limb == 0; });
}

// One step of long division: the number has one limb more than the rest, and their quotient fits into one limb.
void Divisor::reduce(std::array<std::uint32_t, kLimbsMax + 1>& number) const {
  const std::uint64_t top = rest_[size_ - 1];
  const std::uint64_t head = std::uint64_t{number[size_]} << 32 | number[size_ - 1];
  if (head == 0) return;
  const std::uint64_t quotient = std::min<std::uint64_t>(head / top, 0xFFFFFFFF);
  // Subtract quotient × rest; the estimate is too large by at most 2.
  std::uint64_t carry = 0;
  std::int64_t borrow = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    carry += quotient * rest_[i];
    const std::int64_t difference = std::int64_t{number[i]} - static_cast<std::uint32_t>(carry) + borrow;
    number[i] = static_cast<std::uint32_t>(difference);
    borrow = difference >> 32;
    carry >>= 32;
  }
  std::int64_t over = std::int64_t{number[size_]} - static_cast<std::int64_t>(carry) + borrow;
  while (over < 0) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      sum += std::uint64_t{number[i]} + rest_[i];
      number[i] = static_cast<std::uint32_t>(sum);
      sum >>= 32;
    }
    over += static_cast<std::int64_t>(sum);
  }
  number[size_] = 0;
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

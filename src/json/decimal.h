#pragma once
// Numbers of JSON as exact decimals: no operation rounds, and none costs more than a few microseconds however far the
// exponents lie apart.
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "json/document.h"

namespace assay::json {

class Decimal {
 public:
  // Zero.
  Decimal() = default;

  // Nothing where `literal` is no JSON number within the limits of a strict document (kNumberLiteralBytesMax,
  // kExponentMagnitudeMax). Every number of a strict document has a decimal.
  [[nodiscard]] static std::optional<Decimal> parse(std::string_view literal);

  [[nodiscard]] bool is_zero() const { return digit_count_ == 0; }
  [[nodiscard]] bool is_negative() const { return negative_; }
  [[nodiscard]] bool is_integer() const { return exponent_ >= 0; }
  // Whether an integer times `divisor` gives this value; the signs do not matter. Nothing but zero is a multiple of
  // zero.
  [[nodiscard]] bool is_multiple_of(const Decimal& divisor) const;

  // Equal values are equal however they were spelled: 1 and 10e-1, 0 and -0.0.
  friend bool operator==(const Decimal& left, const Decimal& right);
  friend std::strong_ordering operator<=>(const Decimal& left, const Decimal& right);

  // Equal for equal values.
  [[nodiscard]] std::uint64_t hash(std::uint64_t seed) const;

 private:
  friend class Divisor;

  [[nodiscard]] std::string_view digits() const { return {digits_.data(), digit_count_}; }

  // The value is ±digits × 10^exponent; the digits neither begin nor end with 0, and zero has none.
  std::int32_t exponent_ = 0;
  std::uint8_t digit_count_ = 0;
  bool negative_ = false;
  std::array<char, kNumberLiteralBytesMax> digits_;
};

// A number ready to divide many others exactly, each in well under a microsecond.
class Divisor {
 public:
  // Requires: not zero.
  explicit Divisor(const Decimal& divisor);

  // As Decimal::is_multiple_of.
  [[nodiscard]] bool divides(const Decimal& value) const;

 private:
  static constexpr std::size_t kLimbsMax = 15;  // of 32 bits: 128 decimal digits, scaled

  template <class Number>
  [[nodiscard]] bool rest_divides(Number digits) const;
  void reduce(std::array<std::uint32_t, kLimbsMax + 1>& number) const;

  std::int32_t exponent_;
  std::int32_t twos_ = 0;
  std::int32_t fives_ = 0;
  unsigned scale_ = 0;
  std::size_t size_ = 0;
  std::array<std::uint32_t, kLimbsMax> rest_{};  // from the lowest limb
};

// The integer that a number denotes, however it is spelled (12, 12.0, 1.2e1); nothing where it is no integer, is out
// of range, or is no number.
[[nodiscard]] std::optional<std::int64_t> to_int64(const Value& value);
[[nodiscard]] std::optional<std::uint64_t> to_uint64(const Value& value);

// The nearest double, for approximate uses; infinite beyond the range. Nothing where the value is no number.
[[nodiscard]] std::optional<double> to_double(const Value& value);

}  // namespace assay::json

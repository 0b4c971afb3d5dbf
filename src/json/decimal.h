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
  [[nodiscard]] std::string_view digits() const { return {digits_.data(), digit_count_}; }

  // The value is ±digits × 10^exponent; the digits neither begin nor end with 0, and zero has none.
  std::int32_t exponent_ = 0;
  std::uint8_t digit_count_ = 0;
  bool negative_ = false;
  std::array<char, kNumberLiteralBytesMax> digits_;
};

// The integer that a number denotes, however it is spelled (12, 12.0, 1.2e1); nothing where it is no integer, is out
// of range, or is no number.
[[nodiscard]] std::optional<std::int64_t> to_int64(const Value& value);
[[nodiscard]] std::optional<std::uint64_t> to_uint64(const Value& value);

// The nearest double, for approximate uses; infinite beyond the range. Nothing where the value is no number.
[[nodiscard]] std::optional<double> to_double(const Value& value);

}  // namespace assay::json

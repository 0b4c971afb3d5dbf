#pragma once
// Numbers of schemas and instances, compared as exact decimals; short ones without the detour.
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "json/decimal.h"

namespace assay::schema {

__extension__ using WideInteger = __int128;

// A number of at most 18 digits without an exponent: mantissa / 10^scale.
struct ShortDecimal {
  static constexpr std::size_t kDigitsMax = 18;

  std::int64_t mantissa = 0;
  std::uint32_t scale = 0;

  // The mantissa if it had `more` further digits behind the point. Cannot overflow: 36 digits are far within 127 bits.
  [[nodiscard]] WideInteger scaled(std::uint32_t more) const {
    return static_cast<WideInteger>(mantissa) * kPowers[more];
  }
  [[nodiscard]] bool is_integer() const { return scale == 0 || mantissa % kPowers[scale] == 0; }

  friend std::strong_ordering operator<=>(const ShortDecimal& left, const ShortDecimal& right) {
    if (left.scale == right.scale) return left.mantissa <=> right.mantissa;
    return left.scaled(right.scale) <=> right.scaled(left.scale);
  }
  friend bool operator==(const ShortDecimal& left, const ShortDecimal& right) { return (left <=> right) == 0; }

  static constexpr std::array<std::int64_t, kDigitsMax + 1> kPowers = [] {
    std::array<std::int64_t, kDigitsMax + 1> powers{1};
    for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
    return powers;
  }();
};

// Nothing where the literal is longer or has an exponent.
[[nodiscard]] inline std::optional<ShortDecimal> short_decimal(std::string_view literal) {
  const bool negative = literal.front() == '-';
  const std::string_view digits = literal.substr(negative ? 1 : 0);
  if (digits.size() > ShortDecimal::kDigitsMax + 1) return std::nullopt;
  std::int64_t mantissa = 0;
  std::size_t count = 0;
  std::size_t point = digits.size();
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] == '.') {
      point = i + 1;
      continue;
    }
    if (digits[i] < '0' || digits[i] > '9' || ++count > ShortDecimal::kDigitsMax) return std::nullopt;
    mantissa = mantissa * 10 + (digits[i] - '0');
  }
  return ShortDecimal{negative ? -mantissa : mantissa, static_cast<std::uint32_t>(digits.size() - point)};
}

// Requires: a number of a strict document, so that its limits hold.
[[nodiscard]] inline json::Decimal exact(std::string_view literal) {
  const std::optional<json::Decimal> decimal = json::Decimal::parse(literal);
  ASSAY_CHECK(decimal, "the number comes from a strict document");
  return *decimal;
}

// A number of an instance: parsed at most once, and only as far as it is needed.
class NumberView {
 public:
  // Lifetime: the literal's. Requires: a JSON number.
  explicit NumberView(std::string_view literal) : literal_(literal), short_(short_decimal(literal)) {}

  [[nodiscard]] const std::optional<ShortDecimal>& short_form() const { return short_; }
  [[nodiscard]] const json::Decimal& decimal() {
    if (!decimal_) decimal_.emplace(exact(literal_));
    return *decimal_;
  }
  // Whether comparing takes the detour.
  [[nodiscard]] bool is_long() const { return !short_; }
  [[nodiscard]] bool is_integer() { return short_ ? short_->is_integer() : decimal().is_integer(); }

 private:
  std::string_view literal_;
  std::optional<ShortDecimal> short_;
  std::optional<json::Decimal> decimal_;
};

// A number of a schema, ready to be compared with.
class Bound {
 public:
  // Lifetime: the literal's.
  explicit Bound(std::string_view literal)
      : literal_(literal), decimal_(exact(literal)), short_(short_decimal(literal)) {}

  [[nodiscard]] std::string_view literal() const { return literal_; }
  [[nodiscard]] bool is_long() const { return !short_; }

  // The order of `number` relative to this.
  [[nodiscard]] std::strong_ordering compare(NumberView& number) const {
    if (short_ && number.short_form()) return *number.short_form() <=> *short_;
    return number.decimal() <=> decimal_;
  }

 private:
  std::string_view literal_;
  json::Decimal decimal_;
  std::optional<ShortDecimal> short_;
};

// A multipleOf, ready to divide by.
class Factor {
 public:
  // Lifetime: the literal's. Requires: above zero.
  explicit Factor(std::string_view literal)
      : literal_(literal), divisor_(exact(literal)), short_(short_decimal(literal)) {}

  [[nodiscard]] std::string_view literal() const { return literal_; }
  [[nodiscard]] bool is_long() const { return !short_; }
  [[nodiscard]] bool divides(NumberView& number) const {
    if (short_ && number.short_form()) {
      const ShortDecimal& dividend = *number.short_form();
      if (dividend.scale == short_->scale) return dividend.mantissa % short_->mantissa == 0;
      return dividend.scaled(short_->scale) % short_->scaled(dividend.scale) == 0;
    }
    return divisor_.divides(number.decimal());
  }

 private:
  std::string_view literal_;
  json::Divisor divisor_;
  std::optional<ShortDecimal> short_;
};

}  // namespace assay::schema

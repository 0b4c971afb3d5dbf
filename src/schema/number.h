#pragma once
// Numbers of schemas and instances, compared as exact decimals; short integers without the detour.
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "json/decimal.h"

namespace assay::schema {

// The value of a literal that is a plain integer of at most 18 digits.
[[nodiscard]] inline std::optional<std::int64_t> short_integer(std::string_view literal) {
  constexpr std::size_t kDigitsMax = 18;
  const bool negative = literal.front() == '-';
  const std::string_view digits = literal.substr(negative ? 1 : 0);
  if (digits.size() > kDigitsMax) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return negative ? -value : value;
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
  explicit NumberView(std::string_view literal) : literal_(literal), integer_(short_integer(literal)) {}

  [[nodiscard]] const std::optional<std::int64_t>& integer() const { return integer_; }
  [[nodiscard]] const json::Decimal& decimal() {
    if (!decimal_) decimal_ = exact(literal_);
    return *decimal_;
  }
  // Whether comparing takes the detour.
  [[nodiscard]] bool is_long() const { return !integer_; }
  [[nodiscard]] bool is_integer() { return integer_.has_value() || decimal().is_integer(); }

 private:
  std::string_view literal_;
  std::optional<std::int64_t> integer_;
  std::optional<json::Decimal> decimal_;
};

// A number of a schema, ready to be compared with.
class Bound {
 public:
  // Lifetime: the literal's.
  explicit Bound(std::string_view literal)
      : literal_(literal), decimal_(exact(literal)), integer_(short_integer(literal)) {}

  [[nodiscard]] std::string_view literal() const { return literal_; }
  [[nodiscard]] bool is_long() const { return !integer_; }

  // The order of `number` relative to this.
  [[nodiscard]] std::strong_ordering compare(NumberView& number) const {
    if (integer_ && number.integer()) return *number.integer() <=> *integer_;
    return number.decimal() <=> decimal_;
  }

 private:
  std::string_view literal_;
  json::Decimal decimal_;
  std::optional<std::int64_t> integer_;
};

// A multipleOf, ready to divide by.
class Factor {
 public:
  // Lifetime: the literal's. Requires: above zero.
  explicit Factor(std::string_view literal)
      : literal_(literal), divisor_(exact(literal)), integer_(short_integer(literal)) {}

  [[nodiscard]] std::string_view literal() const { return literal_; }
  [[nodiscard]] bool is_long() const { return !integer_; }
  [[nodiscard]] bool divides(NumberView& number) const {
    if (integer_ && number.integer()) return *number.integer() % *integer_ == 0;
    return divisor_.divides(number.decimal());
  }

 private:
  std::string_view literal_;
  json::Divisor divisor_;
  std::optional<std::int64_t> integer_;
};

}  // namespace assay::schema

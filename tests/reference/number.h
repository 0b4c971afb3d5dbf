#pragma once
// Decimal arithmetic on digit strings, as one does it on paper: slow, obvious, and independent of json::Decimal.
#include <string>
#include <string_view>

namespace assay::reference {

// A JSON number as a sign and an integer of units of 10^scale.
struct Number {
  bool negative = false;
  std::string digits;  // no leading zeros; "0" is zero
  int scale = 0;
};

[[nodiscard]] Number read_number(std::string_view literal);
// Negative, zero or positive, as left is less than, equal to or greater than right.
[[nodiscard]] int compare(const Number& left, const Number& right);
[[nodiscard]] bool is_integer(const Number& number);
// Requires: the divisor is not zero.
[[nodiscard]] bool is_multiple(const Number& number, const Number& divisor);

}  // namespace assay::reference

#include "tests/reference/number.h"

#include <algorithm>

namespace assay::reference {
namespace {

std::string without_leading_zeros(std::string digits) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return digits;
}

int compare_digits(const std::string& left, const std::string& right) {
  if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
  return left.compare(right);
}

std::string subtract(std::string left, const std::string& right) {
  int borrow = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    char& digit = left[left.size() - 1 - i];
    int value = digit - '0' - borrow - (i < right.size() ? right[right.size() - 1 - i] - '0' : 0);
    borrow = value < 0 ? 1 : 0;
    if (value < 0) value += 10;
    digit = static_cast<char>('0' + value);
  }
  return without_leading_zeros(left);
}

std::string remainder(const std::string& dividend, const std::string& divisor) {
  std::string rest = "0";
  for (const char digit : dividend) {
    rest = without_leading_zeros(rest + digit);
    while (compare_digits(rest, divisor) >= 0) rest = subtract(rest, divisor);
  }
  return rest;
}

// Both in units of the smaller scale.
void align(Number& left, Number& right) {
  const int scale = std::min(left.scale, right.scale);
  for (Number* number : {&left, &right}) {
    number->digits =
        without_leading_zeros(number->digits + std::string(static_cast<std::size_t>(number->scale - scale), '0'));
  }
  left.scale = right.scale = scale;
}

}  // namespace

Number read_number(std::string_view literal) {
  Number number;
  std::string text(literal);
  number.negative = text.front() == '-';
  if (number.negative) text.erase(0, 1);
  if (const std::size_t exponent = text.find_first_of("eE"); exponent != std::string::npos) {
    number.scale = std::stoi(text.substr(exponent + 1));
    text.resize(exponent);
  }
  if (const std::size_t point = text.find('.'); point != std::string::npos) {
    number.scale -= static_cast<int>(text.size() - point - 1);
    text.erase(point, 1);
  }
  number.digits = without_leading_zeros(text);
  if (number.digits == "0") number.negative = false;
  return number;
}

int compare(const Number& left, const Number& right) {
  if (left.negative != right.negative) return left.negative ? -1 : 1;
  Number aligned_left = left;
  Number aligned_right = right;
  align(aligned_left, aligned_right);
  const int order = compare_digits(aligned_left.digits, aligned_right.digits);
  return left.negative ? -order : order;
}

bool is_integer(const Number& number) {
  return is_multiple(number, Number{.negative = false, .digits = "1", .scale = 0});
}

bool is_multiple(const Number& number, const Number& divisor) {
  Number aligned_number = number;
  Number aligned_divisor = divisor;
  align(aligned_number, aligned_divisor);
  return remainder(aligned_number.digits, aligned_divisor.digits) == "0";
}

}  // namespace assay::reference

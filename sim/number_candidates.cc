#include "sim/number_candidates.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "json/decimal.h"

namespace assay::sim {
namespace {

using json::Decimal;

// A decimal that can be calculated with: mantissa * 10^exponent.
struct Scaled {
  __int128 mantissa = 0;
  int exponent = 0;
};

constexpr int kDigitsMax = 30;
constexpr int kExponentSpanMax = 24;

__int128 power_of_ten(int exponent) {
  __int128 result = 1;
  for (int i = 0; i < exponent; ++i) result *= 10;
  return result;
}

// Nothing for literals that are too long to calculate with.
std::optional<Scaled> parse_scaled(std::string_view literal) {
  Scaled result;
  const bool is_negative = literal.starts_with('-');
  if (is_negative) literal.remove_prefix(1);
  int digits = 0;
  bool is_fraction = false;
  while (!literal.empty() && literal.front() != 'e' && literal.front() != 'E') {
    const char c = literal.front();
    literal.remove_prefix(1);
    if (c == '.') {
      is_fraction = true;
      continue;
    }
    if (result.mantissa != 0 || c != '0') ++digits;
    if (digits > kDigitsMax) return std::nullopt;
    result.mantissa = result.mantissa * 10 + (c - '0');
    if (is_fraction) --result.exponent;
  }
  if (!literal.empty()) {
    literal.remove_prefix(literal.size() > 1 && literal[1] == '+' ? 2 : 1);
    int exponent = 0;
    std::from_chars(literal.data(), literal.data() + literal.size(), exponent);
    result.exponent += exponent;
  }
  while (result.mantissa != 0 && result.mantissa % 10 == 0) {
    result.mantissa /= 10;
    ++result.exponent;
  }
  if (is_negative) result.mantissa = -result.mantissa;
  return result;
}

std::string digits_of(__int128 value) {
  std::string digits;
  for (; value > 0; value /= 10) digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
  return digits.empty() ? "0" : digits;
}

// Plain notation where it is short, else with an exponent.
std::string literal_of(const Scaled& value) {
  constexpr int kPlainZerosMax = 20;
  const std::string sign = value.mantissa < 0 ? "-" : "";
  std::string digits = digits_of(value.mantissa < 0 ? -value.mantissa : value.mantissa);
  if (digits == "0") return "0";
  const int size = static_cast<int>(digits.size());
  if (value.exponent >= 0 && value.exponent <= kPlainZerosMax) {
    return sign + digits + std::string(static_cast<std::size_t>(value.exponent), '0');
  }
  if (value.exponent < 0 && -value.exponent < size) {
    digits.insert(static_cast<std::size_t>(size + value.exponent), ".");
    return sign + digits;
  }
  if (value.exponent < 0 && -value.exponent <= kPlainZerosMax) {
    return sign + "0." + std::string(static_cast<std::size_t>(-value.exponent - size), '0') + digits;
  }
  return sign + digits + "e" + std::to_string(value.exponent);
}

std::optional<Scaled> add(Scaled left, Scaled right) {
  if (left.mantissa == 0) return right;
  if (right.mantissa == 0) return left;
  if (left.exponent < right.exponent) std::swap(left, right);
  if (left.exponent - right.exponent > kExponentSpanMax) return std::nullopt;
  const __int128 scale = power_of_ten(left.exponent - right.exponent);
  const __int128 limit = power_of_ten(36);
  if (left.mantissa > limit / scale || left.mantissa < -limit / scale) return std::nullopt;
  return Scaled{left.mantissa * scale + right.mantissa, right.exponent};
}

// The multiples of `divisor` that lie around `bound`.
void add_multiples(const Scaled& divisor, const Scaled& bound, std::vector<std::string>& candidates) {
  if (divisor.mantissa == 0) return;
  const double ratio = static_cast<double>(bound.mantissa) / static_cast<double>(divisor.mantissa) *
                       std::pow(10.0, bound.exponent - divisor.exponent);
  constexpr double kFactorMax = 1e15;
  if (!(std::fabs(ratio) < kFactorMax)) return;
  const auto factor = static_cast<std::int64_t>(std::floor(ratio));
  for (const std::int64_t step : {0, 1, 2, -1, -2, 3, -3}) {
    candidates.push_back(literal_of(Scaled{divisor.mantissa * (factor + step), divisor.exponent}));
  }
}

class Judge {
 public:
  explicit Judge(const NumberRules& rules) : is_integer_(rules.is_integer) {
    read(rules.minimums, minimums_);
    read(rules.maximums, maximums_);
    read(rules.exclusive_minimums, exclusive_minimums_);
    read(rules.exclusive_maximums, exclusive_maximums_);
    read(rules.divisors, divisors_);
  }

  [[nodiscard]] bool accepts(std::string_view literal) const {
    const auto value = Decimal::parse(literal);
    if (!value || (is_integer_ && !value->is_integer())) return false;
    const auto all = [&](const std::vector<Decimal>& bounds, auto holds) {
      return std::all_of(bounds.begin(), bounds.end(), holds);
    };
    return all(minimums_, [&](const Decimal& bound) { return *value >= bound; }) &&
           all(maximums_, [&](const Decimal& bound) { return *value <= bound; }) &&
           all(exclusive_minimums_, [&](const Decimal& bound) { return *value > bound; }) &&
           all(exclusive_maximums_, [&](const Decimal& bound) { return *value < bound; }) &&
           all(divisors_, [&](const Decimal& divisor) { return value->is_multiple_of(divisor); });
  }

 private:
  static void read(const std::vector<std::string>& literals, std::vector<Decimal>& decimals) {
    for (const std::string& literal : literals) {
      if (const auto decimal = Decimal::parse(literal)) decimals.push_back(*decimal);
    }
  }

  std::vector<Decimal> minimums_;
  std::vector<Decimal> maximums_;
  std::vector<Decimal> exclusive_minimums_;
  std::vector<Decimal> exclusive_maximums_;
  std::vector<Decimal> divisors_;
  bool is_integer_;
};

std::vector<std::string> candidates_of(const NumberRules& rules) {
  std::vector<std::string> bounds;
  for (const auto* list : {&rules.minimums, &rules.exclusive_minimums, &rules.maximums, &rules.exclusive_maximums}) {
    bounds.insert(bounds.end(), list->begin(), list->end());
  }
  std::vector<Scaled> scaled = {Scaled{}};
  for (const std::string& bound : bounds) {
    if (const auto value = parse_scaled(bound)) scaled.push_back(*value);
  }
  std::vector<std::string> candidates;
  std::vector<Scaled> divisors;
  for (const std::string& literal : rules.divisors) {
    if (const auto divisor = parse_scaled(literal)) divisors.push_back(*divisor);
  }
  if (divisors.size() > 1) {
    // A common multiple, if the first two are small: every multiple of their product, scaled to both.
    const Scaled product{divisors[0].mantissa * divisors[1].mantissa,
                         std::max(divisors[0].exponent, divisors[1].exponent)};
    divisors.insert(divisors.begin(), product);
  }
  for (const Scaled& divisor : divisors) {
    for (const Scaled& bound : scaled) add_multiples(divisor, bound, candidates);
  }
  for (const char* plain : {"1", "0", "2", "3", "-1", "0.5"}) candidates.emplace_back(plain);
  for (const std::string& bound : bounds) candidates.push_back(bound);
  for (const Scaled& bound : scaled) {
    for (int exponent = 0; exponent >= -20; --exponent) {
      for (const int mantissa : {1, -1, 5, -5}) {
        if (const auto near = add(bound, Scaled{mantissa, exponent})) candidates.push_back(literal_of(*near));
      }
    }
    // Just beside bounds that are too large to add to.
    for (const int mantissa : {11, 9, 19}) {
      candidates.push_back(literal_of(Scaled{bound.mantissa * mantissa, bound.exponent - 1}));
    }
  }
  for (std::int64_t plain = 4; plain < 600; ++plain) candidates.push_back(std::to_string(plain));
  if (!scaled.empty()) {
    for (const Scaled& bound : scaled) {
      for (int step = 2; step < 300; ++step) {
        for (const int signed_step : {step, -step}) {
          if (const auto near = add(bound, Scaled{signed_step, 0})) candidates.push_back(literal_of(*near));
        }
      }
    }
  }
  if (!divisors.empty()) {
    for (std::int64_t factor = 4; factor < 300; ++factor) {
      candidates.push_back(literal_of(Scaled{divisors.front().mantissa * factor, divisors.front().exponent}));
    }
  }
  return candidates;
}

}  // namespace

std::optional<std::string> fitting_number(const NumberRules& rules, std::size_t skip) {
  const Judge judge(rules);
  std::vector<std::string> fitting;
  for (std::string& candidate : candidates_of(rules)) {
    if (std::find(fitting.begin(), fitting.end(), candidate) != fitting.end() || !judge.accepts(candidate)) continue;
    fitting.push_back(std::move(candidate));
    if (fitting.size() > skip) return fitting.back();
  }
  return std::nullopt;
}

}  // namespace assay::sim

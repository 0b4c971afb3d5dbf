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

// Both compilers have it, neither calls it standard.
__extension__ typedef __int128 Wide;

// A decimal that can be calculated with: mantissa * 10^exponent.
struct Scaled {
  Wide mantissa = 0;
  int exponent = 0;
};

constexpr int kDigitsMax = 30;
constexpr int kExponentSpanMax = 24;

Wide power_of_ten(int exponent) {
  Wide result = 1;
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

std::string digits_of(Wide value) {
  std::string digits;
  for (; value > 0; value /= 10) digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
  return digits.empty() ? "0" : digits;
}

// Plain notation where it is short, else with an exponent.
std::string literal_of(Scaled value) {
  while (value.mantissa != 0 && value.mantissa % 10 == 0) {
    value.mantissa /= 10;
    ++value.exponent;
  }
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
  const Wide scale = power_of_ten(left.exponent - right.exponent);
  const Wide limit = power_of_ten(36);
  if (left.mantissa > limit / scale || left.mantissa < -limit / scale) return std::nullopt;
  return Scaled{left.mantissa * scale + right.mantissa, right.exponent};
}

// Nothing where the product is too large to calculate with.
std::optional<Scaled> multiply(const Scaled& value, Wide factor) {
  Scaled result{0, value.exponent};
  if (__builtin_mul_overflow(value.mantissa, factor, &result.mantissa)) return std::nullopt;
  return result;
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

// Offers candidates to the judge, likely ones first, until enough have been accepted.
class Search {
 public:
  Search(const NumberRules& rules, std::size_t skip) : judge_(rules), skip_(skip) {
    for (const auto* list : {&rules.minimums, &rules.exclusive_minimums, &rules.maximums, &rules.exclusive_maximums}) {
      bounds_.insert(bounds_.end(), list->begin(), list->end());
    }
    scaled_.push_back(Scaled{});
    for (const std::string& bound : bounds_) {
      if (const auto value = parse_scaled(bound)) scaled_.push_back(*value);
    }
    for (const std::string& literal : rules.divisors) {
      if (const auto divisor = parse_scaled(literal)) divisors_.push_back(*divisor);
    }
    if (divisors_.size() > 1) {
      if (const auto both = product(divisors_[0], divisors_[1])) divisors_.insert(divisors_.begin(), *both);
    }
  }

  std::optional<std::string> run() {
    const bool is_found = multiples_at_bounds() || plain() || beside_bounds() || far_from_bounds() || far_multiples();
    if (!is_found) return std::nullopt;
    return accepted_.back();
  }

 private:
  // A multiple of both, if not the least.
  static std::optional<Scaled> product(const Scaled& left, const Scaled& right) {
    auto both = multiply(left, right.mantissa);
    if (both) both->exponent = std::max(left.exponent, right.exponent);
    return both;
  }

  // True once the one that was asked for is found.
  bool offer(std::string candidate) {
    if (!judge_.accepts(candidate)) return false;
    if (std::find(accepted_.begin(), accepted_.end(), candidate) != accepted_.end()) return false;
    accepted_.push_back(std::move(candidate));
    return accepted_.size() > skip_;
  }
  bool offer(const Scaled& candidate) { return offer(literal_of(candidate)); }

  bool multiples_at_bounds() {
    for (const Scaled& divisor : divisors_) {
      for (const Scaled& bound : scaled_) {
        if (multiples_around(divisor, bound)) return true;
      }
    }
    return false;
  }
  bool multiples_around(const Scaled& divisor, const Scaled& bound) {
    constexpr double kFactorMax = 1e15;
    if (divisor.mantissa == 0) return false;
    const double ratio = static_cast<double>(bound.mantissa) / static_cast<double>(divisor.mantissa) *
                         std::pow(10.0, bound.exponent - divisor.exponent);
    if (!(std::fabs(ratio) < kFactorMax)) return false;
    const auto factor = static_cast<std::int64_t>(std::floor(ratio));
    for (const std::int64_t step : {0, 1, 2, -1, -2, 3, -3}) {
      const auto multiple = multiply(divisor, factor + step);
      if (multiple && offer(*multiple)) return true;
    }
    return false;
  }

  bool plain() {
    for (const char* candidate : {"1", "0", "2", "3", "-1", "0.5"}) {
      if (offer(std::string(candidate))) return true;
    }
    return false;
  }

  bool beside_bounds() {
    for (const std::string& bound : bounds_) {
      if (offer(bound)) return true;
    }
    constexpr int kFinest = -24;
    for (const Scaled& bound : scaled_) {
      for (int exponent = 0; exponent >= kFinest; --exponent) {
        for (const int mantissa : {1, -1, 5, -5}) {
          const auto near = add(bound, Scaled{mantissa, exponent});
          if (near && offer(*near)) return true;
        }
      }
      // Beside bounds that are too large to add to.
      for (const int mantissa : {11, 9, 19}) {
        if (offer(Scaled{bound.mantissa * mantissa, bound.exponent - 1})) return true;
      }
    }
    // Beyond bounds that are too long to calculate with.
    for (const int exponent : {40, 80, 160, 320, 640, 1024}) {
      for (const int mantissa : {1, -1}) {
        if (offer(Scaled{mantissa, exponent})) return true;
      }
    }
    return false;
  }

  bool far_from_bounds() {
    constexpr int kSteps = 600;
    for (const Scaled& bound : scaled_) {
      for (int step = 2; step < kSteps; ++step) {
        for (const int signed_step : {step, -step}) {
          const auto near = add(bound, Scaled{signed_step, 0});
          if (near && offer(*near)) return true;
        }
      }
    }
    return false;
  }

  bool far_multiples() {
    constexpr int kFactors = 600;
    for (const Scaled& divisor : divisors_) {
      for (int factor = 4; factor < kFactors; ++factor) {
        const auto multiple = multiply(divisor, factor);
        if (multiple && offer(*multiple)) return true;
      }
    }
    return false;
  }

  Judge judge_;
  std::size_t skip_;
  std::vector<std::string> bounds_;
  std::vector<Scaled> scaled_;
  std::vector<Scaled> divisors_;
  std::vector<std::string> accepted_;
};

}  // namespace

std::optional<std::string> fitting_number(const NumberRules& rules, std::size_t skip) {
  return Search(rules, skip).run();
}

}  // namespace assay::sim

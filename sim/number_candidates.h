#pragma once
// Finds a number within exact bounds. Pure.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace assay::sim {

// Number literals of a schema; all must hold.
struct NumberRules {
  std::vector<std::string> minimums;
  std::vector<std::string> maximums;
  std::vector<std::string> exclusive_minimums;
  std::vector<std::string> exclusive_maximums;
  std::vector<std::string> divisors;
  bool is_integer = false;
};

// The `skip`-th fitting candidate, as a literal; nothing where too few were found.
[[nodiscard]] std::optional<std::string> fitting_number(const NumberRules& rules, std::size_t skip);

}  // namespace assay::sim

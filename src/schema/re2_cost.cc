#include "schema/re2_cost.h"

#include <algorithm>

#include "schema/ascii.h"

namespace assay::schema {
namespace {

constexpr std::uint64_t kMany = 1'000'000;
constexpr std::uint64_t kUnicodeClass = 8;

// Reads just enough of RE2's syntax to know what is repeated how often; an error only makes the count too high.
class PositionCounter {
 public:
  explicit PositionCounter(std::string_view expression) : rest_(expression) {}

  // Up to the end or a closing parenthesis.
  std::uint64_t count() {
    std::uint64_t total = 0;
    while (!rest_.empty() && rest_.front() != ')') {
      if (rest_.front() == '|') {
        rest_.remove_prefix(1);
        ++total;
        continue;
      }
      const std::uint64_t atom = count_atom();
      total = std::min(total + atom * read_repetitions(), kMany);
    }
    return total;
  }

 private:
  std::uint64_t count_atom() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '(') {
      const std::uint64_t inside = count();
      if (!rest_.empty()) rest_.remove_prefix(1);
      return inside + 1;
    }
    if (c == '[') return count_class();
    if (c != '\\' || rest_.empty()) return 1;
    const std::uint64_t weight = weight_of_escape(rest_.front());
    rest_.remove_prefix(1);
    return weight;
  }

  static std::uint64_t weight_of_escape(char name) { return name == 'p' || name == 'P' ? kUnicodeClass : 1; }

  std::uint64_t count_class() {
    std::uint64_t weight = 4;  // quarters
    std::size_t at = rest_.starts_with('^') ? 1 : 0;
    if (at < rest_.size() && rest_[at] == ']') ++at;
    while (at < rest_.size() && rest_[at] != ']') {
      if (rest_.substr(at).starts_with("[:")) {
        const std::size_t end = rest_.find(":]", at);
        if (end != std::string_view::npos) at = end + 1;
      } else if (rest_[at] == '\\' && at + 1 < rest_.size()) {
        weight += 4 * (weight_of_escape(rest_[++at]) - 1);
      } else if (!is_ascii(rest_[at])) {
        ++weight;
      }
      ++at;
    }
    rest_.remove_prefix(std::min(at + 1, rest_.size()));
    return weight / 4;
  }

  std::uint64_t read_repetitions() {
    std::uint64_t times = 1;
    while (!rest_.empty() && is_one_of(rest_.front(), "*+?{")) {
      if (rest_.front() == '{') times = std::min(times * read_counts(), kMany);
      if (!rest_.empty()) rest_.remove_prefix(1);
    }
    return times;
  }

  // The larger bound; leaves the closing brace.
  std::uint64_t read_counts() {
    std::uint64_t largest = 1;
    std::uint64_t current = 0;
    while (!rest_.empty() && rest_.front() != '}') {
      current =
          is_digit(rest_.front()) ? std::min(current * 10 + static_cast<std::uint64_t>(rest_.front() - '0'), kMany) : 0;
      largest = std::max(largest, current);
      rest_.remove_prefix(1);
    }
    return largest;
  }

  std::string_view rest_;
};

}  // namespace

std::uint64_t re2_positions(std::string_view expression) {
  PositionCounter counter(expression);
  return std::max<std::uint64_t>(counter.count(), 1);
}

}  // namespace assay::schema

#include <algorithm>

#include "schema/ascii.h"
#include "schema/format_matchers.h"

namespace assay::schema {

bool is_json_pointer(std::string_view text) {
  if (!text.empty() && text.front() != '/') return false;
  for (std::size_t at = text.find('~'); at != std::string_view::npos; at = text.find('~', at + 1)) {
    if (at + 1 == text.size() || !is_one_of(text[at + 1], "01")) return false;
  }
  return true;
}

bool is_relative_json_pointer(std::string_view text) {
  const auto digits = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  if (digits == 0 || (digits > 1 && text.front() == '0')) return false;
  const std::string_view rest = text.substr(digits);
  return rest == "#" || is_json_pointer(rest);
}

bool is_uuid(std::string_view text) {
  constexpr std::size_t kBytes = 36;
  if (text.size() != kBytes) return false;
  for (std::size_t at = 0; at < kBytes; ++at) {
    const bool is_hyphen_place = at == 8 || at == 13 || at == 18 || at == 23;
    if (is_hyphen_place ? text[at] != '-' : !is_hex(text[at])) return false;
  }
  return true;
}

}  // namespace assay::schema

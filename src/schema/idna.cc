#include "schema/idna.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "schema/ascii.h"
#include "schema/idna_tables.h"

namespace assay::schema {
namespace {

// RFC 3492, section 5.
constexpr std::uint32_t kBase = 36;
constexpr std::uint32_t kTMin = 1;
constexpr std::uint32_t kTMax = 26;
constexpr std::uint32_t kSkew = 38;
constexpr std::uint32_t kDamp = 700;
constexpr std::uint32_t kInitialBias = 72;
constexpr std::uint32_t kInitialN = 128;
constexpr std::uint32_t kLastCodePoint = 0x10FFFF;

std::uint32_t adapt(std::uint32_t delta, std::uint32_t points, bool first) {
  delta = first ? delta / kDamp : delta / 2;
  delta += delta / points;
  std::uint32_t k = 0;
  for (; delta > ((kBase - kTMin) * kTMax) / 2; k += kBase) delta /= kBase - kTMin;
  return k + (kBase - kTMin + 1) * delta / (delta + kSkew);
}

std::optional<std::uint32_t> digit_of(char c) {
  if (is_digit(c)) return static_cast<std::uint32_t>(c - '0') + 26;
  if (is_alpha(c)) return static_cast<std::uint32_t>(to_lower(c) - 'a');
  return std::nullopt;
}

// One generalised variable-length integer (section 3.3), added to `i`; false where it is cut or too large.
bool read_delta(std::string_view& input, std::uint32_t bias, std::uint32_t& i) {
  constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t weight = 1;
  for (std::uint32_t k = kBase;; k += kBase) {
    if (input.empty()) return false;
    const auto digit = digit_of(input.front());
    input.remove_prefix(1);
    if (!digit || *digit > (kMax - i) / weight) return false;
    i += *digit * weight;
    const std::uint32_t threshold = k <= bias ? kTMin : std::min(k - bias, kTMax);
    if (*digit < threshold) return true;
    if (weight > kMax / (kBase - threshold)) return false;
    weight *= kBase - threshold;
  }
}

std::optional<std::u32string> decode_punycode(std::string_view input) {
  std::u32string output;
  if (const std::size_t hyphen = input.rfind('-'); hyphen != std::string_view::npos) {
    for (const char c : input.substr(0, hyphen)) output += static_cast<char32_t>(to_lower(c));
    input.remove_prefix(hyphen + 1);
  }
  std::uint32_t n = kInitialN;
  std::uint32_t i = 0;
  std::uint32_t bias = kInitialBias;
  while (!input.empty()) {
    const std::uint32_t before = i;
    if (!read_delta(input, bias, i)) return std::nullopt;
    const auto points = static_cast<std::uint32_t>(output.size()) + 1;
    bias = adapt(i - before, points, before == 0);
    if (i / points > kLastCodePoint - n) return std::nullopt;
    n += i / points;
    i %= points;
    output.insert(output.begin() + i, static_cast<char32_t>(n));
    ++i;
  }
  return output;
}

bool is_in(char32_t c, std::span<const CodePointRange> ranges) {
  const auto after = std::ranges::upper_bound(ranges, c, {}, &CodePointRange::first);
  return after != ranges.begin() && c <= std::prev(after)->last;
}

// RFC 5892, appendix A.1: a join between two letters, whatever is transparent to it skipped.
bool joins_around(std::u32string_view label, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_in(label[before - 1], kJoinTransparent)) --before;
  std::size_t after = at + 1;
  while (after < label.size() && is_in(label[after], kJoinTransparent)) ++after;
  return before > 0 && is_in(label[before - 1], kJoinsLeft) && after < label.size() && is_in(label[after], kJoinsRight);
}

// RFC 5892, appendix A.
bool fits_its_context(std::u32string_view label, std::size_t at) {
  const char32_t before = at > 0 ? label[at - 1] : U'\0';
  const char32_t after = at + 1 < label.size() ? label[at + 1] : U'\0';
  const auto any_within = [&](char32_t first, char32_t last) {
    return std::ranges::any_of(label, [&](char32_t c) { return c >= first && c <= last; });
  };
  switch (const char32_t c = label[at]) {
    case 0x200C:
      return is_in(before, kViramas) || joins_around(label, at);
    case 0x200D:
      return is_in(before, kViramas);
    case 0x00B7:
      return before == U'l' && after == U'l';
    case 0x0375:
      return is_in(after, kGreek);
    case 0x05F3:
    case 0x05F4:
      return is_in(before, kHebrew);
    case 0x30FB:
      return std::ranges::any_of(label, [](char32_t other) { return is_in(other, kKanaOrHan); });
    default:
      if (c >= 0x0660 && c <= 0x0669) return !any_within(0x06F0, 0x06F9);
      if (c >= 0x06F0 && c <= 0x06F9) return !any_within(0x0660, 0x0669);
      return true;
  }
}

bool is_u_label(std::u32string_view label) {
  const bool has_reserved_hyphens = label.size() >= 4 && label[2] == U'-' && label[3] == U'-';
  if (label.empty() || label.front() == U'-' || label.back() == U'-' || has_reserved_hyphens) return false;
  if (is_in(label.front(), kCombiningMarks)) return false;
  if (std::ranges::all_of(label, [](char32_t c) { return c < 0x80; })) return false;
  for (std::size_t at = 0; at < label.size(); ++at) {
    if (!is_in(label[at], kIdnaValid) || !fits_its_context(label, at)) return false;
  }
  return true;
}

}  // namespace

bool is_a_label(std::string_view label) {
  constexpr std::size_t kPrefixBytes = 4;
  const auto decoded = decode_punycode(label.substr(kPrefixBytes));
  return decoded && is_u_label(*decoded);
}

}  // namespace assay::schema

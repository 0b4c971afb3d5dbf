#include <algorithm>

#include "schema/ascii.h"
#include "schema/format_matchers.h"
#include "schema/idna.h"

namespace assay::schema {
namespace {

constexpr std::size_t kHostnameBytesMax = 253;
constexpr std::size_t kLabelBytesMax = 63;
constexpr std::size_t kLocalPartBytesMax = 64;

// Literal texts of a grammar are in either case (RFC 5234, section 2.3). `prefix` is lower case.
bool starts_with(std::string_view text, std::string_view prefix) {
  return std::ranges::equal(text.substr(0, prefix.size()), prefix, {}, to_lower);
}

bool has_ace_prefix(std::string_view label) { return starts_with(label, "xn--"); }

bool is_label(std::string_view label, bool international) {
  if (label.empty() || label.front() == '-' || label.back() == '-') return false;
  bool ascii = true;
  for (const char c : label) {
    if (is_alphanumeric(c) || c == '-') continue;
    if (!international || is_ascii(c)) return false;
    ascii = false;
  }
  return !ascii || (label.size() <= kLabelBytesMax && (!has_ace_prefix(label) || is_a_label(label)));
}

// Calls is_part for what lies between separators; an empty text is one empty part.
template <class IsPart>
bool all_parts(std::string_view text, char separator, IsPart is_part) {
  for (;;) {
    const std::size_t end = text.find(separator);
    if (!is_part(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

bool is_domain(std::string_view text, bool international) {
  if (!international && text.size() > kHostnameBytesMax) return false;
  return all_parts(text, '.', [&](std::string_view label) { return is_label(label, international); });
}

bool is_atom_character(char c, bool international) {
  return is_alphanumeric(c) || is_one_of(c, "!#$%&'*+-/=?^_`{|}~") || (international && !is_ascii(c));
}

bool is_quoted_content(std::string_view text, bool international) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\';
    if (escaped && ++i == text.size()) return false;
    const char c = text[i];
    if (international && !escaped && !is_ascii(c)) continue;
    if (c < ' ' || c > '~' || (c == '"' && !escaped)) return false;
  }
  return true;
}

bool is_local_part(std::string_view text, bool international) {
  if (text.size() > kLocalPartBytesMax) return false;
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    return is_quoted_content(text.substr(1, text.size() - 2), international);
  }
  return all_parts(text, '.', [&](std::string_view atom) {
    return !atom.empty() && std::ranges::all_of(atom, [&](char c) { return is_atom_character(c, international); });
  });
}

bool is_address_literal(std::string_view text) {
  constexpr std::string_view kTag = "ipv6:";
  if (starts_with(text, kTag)) return is_ipv6(text.substr(kTag.size()));
  return is_ipv4(text);
}

bool is_mailbox(std::string_view text, bool international) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || !is_local_part(text.substr(0, at), international)) return false;
  const std::string_view domain = text.substr(at + 1);
  if (domain.size() >= 2 && domain.front() == '[' && domain.back() == ']') {
    return is_address_literal(domain.substr(1, domain.size() - 2));
  }
  return is_domain(domain, international);
}

bool is_octet(std::string_view text) {
  if (text.empty() || text.size() > 3 || (text.size() > 1 && text.front() == '0')) return false;
  int value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return false;
    value = value * 10 + (c - '0');
  }
  return value <= 255;
}

}  // namespace

bool is_hostname(std::string_view text) { return is_domain(text, false); }
bool is_email(std::string_view text) { return is_mailbox(text, false); }
bool is_idn_email(std::string_view text) { return is_mailbox(text, true); }

bool is_ipv4(std::string_view text) {
  return std::ranges::count(text, '.') == 3 &&
         all_parts(text, '.', [](std::string_view part) { return is_octet(part); });
}

bool is_ipv6(std::string_view text) {
  constexpr std::size_t kLongest = 45;  // eight groups, the last two as an IPv4 address
  constexpr int kGroups = 8;
  if (text.size() > kLongest) return false;
  int groups = 0;
  bool compressed = false;
  std::size_t at = 0;
  if (text.starts_with("::")) {
    compressed = true;
    at = 2;
    if (at == text.size()) return true;
  }
  while (groups < kGroups) {
    std::size_t end = at;
    while (end < text.size() && is_hex(text[end])) ++end;
    if (end < text.size() && text[end] == '.') {
      groups += 2;
      return is_ipv4(text.substr(at)) && (compressed ? groups < kGroups : groups == kGroups);
    }
    if (end == at || end - at > 4) return false;
    ++groups;
    if (end == text.size()) return compressed ? groups < kGroups : groups == kGroups;
    if (text[end] != ':') return false;
    at = end + 1;
    if (at < text.size() && text[at] == ':') {
      if (compressed) return false;
      compressed = true;
      if (++at == text.size()) return groups < kGroups;
    }
  }
  return false;
}

}  // namespace assay::schema

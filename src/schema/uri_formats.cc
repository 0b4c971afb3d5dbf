#include <algorithm>
#include <array>
#include <cstdint>

#include "schema/ascii.h"
#include "schema/format_matchers.h"

namespace assay::schema {
namespace {

// RFC 3987, section 2.2.
bool is_ucschar(char32_t c) {
  if (c < 0xA0) return false;
  if (c <= 0xFFFF) return c <= 0xD7FF || (c >= 0xF900 && c <= 0xFDCF) || (c >= 0xFDF0 && c <= 0xFFEF);
  return (c & 0xFFFFU) <= 0xFFFD && c <= 0xEFFFD && (c < 0xE0000 || c >= 0xE1000);
}

bool is_private(char32_t c) {
  return (c >= 0xE000 && c <= 0xF8FF) || (c >= 0xF0000 && c <= 0x10FFFD && (c & 0xFFFFU) <= 0xFFFD);
}

bool is_percent_triplet(std::string_view text, std::size_t at) {
  return at + 2 < text.size() && is_hex(text[at + 1]) && is_hex(text[at + 2]);
}

enum class Script : bool { Uri, Iri };

// What a component may hold besides unreserved characters, sub-delims and percent triplets (RFC 3986, appendix A).
using Extras = std::uint8_t;
constexpr Extras kPlain = 1;
constexpr Extras kColon = 2;
constexpr Extras kAt = 4;
constexpr Extras kSlash = 8;
constexpr Extras kQuestion = 16;

constexpr auto kCharacters = [] {
  std::array<Extras, 256> table{};
  for (unsigned c = 0; c < 128; ++c) {
    const char character = static_cast<char>(c);
    if (is_alphanumeric(character) || is_one_of(character, "-._~!$&'()*+,;=")) table[c] = kPlain;
  }
  table[':'] = kColon;
  table['@'] = kAt;
  table['/'] = kSlash;
  table['?'] = kQuestion;
  return table;
}();

bool is_component(std::string_view text, Extras extras, Script script, bool private_allowed = false) {
  const auto allowed = static_cast<Extras>(kPlain | extras);
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if ((kCharacters[static_cast<unsigned char>(c)] & allowed) != 0) {
      ++at;
    } else if (c == '%') {
      if (!is_percent_triplet(text, at)) return false;
      at += 3;
    } else {
      if (is_ascii(c) || script == Script::Uri) return false;
      const char32_t code_point = next_code_point(text, at);
      if (!is_ucschar(code_point) && !(private_allowed && is_private(code_point))) return false;
    }
  }
  return true;
}

bool is_scheme(std::string_view text) {
  return !text.empty() && is_alpha(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || is_one_of(c, "+-."); });
}

bool is_ip_future(std::string_view text) {
  if (text.empty() || to_lower(text.front()) != 'v') return false;
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot < 2 || dot + 1 == text.size()) return false;
  const std::string_view address = text.substr(dot + 1);
  return std::ranges::all_of(text.substr(1, dot - 1), is_hex) && address.find('%') == std::string_view::npos &&
         is_component(address, kColon, Script::Uri);
}

bool is_port(std::string_view text) { return std::ranges::all_of(text, is_digit); }

bool is_authority(std::string_view text, Script script) {
  if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    if (!is_component(text.substr(0, at), kColon, script)) return false;
    text.remove_prefix(at + 1);
  }
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    const std::string_view literal = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    return (is_ipv6(literal) || is_ip_future(literal)) &&
           (rest.empty() || (rest.front() == ':' && is_port(rest.substr(1))));
  }
  const std::size_t colon = text.find(':');
  return is_component(text.substr(0, colon), 0, script) &&
         (colon == std::string_view::npos || is_port(text.substr(colon + 1)));
}

// Everything behind the scheme.
bool is_hierarchical_part(std::string_view text, Script script) {
  if (const std::size_t hash = text.find('#'); hash != std::string_view::npos) {
    if (!is_component(text.substr(hash + 1), kColon | kAt | kSlash | kQuestion, script)) return false;
    text = text.substr(0, hash);
  }
  if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
    if (!is_component(text.substr(mark + 1), kColon | kAt | kSlash | kQuestion, script, true)) return false;
    text = text.substr(0, mark);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const std::size_t slash = std::min(text.find('/'), text.size());
    if (!is_authority(text.substr(0, slash), script)) return false;
    text.remove_prefix(slash);
  }
  return is_component(text, kColon | kAt | kSlash, script);
}

bool is_absolute_or_relative(std::string_view text, Script script, bool relative_allowed) {
  const auto delimiter =
      static_cast<std::size_t>(std::ranges::find_if(text, [](char c) { return is_one_of(c, ":/?#"); }) - text.begin());
  const bool has_colon_first = delimiter < text.size() && text[delimiter] == ':';
  // A colon in the first segment can only end a scheme (RFC 3986, section 4.2).
  if (has_colon_first)
    return is_scheme(text.substr(0, delimiter)) && is_hierarchical_part(text.substr(delimiter + 1), script);
  return relative_allowed && is_hierarchical_part(text, script);
}

bool is_variable_name(std::string_view text) {
  bool after_dot = true;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '.') {
      if (after_dot) return false;
      after_dot = true;
      ++at;
      continue;
    }
    after_dot = false;
    if (text[at] == '%') {
      if (!is_percent_triplet(text, at)) return false;
      at += 3;
      continue;
    }
    if (!is_alphanumeric(text[at]) && text[at] != '_') return false;
    ++at;
  }
  return !after_dot;
}

bool is_variable(std::string_view text) {
  constexpr std::size_t kPrefixDigitsMax = 4;
  if (text.ends_with('*')) return is_variable_name(text.substr(0, text.size() - 1));
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return is_variable_name(text);
  const std::string_view prefix = text.substr(colon + 1);
  return is_variable_name(text.substr(0, colon)) && !prefix.empty() && prefix.size() <= kPrefixDigitsMax &&
         prefix.front() != '0' && std::ranges::all_of(prefix, is_digit);
}

bool is_expression(std::string_view text) {
  if (!text.empty() && is_one_of(text.front(), "+#./;?&=,!@|")) text.remove_prefix(1);
  for (;;) {
    const std::size_t comma = text.find(',');
    if (!is_variable(text.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

bool is_uri(std::string_view text) { return is_absolute_or_relative(text, Script::Uri, false); }
bool is_uri_reference(std::string_view text) { return is_absolute_or_relative(text, Script::Uri, true); }
bool is_iri(std::string_view text) { return is_absolute_or_relative(text, Script::Iri, false); }
bool is_iri_reference(std::string_view text) { return is_absolute_or_relative(text, Script::Iri, true); }

bool is_uri_template(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '{') {
      const std::size_t end = text.find('}', at);
      if (end == std::string_view::npos || !is_expression(text.substr(at + 1, end - at - 1))) return false;
      at = end + 1;
    } else if (c == '%') {
      if (!is_percent_triplet(text, at)) return false;
      at += 3;
    } else if (is_ascii(c)) {
      if (c <= ' ' || c == 0x7F || is_one_of(c, "\"<>\\^`|}")) return false;
      ++at;
    } else {
      const char32_t code_point = next_code_point(text, at);
      if (!is_ucschar(code_point) && !is_private(code_point)) return false;
    }
  }
  return true;
}

}  // namespace assay::schema

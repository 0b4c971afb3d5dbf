#include "store/params.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::store {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// The length of the valid UTF-8 sequence that `text` begins with, 0 where it begins with none (RFC 3629, table of
// well-formed sequences). U+0000 counts as none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&text](std::size_t index) -> unsigned {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0U;
  };
  const auto continues = [&byte](std::size_t index) { return (byte(index) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first == 0) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) > 0x9F;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && byte(1) < 0x90;
    const bool beyond = first == 0xF4 && byte(1) > 0x8F;
    return continues(1) && continues(2) && continues(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

// The code unit of a \uXXXX escape at the beginning of `json`.
std::optional<unsigned> escaped_unit(std::string_view json) {
  if (json.size() < 6 || json[0] != '\\' || json[1] != 'u') return std::nullopt;
  unsigned unit = 0;
  for (const char digit : json.substr(2, 4)) {
    unit <<= 4U;
    if (digit >= '0' && digit <= '9')
      unit += static_cast<unsigned>(digit - '0');
    else if (digit >= 'a' && digit <= 'f')
      unit += static_cast<unsigned>(digit - 'a' + 10);
    else if (digit >= 'A' && digit <= 'F')
      unit += static_cast<unsigned>(digit - 'A' + 10);
    else
      return std::nullopt;
  }
  return unit;
}

bool is_high_surrogate(unsigned unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low_surrogate(unsigned unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

}  // namespace

std::string storable_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const auto is_plain = [](char byte) { return static_cast<signed char>(byte) > 0; };  // ASCII but U+0000
    const auto run = std::find_if_not(text.begin(), text.end(), is_plain) - text.begin();
    clean.append(text.substr(0, static_cast<std::size_t>(run)));
    text.remove_prefix(static_cast<std::size_t>(run));
    if (text.empty()) break;
    const std::size_t length = sequence_length(text);
    clean.append(length == 0 ? kReplacement : text.substr(0, length));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return clean;
}

std::string storable_json(std::string_view json) {
  std::string clean = storable_text(json);
  // Backslashes stand only inside strings, and each begins an escape.
  std::size_t at = clean.find('\\');
  while (at != std::string::npos) {
    const std::string_view rest = std::string_view(clean).substr(at);
    const auto unit = escaped_unit(rest);
    std::size_t length = unit ? 6 : 2;
    if (unit && is_high_surrogate(*unit)) {
      const auto next = escaped_unit(rest.substr(6));
      if (next && is_low_surrogate(*next)) length = 12;
    }
    if (unit && length == 6 && (*unit == 0 || is_high_surrogate(*unit) || is_low_surrogate(*unit))) {
      clean.replace(at, 6, "\\ufffd");
    }
    at = clean.find('\\', at + length);
  }
  return clean;
}

Params& Params::null() {
  values_.emplace_back();
  return *this;
}

Params& Params::text(std::string_view value) {
  values_.emplace_back(storable_text(value));
  return *this;
}

Params& Params::json(std::string_view value) {
  values_.emplace_back(storable_json(value));
  return *this;
}

Params& Params::integer(std::int64_t value) {
  values_.emplace_back(fmt::to_string(value));
  return *this;
}

Params& Params::boolean(bool value) {
  values_.emplace_back(value ? "t" : "f");
  return *this;
}

Params& Params::uuid(const Uuid& value) {
  values_.emplace_back(value.to_string());
  return *this;
}

Params& Params::integers(std::span<const std::int64_t> values) {
  values_.emplace_back(fmt::format("{{{}}}", fmt::join(values, ",")));
  return *this;
}

Params& Params::uuids(std::span<const Uuid> values) {
  std::string list = "{";
  for (const Uuid& value : values) {
    if (list.size() > 1) list += ',';
    list += value.to_string();
  }
  list += '}';
  values_.emplace_back(std::move(list));
  return *this;
}

std::vector<const char*> Params::pointers() const {
  std::vector<const char*> pointers;
  pointers.reserve(values_.size());
  for (const auto& value : values_) pointers.push_back(value ? value->c_str() : nullptr);
  return pointers;
}

}  // namespace assay::store

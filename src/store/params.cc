#include "store/params.h"

#include <fmt/format.h>

#include "chat/content.h"

namespace assay::store {

namespace {

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

std::string storable_json(std::string_view json) {
  std::string clean = chat::storable_text(json);
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
  values_.emplace_back(chat::storable_text(value));
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

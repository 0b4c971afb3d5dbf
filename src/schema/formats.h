#pragma once
// The formats that are assertions: hand-written matchers, each linear in the text. They apply to strings alone.
#include <span>
#include <string>
#include <string_view>

namespace assay::schema {

struct FormatInfo {
  std::string_view name;
  std::string_view source;                 // the rule that decides
  std::string_view example;                // one string that fits
  bool (*matches)(std::string_view text);  // Requires: valid UTF-8
};

[[nodiscard]] std::span<const FormatInfo> formats();
[[nodiscard]] const FormatInfo* find_format(std::string_view name);
// Their names, for messages: `date, time, ...`.
[[nodiscard]] const std::string& format_names();

}  // namespace assay::schema

#pragma once
// The formats that are assertions: hand-written matchers, each linear in the text. They apply to strings alone.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace assay::schema {

struct FormatInfo {
  std::string_view name;
  std::string_view source;                 // the rule that decides
  std::string_view example;                // one string that fits
  bool (*matches)(std::string_view text);  // Requires: valid UTF-8
  std::uint32_t units_per_16_bytes = 4;    // of work, at most
  std::size_t bytes_max = 1 << 20;         // a longer text is refused at a glance

  [[nodiscard]] std::uint64_t cost(std::size_t text_bytes) const {
    return 1 + std::min(text_bytes, bytes_max) * units_per_16_bytes / 16;
  }
};

[[nodiscard]] std::span<const FormatInfo> formats();
[[nodiscard]] const FormatInfo* find_format(std::string_view name);
// Their names, for messages: `date, time, ...`.
[[nodiscard]] const std::string& format_names();

}  // namespace assay::schema

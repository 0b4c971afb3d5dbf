#pragma once
// Reading other people's JSON: absent, null and of another kind are all "not there".
#include <cstdint>
#include <optional>
#include <string_view>

#include "json/document.h"
#include "json/limits.h"
#include "providers/sse_parser.h"

namespace assay::providers {

// Of one event, or of a whole answer. The number of values bounds what its parsed form takes.
inline constexpr json::Caps kWireCaps{.bytes_max = kEventBytesMax, .depth_max = 128, .values_max = 200'000};
inline constexpr std::string_view kWhiteSpace = " \t\r\n";

[[nodiscard]] std::string_view trim(std::string_view text);

// A member that is there and is not null; `object` may be of any kind.
[[nodiscard]] std::optional<json::Value> present(json::Value object, std::string_view key);
// The same, of one kind.
[[nodiscard]] std::optional<json::Value> present(json::Value object, std::string_view key, json::Kind kind);
// Empty where it is no string.
[[nodiscard]] std::string_view text_of(json::Value object, std::string_view key);
// Servers write counts as integers, some as 12.0; nonsense is no count.
[[nodiscard]] std::optional<std::int64_t> count_of(json::Value object, std::string_view key);

}  // namespace assay::providers

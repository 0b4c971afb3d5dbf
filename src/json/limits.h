#pragma once
// The caps of the raw boundary, all in one place (contract: docs/structured-output.md, "The raw JSON boundary").
#include <cstddef>
#include <limits>

namespace assay::json {

inline constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

struct Caps {
  std::size_t bytes_max = kUnlimited;
  std::size_t depth_max = 64;             // containers around a value
  std::size_t values_max = kUnlimited;    // scalars and containers
  std::size_t elements_max = kUnlimited;  // of any one array
};

inline constexpr Caps kSchemaCaps{.bytes_max = 16 * 1024, .depth_max = 16};
inline constexpr Caps kOutputCaps{.bytes_max = 64 * 1024, .depth_max = 32, .values_max = 4096, .elements_max = 256};
inline constexpr Caps kArgumentsCaps{.bytes_max = 80 * 1024, .depth_max = 33, .values_max = 4097, .elements_max = 256};
inline constexpr Caps kMetadataCaps{.bytes_max = 512 * 1024, .depth_max = 33};
// A request body of the API: wide enough for everything the stricter caps then judge member by member.
inline constexpr Caps kBodyCaps{.bytes_max = 256 * 1024, .depth_max = 64};
// One event or reply of a provider, one stored message.
inline constexpr Caps kEnvelopeCaps{.bytes_max = 16 * 1024 * 1024, .depth_max = 128};

// What the parsed form can address; a Caps beyond it means this.
inline constexpr std::size_t kDocumentBytesMax = (std::size_t{1} << 28) - 1;
// Spare capacity behind a text that lets the parser read in blocks.
inline constexpr std::size_t kPaddingBytes = 64;

inline constexpr std::size_t kNumberLiteralBytesMax = 128;
inline constexpr int kExponentMagnitudeMax = 1024;

}  // namespace assay::json

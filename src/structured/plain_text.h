#pragma once
// Bounded text for messages and fields: whatever comes in, what goes out is fit to store, log and show.
#include <cstddef>
#include <string>
#include <string_view>

namespace assay::structured {

// Valid UTF-8 of at most `bytes_max` bytes, cut between code points; what is no UTF-8 becomes U+FFFD, each run of white
// space and control characters one space.
[[nodiscard]] std::string plain_text(std::string_view text, std::size_t bytes_max);

}  // namespace assay::structured

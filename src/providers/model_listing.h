#pragma once
// What `GET {base}/models` answers: OpenAI's `{"data":[{"id"}]}`, or the same under `models`, or a bare array; entries
// by `id`, else by `name`.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "providers/failure.h"

namespace assay::providers {

// The ids of a listing that are kept, and the bytes of a listing and of one id that are read.
inline constexpr std::size_t kListedModelsMax = 10'000;
inline constexpr std::size_t kModelListingBytesMax = 8 * 1024 * 1024;
inline constexpr std::size_t kModelIdBytesMax = 512;

// In the provider's order, without repetitions of neighbours, empty and over-long ids.
[[nodiscard]] Result<std::vector<std::string>, Failure> parse_model_listing(std::string_view provider,
                                                                            std::string body);

}  // namespace assay::providers

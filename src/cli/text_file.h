#pragma once
// Reading the small files that a command line names.
#include <string>

#include "base/result.h"

namespace assay::cli {

inline constexpr std::size_t kTextFileBytesMax = 64 * 1024 * 1024;

// The sentence for a file that cannot be opened; errno says why.
std::string unreadable(const std::string& path);

// The whole file, or a sentence that names it and says what to do.
Result<std::string, std::string> read_text_file(const std::string& path);

}  // namespace assay::cli

#include "cli/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace assay::cli {

std::string unreadable(const std::string& path) {
  return fmt::format("cannot read {}: {}", path, std::strerror(errno));
}

Result<std::string, std::string> read_text_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char block[65'536];
  while (file && (file.read(block, sizeof block) || file.gcount() > 0)) {
    text.append(block, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kTextFileBytesMax) {
      return fail(fmt::format("{} is over {} MiB: too large to read whole", path, kTextFileBytesMax >> 20));
    }
  }
  if (!file.eof()) return fail(unreadable(path));
  return text;
}

}  // namespace assay::cli

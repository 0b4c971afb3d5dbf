#include "json/compact.h"

#include <algorithm>

namespace assay::json {

std::string compact(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++i;
      continue;
    }
    const std::size_t begin = i++;
    if (c == '"') {
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      i = std::min(i + 1, text.size());
    } else {
      while (i < text.size() && text[i] > ' ' && text[i] != '"') ++i;
    }
    out.append(text, begin, i - begin);
  }
  return out;
}

}  // namespace assay::json

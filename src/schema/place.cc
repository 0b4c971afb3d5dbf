#include "schema/place.h"

#include <vector>

#include "schema/excerpt.h"

namespace assay::schema {
namespace {

// Returns false once the text has outgrown the limit.
bool append_step(const Place& step, std::size_t bytes_max, std::string& text) {
  text += '/';
  if (step.index != Place::kNoIndex) {
    text += std::to_string(step.index);
    return text.size() <= bytes_max;
  }
  for (const char c : step.key) {
    if (text.size() > bytes_max) return false;
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text.size() <= bytes_max;
}

}  // namespace

std::string pointer_to(const Place& place, std::size_t bytes_max) {
  std::vector<const Place*> steps;
  for (const Place* step = &place; step->parent != nullptr; step = step->parent) steps.push_back(step);
  std::string text;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (!append_step(**step, bytes_max, text)) return excerpt(text, bytes_max);
  }
  return text;
}

}  // namespace assay::schema

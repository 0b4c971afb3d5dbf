#include "base/log.h"

namespace assay::log {
namespace {

Sink& installed_sink() {
  static Sink sink;
  return sink;
}

}  // namespace

void set_sink(Sink sink) { installed_sink() = std::move(sink); }

void write(Level level, std::string_view event, std::initializer_list<Field> fields) {
  if (const Sink& sink = installed_sink()) sink(level, event, std::span(fields.begin(), fields.size()));
}

}  // namespace assay::log

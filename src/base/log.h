#pragma once
// The logging front: rooms state events with named fields; the process installs one sink (cli/ does, with spdlog).
// An event is a constant sentence; what varies goes into fields. Keys, tokens, prompts and instance values are
// never fields. Without a sink nothing is written.
#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace assay::log {

enum class Level { Debug, Info, Warning, Error };

struct Field {
  std::string_view name;
  std::string value;

  Field(std::string_view field_name, std::string field_value) : name(field_name), value(std::move(field_value)) {}
  Field(std::string_view field_name, std::string_view field_value) : name(field_name), value(field_value) {}
  Field(std::string_view field_name, const char* field_value) : name(field_name), value(field_value) {}
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Field(std::string_view field_name, Number field_value) : name(field_name), value(fmt::to_string(field_value)) {}
};

using Sink = std::function<void(Level, std::string_view event, std::span<const Field>)>;

// Requires: called before other threads log (at start-up, or in a test's set-up).
void set_sink(Sink sink);

void write(Level level, std::string_view event, std::initializer_list<Field> fields);

inline void debug(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::Debug, event, fields);
}
inline void info(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::Info, event, fields);
}
inline void warning(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::Warning, event, fields);
}
inline void error(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::Error, event, fields);
}

}  // namespace assay::log

#pragma once
// The process's log: one line an event on stderr, as text (`event key=value`) or as a JSON object.
#include <span>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"

namespace assay::cli {

enum class LogFormat { Text, Json };

// Pure: the line without its end. `time` is RFC 3339.
std::string log_line(LogFormat format, std::string_view time, log::Level level, std::string_view event,
                     std::span<const log::Field> fields);

// Level names: debug, info, warning, error. Anything else is refused.
Result<log::Level, std::string> parse_log_level(std::string_view name);

// Installs the sink for the rest of the process's life. Lines appear in order, whole, from any thread.
void install_log_sink(LogFormat format, log::Level threshold);

}  // namespace assay::cli

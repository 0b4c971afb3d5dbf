#include "cli/log_sink.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/time.h"
#include "json/writer.h"

namespace assay::cli {
namespace {

std::string_view level_name(log::Level level) {
  switch (level) {
    case log::Level::Debug:
      return "debug";
    case log::Level::Info:
      return "info";
    case log::Level::Warning:
      return "warning";
    case log::Level::Error:
      return "error";
  }
  return "unknown";
}

bool is_bare(std::string_view value) {
  return !value.empty() && std::ranges::none_of(value, [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == '\\' || c == '\x7F';
  });
}

std::string quoted(std::string_view value) {
  json::Writer out;
  out.string(value);
  return out.take();
}

}  // namespace

std::string log_line(LogFormat format, std::string_view time, log::Level level, std::string_view event,
                     std::span<const log::Field> fields) {
  if (format == LogFormat::Json) {
    json::Writer out;
    out.begin_object().member("time", time).member("level", level_name(level)).member("event", event);
    for (const log::Field& field : fields) out.member(field.name, field.value);
    out.end_object();
    return out.take();
  }
  std::string line = fmt::format("{} {:7} {}", time, level_name(level), event);
  for (const log::Field& field : fields) {
    line += fmt::format(" {}={}", field.name, is_bare(field.value) ? field.value : quoted(field.value));
  }
  return line;
}

Result<log::Level, std::string> parse_log_level(std::string_view name) {
  for (const log::Level level : {log::Level::Debug, log::Level::Info, log::Level::Warning, log::Level::Error}) {
    if (name == level_name(level)) return level;
  }
  return fail(fmt::format("'{}' is no log level: use debug, info, warning or error", name));
}

void install_log_sink(LogFormat format, log::Level threshold) {
  auto logger = spdlog::stderr_logger_mt("assay");
  logger->set_pattern("%v");
  logger->set_level(spdlog::level::trace);
  logger->flush_on(spdlog::level::trace);
  log::set_sink([=](log::Level level, std::string_view event, std::span<const log::Field> fields) {
    if (level < threshold) return;
    logger->info(log_line(format, to_rfc3339(system_clock().wall_now()), level, event, fields));
  });
}

}  // namespace assay::cli

#include "api/metrics.h"

#include <fmt/format.h>

#include <iterator>

namespace assay::api {

void MetricsText::begin(std::string_view name, Type type, std::string_view help) {
  name_ = name;
  fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                 type == Type::Counter ? "counter" : "gauge");
}

void MetricsText::sample(std::int64_t value, Labels labels) {
  text_ += name_;
  char separator = '{';
  for (const auto& [label, text] : labels) {
    fmt::format_to(std::back_inserter(text_), "{}{}=\"{}\"", separator, label, text);
    separator = ',';
  }
  if (separator == ',') text_ += '}';
  fmt::format_to(std::back_inserter(text_), " {}\n", value);
}

void RequestCounts::write(MetricsText& text) const {
  text.begin("assay_http_requests_total", MetricsText::Type::Counter, "Answered requests by endpoint and status.");
  for (const auto& [key, count] : counts_) {
    text.sample(count, {{"endpoint", key.first}, {"status", fmt::to_string(key.second)}});
  }
}

}  // namespace assay::api

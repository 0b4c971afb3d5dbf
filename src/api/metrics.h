#pragma once
// Counts of the process in the Prometheus text format (version 0.0.4). Pure.
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "api/router.h"

namespace assay::api {

// Families one after another: `begin` a family, then its samples. Label values are constants of the program or counts,
// never what a client wrote.
class MetricsText {
 public:
  enum class Type { Counter, Gauge };
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  void begin(std::string_view name, Type type, std::string_view help);
  void sample(std::int64_t value, Labels labels = {});
  [[nodiscard]] std::string take() { return std::exchange(text_, {}); }

 private:
  std::string text_;
  std::string name_;
};

// Answered requests by endpoint and status.
class RequestCounts {
 public:
  void add(std::string_view endpoint, int status) { ++counts_[{endpoint, status}]; }
  void write(MetricsText& text) const;

 private:
  std::map<std::pair<std::string_view, int>, std::int64_t> counts_;  // keys: name_of(Endpoint) and `none`
};

}  // namespace assay::api

#pragma once
// A configured model, as the API lists it and the worker calls it.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/uuid.h"

namespace assay::chat {

struct ModelDescription {
  ModelConfigId id;
  std::string provider;  // the configured provider's name
  std::string model;     // the name on the wire
  std::string display_name;
  std::int64_t context_limit = 0;  // tokens; 0: not known
  std::optional<std::int64_t> max_output_tokens;
  std::vector<std::string> reasoning_efforts;  // accepted values, weakest first; empty: none
  bool enabled = true;
  bool is_default = false;
  friend bool operator==(const ModelDescription&, const ModelDescription&) = default;
};

}  // namespace assay::chat

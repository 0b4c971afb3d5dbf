#pragma once
// Makes a JSON value that fits a Draft-07 schema: the answer of the simulator to a structured request that no script
// covers. It tries variants and lets the validator judge each, so what it returns fits; some satisfiable schemas are
// beyond it. Pure and deterministic.
#include <optional>
#include <string>
#include <string_view>

namespace assay::sim {

// JSON text within the caps of an output value; nothing where the schema does not compile or no variant fits.
[[nodiscard]] std::optional<std::string> generate_value(std::string_view schema_text);

}  // namespace assay::sim

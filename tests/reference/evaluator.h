#pragma once
// Draft-07 as the contract has it, straight from the specification: recursive, naive, no compiling, nothing shared with
// the product but the parsed document. It judges the product in tests.
#include <optional>

#include "json/document.h"

namespace assay::reference {

// Nothing where the schema uses what is not written here: formats, patterns that std::regex does not read.
[[nodiscard]] std::optional<bool> is_valid(json::Value schema, json::Value instance);

// JSON Schema's equality.
[[nodiscard]] bool is_equal(json::Value left, json::Value right);

}  // namespace assay::reference

#pragma once
// JSON Schema's equality of instances (Draft-07 core, section 4.2.3): numbers by their exact value, objects whatever
// the order of their keys.
#include <cstdint>

#include "json/document.h"

namespace assay::json {

// Near-linear time, no native recursion. Of a lenient document, members of the same key are compared in document order,
// and number literals beyond the strict limits equal only themselves.
[[nodiscard]] bool equal(const Value& left, const Value& right);

// Equal for equal values; linear time, no native recursion.
[[nodiscard]] std::uint64_t hash(const Value& value, std::uint64_t seed);

}  // namespace assay::json

#pragma once
// Schemas and values that validators tend to disagree about: numbers that no double holds, names that a language
// reserves, lengths beyond the basic plane, equality in every spelling. All of it within the vocabulary of the
// contract.
#include <string>
#include <vector>

#include "base/random.h"
#include "json/document.h"

namespace assay::differential {

// JSON text; not always within the limits on schemas.
[[nodiscard]] std::string nasty_schema(SeededRandom& random, int depth);

// Values near what the schema speaks of: one that fits where such a one is found, changed ones, and random ones. All
// pass the raw boundary.
[[nodiscard]] std::vector<std::string> nasty_instances(SeededRandom& random, json::Value schema, std::size_t count);

}  // namespace assay::differential

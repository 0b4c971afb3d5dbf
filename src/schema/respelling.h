#pragma once
// The same schema in the words of a newer dialect, for readers that know no Draft-07. Validation never uses it.
#include <string>
#include <string_view>

namespace assay::schema {

// Valid Draft 2020-12 with exactly the same meaning: tuples become `prefixItems` with `items` for the rest,
// `dependencies` become `dependentRequired` and `dependentSchemas`, `additionalItems` without a tuple (it asserts
// nothing) goes. Everything else keeps its order, and literal data and numbers their spelling; white space goes.
// Requires: the text of a compiled schema; the root's `$schema` is left out.
[[nodiscard]] std::string respelled_2020_12(std::string_view schema_text);

}  // namespace assay::schema

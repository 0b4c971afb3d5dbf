#pragma once
// The steps between the raw boundary and compiling, each over the whole schema before the next begins.
#include <optional>
#include <string>
#include <string_view>

#include "json/document.h"
#include "schema/place.h"
#include "schema/schema.h"

namespace assay::schema {

// Where in a schema, within the bounds of a Refusal.
[[nodiscard]] std::string refusal_pointer(const Place& place);

// Cuts the detail to its limit.
[[nodiscard]] Refusal make_refusal(RefusalCode code, std::string pointer, std::string_view detail);

// Vocabulary, then resource limits: keywords, dialect and formats at schema positions; nodes, branches, patterns.
// Literal data (const, enum, default, examples) is not looked into. Requires: the depth of kSchemaCaps.
[[nodiscard]] std::optional<Refusal> screen(json::Value schema);

// What the Draft-07 meta-schema demands of every keyword's value, and of what stands at schema positions.
[[nodiscard]] std::optional<Refusal> check_against_metaschema(json::Value schema);

}  // namespace assay::schema

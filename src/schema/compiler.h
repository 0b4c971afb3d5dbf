#pragma once
// From an admitted schema to a program.
#include <memory>

#include "base/result.h"
#include "json/document.h"
#include "schema/program.h"
#include "schema/schema.h"

namespace assay::schema {

// Requires: the document has passed the screen, the limits and the meta-schema. What is left to refuse is patterns.
[[nodiscard]] Result<std::shared_ptr<const Program>, Refusal> compile_program(json::Document document);

}  // namespace assay::schema

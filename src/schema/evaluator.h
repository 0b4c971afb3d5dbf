#pragma once
// Runs a program over a value of a document, without building strings, within the work budget.
#include "json/document.h"
#include "schema/program.h"
#include "schema/schema.h"

namespace assay::schema {

[[nodiscard]] Outcome check_value(const Program& program, json::Value value);
[[nodiscard]] Verdict explain_value(const Program& program, json::Value value);

}  // namespace assay::schema

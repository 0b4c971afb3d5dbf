#include "schema/schema.h"

#include <algorithm>

#include "json/error.h"
#include "json/pointer.h"
#include "schema/admission.h"
#include "schema/compiler.h"
#include "schema/evaluator.h"
#include "schema/excerpt.h"
#include "schema/limits.h"

namespace assay::schema {

std::string_view code_name(RefusalCode code) {
  switch (code) {
    case RefusalCode::RawJson:
      return "raw_json";
    case RefusalCode::UnsupportedDialect:
      return "unsupported_dialect";
    case RefusalCode::UnsupportedKeyword:
      return "unsupported_keyword";
    case RefusalCode::UnknownKeyword:
      return "unknown_keyword";
    case RefusalCode::UnsupportedFormat:
      return "unsupported_format";
    case RefusalCode::TooManyNodes:
      return "too_many_nodes";
    case RefusalCode::TooManyBranches:
      return "too_many_branches";
    case RefusalCode::BranchesTooDeep:
      return "branches_too_deep";
    case RefusalCode::TooManyPatternProperties:
      return "too_many_pattern_properties";
    case RefusalCode::PatternTooLong:
      return "pattern_too_long";
    case RefusalCode::InvalidSchema:
      return "invalid_schema";
    case RefusalCode::UnsupportedPattern:
      return "unsupported_pattern";
    case RefusalCode::PatternTooComplex:
      return "pattern_too_complex";
  }
  return "unknown";
}

Result<Schema, Refusal> Schema::compile(std::string_view schema_text) {
  auto document = json::Document::parse(std::string(schema_text), json::kSchemaCaps);
  if (!document) {
    const json::Error& error = document.error();
    return fail(Refusal{.code = RefusalCode::RawJson,
                        .code_name = std::string(json::code_name(error.code)),
                        .detail = json::describe(error),
                        .pointer = excerpt(json::locate(schema_text, error.offset), kRefusalPointerBytesMax),
                        .offset = error.offset});
  }
  if (auto refusal = screen(document->root())) return fail(std::move(*refusal));
  if (auto refusal = check_against_metaschema(document->root())) return fail(std::move(*refusal));
  auto program = compile_program(std::move(*document));
  if (!program) return fail(std::move(program.error()));
  return Schema(std::move(*program));
}

Verdict Schema::validate(json::Value instance) const { return explain_value(*program_, instance); }

Outcome Schema::check(json::Value instance) const { return check_value(*program_, instance); }

std::string_view Schema::text() const { return program_->document.text(); }

std::size_t Schema::memory_bytes() const {
  // A schema's document, nodes and tables are a small multiple of its text; RE2's patterns may grow to their budget.
  constexpr std::size_t kBytesPerTextByte = 16;
  constexpr std::size_t kBytesPerProgram = 4096;
  std::size_t bytes = kBytesPerProgram + text().size() * kBytesPerTextByte;
  for (const auto& [expression, pattern] : program_->patterns) bytes += pattern.memory_bytes();
  const auto grown =
      std::min(static_cast<std::int64_t>(program_->re2_patterns) * kPatternMemoryBytesMax, kPatternsMemoryBytesMax);
  return bytes + static_cast<std::size_t>(grown);
}

}  // namespace assay::schema

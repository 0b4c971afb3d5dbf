// Any schema over any value: the compiled validator against the naive one of tests/reference. Input: the schema, a zero
// byte, the instance. Patterns are pattern_fuzz's: std::regex, which judges here, may run for ever.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "json/document.h"
#include "schema/schema.h"
#include "tests/reference/evaluator.h"

namespace json = assay::json;
namespace schema = assay::schema;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = input.find('\0');
  if (zero == std::string_view::npos) return 0;
  const std::string schema_text(input.substr(0, zero));
  if (schema_text.find("attern") != std::string::npos) return 0;
  const auto instance = json::Document::parse(std::string(input.substr(zero + 1)), json::kOutputCaps);
  if (!instance) return 0;
  const auto compiled = schema::Schema::compile(schema_text);
  if (!compiled) return 0;
  const schema::Verdict verdict = compiled->validate(instance->root());
  if (verdict.outcome == schema::Outcome::BudgetExceeded) return 0;
  const auto document = json::Document::parse(schema_text, json::kSchemaCaps);
  const auto expected = assay::reference::is_valid(document->root(), instance->root());
  ASSAY_CHECK(!expected || *expected == (verdict.outcome == schema::Outcome::Valid), "the two validators agree");
  return 0;
}

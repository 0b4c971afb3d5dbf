// Any schema and any value: refused or judged within the limits, and twice alike.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "json/document.h"
#include "json/limits.h"
#include "schema/schema.h"

using assay::json::Document;
using assay::schema::Outcome;
using assay::schema::Schema;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\0');
  const auto schema = Schema::compile(input.substr(0, end));
  if (!schema) {
    ASSAY_CHECK(schema.error().detail.size() <= assay::schema::kDetailBytesMax, "a refusal is short");
    return 0;
  }
  if (end == std::string_view::npos) return 0;
  const auto value = Document::parse(std::string(input.substr(end + 1)), assay::json::kOutputCaps);
  if (!value) return 0;
  const auto verdict = schema->validate(value->root());
  ASSAY_CHECK(verdict.issues.size() <= assay::schema::kIssuesMax, "few issues");
  ASSAY_CHECK((verdict.outcome == Outcome::Invalid) == !verdict.issues.empty(), "an invalid value has issues");
  ASSAY_CHECK(assay::schema::feedback(verdict.issues).size() <= assay::schema::kFeedbackBytesMax, "short feedback");
  if (verdict.outcome != Outcome::BudgetExceeded) {
    const Outcome alone = schema->check(value->root());
    ASSAY_CHECK(alone == verdict.outcome || alone == Outcome::BudgetExceeded, "the verdict does not depend on issues");
  }
  return 0;
}

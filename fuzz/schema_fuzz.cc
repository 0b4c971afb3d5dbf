// Admission of any text as a schema, and validation of any value by what is admitted. Input: the schema, a zero byte,
// the instance; without a zero byte, the text is both.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "json/document.h"
#include "schema/schema.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_refusal(const assay::schema::Refusal& refusal) {
  require(!refusal.code_name.empty() && !refusal.detail.empty());
  require(refusal.detail.size() <= assay::schema::kDetailBytesMax);
}

void check_verdict(const assay::schema::Schema& schema, assay::json::Value instance) {
  using assay::schema::Outcome;
  const assay::schema::Verdict verdict = schema.validate(instance);
  require(verdict.outcome == schema.check(instance));
  require(verdict.issues.empty() == (verdict.outcome != Outcome::Invalid));
  require(verdict.issues.size() <= assay::schema::kIssuesMax);
  for (const assay::schema::Issue& issue : verdict.issues) {
    require(issue.path.size() <= assay::schema::kIssuePathBytesMax);
    require(!issue.rule.empty() && issue.rule.size() <= assay::schema::kIssueRuleBytesMax);
  }
  require(assay::schema::feedback(verdict.issues).size() <= assay::schema::kFeedbackBytesMax);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = input.find('\0');
  const std::string_view schema_text = input.substr(0, zero);
  const std::string_view instance_text = zero == std::string_view::npos ? schema_text : input.substr(zero + 1);
  const auto schema = assay::schema::Schema::compile(schema_text);
  if (!schema) {
    check_refusal(schema.error());
    return 0;
  }
  require(schema->text() == schema_text);
  const auto instance = assay::json::Document::parse(std::string(instance_text), assay::json::kOutputCaps);
  if (instance) check_verdict(*schema, instance->root());
  return 0;
}

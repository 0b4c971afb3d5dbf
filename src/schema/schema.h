#pragma once
// JSON Schema Draft-07 as the structured-output contract has it: inline, exact, bounded (docs/schema-support.md).
//
// Nothing here opens a file or a socket or resolves a name: there is no loader. A schema that is not understood in full
// is refused, never half applied; annotations do nothing.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/document.h"

namespace assay::schema {

enum class RefusalCode : std::uint8_t {
  RawJson,                   // the raw JSON boundary refused the text; `code_name` is then json's own code
  UnsupportedDialect,        // `$schema` names something else than Draft-07
  UnsupportedKeyword,        // references, identifiers, definitions, vocabulary keywords, `$schema` below the root
  UnknownKeyword,            // a member at a schema position that Draft-07 does not know
  UnsupportedFormat,         // a `format` outside the documented list
  TooManyNodes,              // limits.h: kNodesMax
  TooManyBranches,           // kBranchesMax
  BranchesTooDeep,           // kBranchNestingMax
  TooManyPatternProperties,  // kPatternPropertiesMax
  PatternTooLong,            // kPatternBytesMax
  InvalidSchema,             // the Draft-07 meta-schema refuses it
  UnsupportedPattern,        // no RE2 expression
  PatternTooComplex,         // kPatternPositionsMax, kPatternsMemoryBytesMax
};

// The public name of a code, snake_case and stable: `unknown_keyword`. RawJson is `raw_json`.
[[nodiscard]] std::string_view code_name(RefusalCode code);

inline constexpr std::size_t kDetailBytesMax = 512;
inline constexpr std::size_t kRefusalPointerBytesMax = 512;

struct Refusal {
  RefusalCode code;
  std::string code_name;   // of json's error where the raw boundary refused, else code_name(code)
  std::string detail;      // one sentence to act on: which keyword, which limit; may name the schema's own keywords
  std::string pointer;     // JSON pointer into the schema, at most kRefusalPointerBytesMax; empty is the whole schema
  std::size_t offset = 0;  // byte offset into the text, for what the raw boundary refused
};

inline constexpr std::size_t kIssuesMax = 4;
inline constexpr std::size_t kIssuePathBytesMax = 160;
inline constexpr std::size_t kIssueRuleBytesMax = 160;
inline constexpr std::size_t kFeedbackBytesMax = 1024;

// One broken rule. Never holds an instance value; the path holds the instance's keys.
struct Issue {
  std::string path;  // JSON pointer into the instance; one over the limit is cut and ends in an ellipsis
  std::string
      rule;  // the keyword and what it asks for: `type: expected object, not a string`, `required: missing "command"`
  friend auto operator<=>(const Issue&, const Issue&) = default;
};

enum class Outcome : std::uint8_t {
  Valid,
  Invalid,
  BudgetExceeded,  // the explicit work budget (limits.h: kWorkUnitsMax) ended first: no verdict
};

struct Verdict {
  Outcome outcome;
  std::vector<Issue> issues;     // of an Invalid one: the kIssuesMax smallest distinct, in order
  std::uint64_t work_units = 0;  // that the outcome took, of kWorkUnitsMax
};

struct Program;

// An immutable compiled schema: cheap to copy, safe to share between threads.
class Schema {
 public:
  // The whole order of the contract: raw boundary (kSchemaCaps), vocabulary screen, resource limits, meta-validation,
  // compile. A boolean is a schema too.
  static Result<Schema, Refusal> compile(std::string_view schema_text);

  // Requires: a value of a strict document. Deterministic.
  [[nodiscard]] Verdict validate(json::Value instance) const;
  // The outcome alone, without the cost of issues.
  [[nodiscard]] Outcome check(json::Value instance) const;
  [[nodiscard]] bool is_valid(json::Value instance) const { return check(instance) == Outcome::Valid; }

  // Exactly the text that was compiled.
  [[nodiscard]] std::string_view text() const;
  // What this program holds in memory, roughly: for bounded caches.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  explicit Schema(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

// What a model is told: path and rule of each issue, never an instance value; at most kFeedbackBytesMax bytes of
// one-line-per-issue text, the same for the same issues.
[[nodiscard]] std::string feedback(std::span<const Issue> issues);

}  // namespace assay::schema

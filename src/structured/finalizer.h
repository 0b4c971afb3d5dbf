#pragma once
// The reserved tool that carries a structured answer, and the screening of its arguments (contract: "The finalizer in
// the ordinary tool loop"). Texts for the model are fixed, at most kModelTextBytesMax, and never hold instance values.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/document.h"
#include "json/error.h"
#include "schema/schema.h"
#include "structured/parts.h"

namespace assay::structured {

inline constexpr std::string_view kFinalizerName = "coder_structured_output";
inline constexpr std::string_view kOutputMember = "output";
inline constexpr std::size_t kModelTextBytesMax = 1024;
// What stands for arguments that were not kept.
inline constexpr std::string_view kArgumentsPlaceholder = "{}";

// The arguments schema: the caller's schema byte for byte under `output`, its root `$schema` member alone left out.
// Requires: `schema_text` is a compiled schema's text.
[[nodiscard]] std::string finalizer_parameters(std::string_view schema_text);
// The same in valid Draft 2020-12 with exactly the same meaning, for wires that take nothing else.
[[nodiscard]] std::string finalizer_parameters_2020_12(std::string_view schema_text);
// The tool's description: when to call it, and what the caller said of the format.
[[nodiscard]] std::string finalizer_description(const RequestPart& request);
// The one system instruction of a governed turn.
[[nodiscard]] std::string_view finalizer_instruction();
[[nodiscard]] std::string_view acknowledgement();

enum class RejectionKind {
  InvalidJson,       // the raw boundary
  TooLarge,          // a cap of the raw boundary
  WrongEnvelope,     // not exactly the one member `output`
  SchemaIssues,      // the value does not satisfy the schema
  TooComplex,        // validation ended by its work budget
  Truncated,         // the answer was cut: it must be shorter
  Incomplete,        // the provider never said that the answer is complete
  BatchedWithCalls,  // the finalizer beside other calls
  SeveralFinalizers,
  BesideProviderCalls,  // beside calls that the provider executed itself: a separate step is asked for
  TextOnly,
};

struct Rejection {
  RejectionKind kind = RejectionKind::InvalidJson;
  std::string feedback;  // for the model
  friend bool operator==(const Rejection&, const Rejection&) = default;
};

// The fixed text of a kind that needs no further facts. Requires: neither InvalidJson, TooLarge nor SchemaIssues.
[[nodiscard]] Rejection rejection_of(RejectionKind kind);
[[nodiscard]] Rejection rejection_of(const json::Error& error);
[[nodiscard]] Rejection rejection_of(std::span<const schema::Issue> issues);

struct ScreenedArguments {
  std::string output;    // JSON text, white space between tokens dropped
  json::Document value;  // of the same text
};

// Raw boundary with json::kArgumentsCaps, exactly the one member `output`, then json::kOutputCaps on its text as sent.
Result<ScreenedArguments, Rejection> screen_arguments(std::string_view raw_arguments);

// Screening, then the schema.
Result<std::string, Rejection> accept_arguments(std::string_view raw_arguments, const schema::Schema& schema);

}  // namespace assay::structured

#pragma once
// The stored form of the internal parts: one JSON object each, `{"type": "...", "structured_output_data": {...}}`.
//
// Data of a request: `request_id`, `name`, `description` (absent: none), `schema`. Of a control: `request_id`, `kind`
// (`candidate`, `rejection`, `invalidation`) and by kind `value`, `finish`, `answers_finalizer`. Of an outcome:
// `request_id`, `status` and by status `value` or `error` {`code`, `message`}. Schema and values are JSON strings of
// exact text.
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/document.h"
#include "json/writer.h"
#include "structured/parts.h"

namespace assay::structured {

inline constexpr std::string_view kRequestType = "structured-output-request";
inline constexpr std::string_view kControlType = "structured-output-control";
inline constexpr std::string_view kOutcomeType = "structured-output-outcome";
inline constexpr std::string_view kDataMember = "structured_output_data";

// Whether a part's `type` is reserved for the server (every `structured-output-*`): clients may not send it.
[[nodiscard]] bool is_internal_type(std::string_view type);

void encode(const RequestPart& part, json::Writer& out);
void encode(const ControlPart& part, json::Writer& out);
void encode(const OutcomePart& part, json::Writer& out);

// Strict: exact keys at both levels, json::kMetadataCaps, names, ids, sizes and what belongs to which kind. A value is
// JSON within json::kOutputCaps; a candidate comes from a step that finished with ToolUse. Schemas are not compiled
// here.
Result<RequestPart, Corruption> decode_request(const json::Value& part);
Result<ControlPart, Corruption> decode_control(const json::Value& part);
Result<OutcomePart, Corruption> decode_outcome(const json::Value& part);

}  // namespace assay::structured

// The request field as a client may send it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "structured/response_format.h"

namespace structured = assay::structured;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto format = structured::parse_response_format(std::string_view(reinterpret_cast<const char*>(data), size));
  if (format) {
    ASSAY_CHECK((format->kind == structured::FormatKind::JsonSchema) == format->json_schema.has_value(), "one kind");
    ASSAY_CHECK(!format->json_schema || format->json_schema->compiled.has_value(), "what is accepted is compiled");
    return 0;
  }
  ASSAY_CHECK(!format.error().empty() && format.error().size() <= structured::kFaultsMax, "some faults, not too many");
  for (const structured::FieldFault& fault : format.error()) {
    ASSAY_CHECK(fault.field.starts_with("response_format"), "a fault names its field");
    ASSAY_CHECK(!fault.detail.empty() && fault.detail.size() <= structured::kFaultDetailBytesMax, "and says what");
  }
  return 0;
}

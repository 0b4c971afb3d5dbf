#pragma once
// Internationalised host names (IDNA2008): whether a label in its ASCII form stands for a valid one.
#include <string_view>

namespace assay::schema {

// An A-label (RFC 5890, section 2.3.2.1): Punycode (RFC 3492) of a label that RFC 5891, section 5.4, accepts,
// contextual rules (RFC 5892, appendix A) included. The Bidi rule and normalisation are not checked. Requires: a label
// of at most 63 letters, digits and hyphens that begins with xn-- in either case.
[[nodiscard]] bool is_a_label(std::string_view label);

}  // namespace assay::schema

#pragma once
// One matcher per format (formats.h has the table). Each reads the text once and requires valid UTF-8.
#include <string_view>

namespace assay::schema {

// RFC 3339, section 5.6; a second of 60 only where UTC is at 23:59 (of the last day of a month, where there is a date).
[[nodiscard]] bool is_date(std::string_view text);
[[nodiscard]] bool is_time(std::string_view text);
[[nodiscard]] bool is_date_time(std::string_view text);

// RFC 1123, section 2.1, at most 253 bytes; labels that begin with xn-- are valid A-labels (idna.h).
[[nodiscard]] bool is_hostname(std::string_view text);
// RFC 5321, section 4.1.2 (Mailbox); the internationalised one by RFC 6531, section 3.3.
[[nodiscard]] bool is_email(std::string_view text);
[[nodiscard]] bool is_idn_email(std::string_view text);
// RFC 2673, section 3.2 (dotted-quad), without leading zeros.
[[nodiscard]] bool is_ipv4(std::string_view text);
// RFC 4291, section 2.2, without a zone.
[[nodiscard]] bool is_ipv6(std::string_view text);

// RFC 3986 and RFC 3987.
[[nodiscard]] bool is_uri(std::string_view text);
[[nodiscard]] bool is_uri_reference(std::string_view text);
[[nodiscard]] bool is_iri(std::string_view text);
[[nodiscard]] bool is_iri_reference(std::string_view text);
// RFC 6570, section 2, with erratum 6937 (the apostrophe is a literal).
[[nodiscard]] bool is_uri_template(std::string_view text);

// RFC 4122, section 3, in either case.
[[nodiscard]] bool is_uuid(std::string_view text);
// RFC 6901, section 3, and draft-handrews-relative-json-pointer-01, section 3.
[[nodiscard]] bool is_json_pointer(std::string_view text);
[[nodiscard]] bool is_relative_json_pointer(std::string_view text);

}  // namespace assay::schema

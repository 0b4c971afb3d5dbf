#include "schema/formats.h"

#include <algorithm>
#include <array>

#include "schema/format_matchers.h"

namespace assay::schema {
namespace {

constexpr std::uint32_t kHostUnits = 32;  // labels may have to be decoded
constexpr std::size_t kHostBytes = 1024;
constexpr std::uint32_t kSlowUnits = 8;

constexpr std::array kFormats = {
    FormatInfo{"date", "RFC 3339", "2024-02-29", is_date},
    FormatInfo{"time", "RFC 3339", "13:45:00Z", is_time},
    FormatInfo{"date-time", "RFC 3339", "2024-02-29T13:45:00Z", is_date_time},
    FormatInfo{"hostname", "RFC 1123, RFC 5891", "www.example.com", is_hostname, kHostUnits, kHostBytes},
    FormatInfo{"email", "RFC 5321", "joe@example.com", is_email, kHostUnits, kHostBytes},
    FormatInfo{"idn-email", "RFC 6531", "joe@example.com", is_idn_email, kHostUnits},
    FormatInfo{"ipv4", "RFC 2673", "192.0.2.1", is_ipv4},
    FormatInfo{"ipv6", "RFC 4291", "2001:db8::1", is_ipv6},
    FormatInfo{"uri", "RFC 3986", "https://example.com/a?b#c", is_uri},
    FormatInfo{"uri-reference", "RFC 3986", "/a?b#c", is_uri_reference},
    FormatInfo{"iri", "RFC 3987", "https://example.com/a?b#c", is_iri},
    FormatInfo{"iri-reference", "RFC 3987", "/a?b#c", is_iri_reference},
    FormatInfo{"uri-template", "RFC 6570", "https://example.com/{id}", is_uri_template, kSlowUnits},
    FormatInfo{"uuid", "RFC 4122", "123e4567-e89b-12d3-a456-426614174000", is_uuid},
    FormatInfo{"json-pointer", "RFC 6901", "/a/0", is_json_pointer, kSlowUnits},
    FormatInfo{"relative-json-pointer", "draft-handrews-relative-json-pointer-01", "1/a", is_relative_json_pointer,
               kSlowUnits},
};

}  // namespace

std::span<const FormatInfo> formats() { return kFormats; }

const FormatInfo* find_format(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, &FormatInfo::name);
  return found == kFormats.end() ? nullptr : &*found;
}

const std::string& format_names() {
  static const std::string names = [] {
    std::string joined;
    for (const FormatInfo& format : kFormats) {
      if (!joined.empty()) joined += ", ";
      joined += format.name;
    }
    return joined;
  }();
  return names;
}

}  // namespace assay::schema

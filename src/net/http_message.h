#pragma once
// HTTP messages as plain values, and the text around them: targets, header fields, heads of responses. Pure.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace assay::net {

// Header fields in order, repeated ones kept. Names compare without case (RFC 9110 section 5.1).
class HttpHeaders {
 public:
  struct Field {
    std::string name;
    std::string value;
  };

  HttpHeaders() {}
  HttpHeaders(std::initializer_list<Field> fields) : fields_(fields) {}

  void add(std::string name, std::string value) {
    fields_.push_back(Field{.name = std::move(name), .value = std::move(value)});
  }
  // The first field of that name. Lifetime of the view: until the headers change.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return get(name).has_value(); }
  [[nodiscard]] std::size_t count(std::string_view name) const;
  // Whether any field of that name lists the token, without case (`Connection: keep-alive, Upgrade`).
  [[nodiscard]] bool lists(std::string_view name, std::string_view token) const;

  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }

 private:
  std::vector<Field> fields_;
};

// Whether the field can stand in a message: the name a token, the value without CR, LF and NUL (RFC 9110 section 5).
bool is_well_formed(const HttpHeaders::Field& field);

bool equals_ignoring_case(std::string_view left, std::string_view right);

// The decoded parts of a request target (RFC 9112 section 3.2: origin, absolute or asterisk form).
struct HttpTarget {
  std::string path;  // percent-decoded, without the query; "*" for the asterisk form
  std::vector<std::pair<std::string, std::string>> query;
};

// Nothing where the form is another one, an escape is malformed, or a decoded part holds NUL.
std::optional<HttpTarget> parse_http_target(std::string_view target);

// Percent-decodes; in queries `+` is a space. Nothing on a malformed escape.
enum class Plus : std::uint8_t { Literal, Space };
std::optional<std::string> percent_decode(std::string_view text, Plus plus);

// The standard phrase of a status, "Unknown" for one without.
std::string_view reason_phrase(int status);

// The status line and the fields with the empty line that ends them. Nothing where a field is not well-formed.
std::optional<std::string> format_response_head(int status, const HttpHeaders& headers);

// The Date field's form (RFC 9110 section 5.6.7): Sun, 06 Nov 1994 08:49:37 GMT.
std::string format_http_date(WallTime instant);

}  // namespace assay::net

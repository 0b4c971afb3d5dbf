#include "net/http_message.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::net {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char small = lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// RFC 9110 section 5.6.2.
bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [kMarks](char c) {
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || kMarks.contains(c);
  });
}

// Calls `visit` with each piece between separators.
template <class Visit>
void split(std::string_view text, char separator, Visit visit) {
  while (true) {
    const auto end = text.find(separator);
    visit(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::string> decode_part(std::string_view text, Plus plus) {
  auto decoded = percent_decode(text, plus);
  if (decoded && decoded->contains('\0')) return std::nullopt;
  return decoded;
}

}  // namespace

bool is_well_formed(const HttpHeaders::Field& field) {
  return is_token(field.name) && field.value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos;
}

bool equals_ignoring_case(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, lower, lower);
}

std::optional<std::string_view> HttpHeaders::get(std::string_view name) const {
  for (const Field& field : fields_) {
    if (equals_ignoring_case(field.name, name)) return field.value;
  }
  return std::nullopt;
}

std::size_t HttpHeaders::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(fields_, [name](const Field& field) { return equals_ignoring_case(field.name, name); }));
}

bool HttpHeaders::lists(std::string_view name, std::string_view token) const {
  bool found = false;
  for (const Field& field : fields_) {
    if (!equals_ignoring_case(field.name, name)) continue;
    split(field.value, ',', [&](std::string_view item) { found = found || equals_ignoring_case(trim(item), token); });
  }
  return found;
}

std::optional<std::string> percent_decode(std::string_view text, Plus plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::Space) {
      decoded.push_back(' ');
    } else if (text[i] != '%') {
      decoded.push_back(text[i]);
    } else {
      const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      decoded.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return decoded;
}

std::optional<HttpTarget> parse_http_target(std::string_view target) {
  HttpTarget parsed;
  if (target == "*") {
    parsed.path = "*";
    return parsed;
  }
  target = target.substr(0, target.find('#'));
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!equals_ignoring_case(target.substr(0, scheme.size()), scheme)) continue;
    const auto authority_end = target.find_first_of("/?", scheme.size());
    target = authority_end == std::string_view::npos ? std::string_view("/") : target.substr(authority_end);
    break;
  }
  const auto question = target.find('?');
  std::string_view path = target.substr(0, question);
  if (path.empty() && question == 0) path = "/";
  if (!path.starts_with('/')) return std::nullopt;
  auto decoded_path = decode_part(path, Plus::Literal);
  if (!decoded_path) return std::nullopt;
  parsed.path = std::move(*decoded_path);
  if (question == std::string_view::npos) return parsed;

  bool well_formed = true;
  split(target.substr(question + 1), '&', [&](std::string_view pair) {
    if (pair.empty()) return;
    const auto equals = pair.find('=');
    auto name = decode_part(pair.substr(0, equals), Plus::Space);
    auto value = decode_part(equals == std::string_view::npos ? "" : pair.substr(equals + 1), Plus::Space);
    well_formed = well_formed && name && value;
    if (well_formed) parsed.query.emplace_back(std::move(*name), std::move(*value));
  });
  if (!well_formed) return std::nullopt;
  return parsed;
}

std::string_view reason_phrase(int status) {
  switch (status) {
      // clang-format off
    case 100: return "Continue";
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 402: return "Payment Required";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 416: return "Range Not Satisfiable";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 425: return "Too Early";
    case 426: return "Upgrade Required";
    case 428: return "Precondition Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 499: return "Client Closed Request";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    case 529: return "Overloaded";
    default: return "Unknown";
      // clang-format on
  }
}

std::optional<std::string> format_response_head(int status, const HttpHeaders& headers) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", status, reason_phrase(status));
  for (const HttpHeaders::Field& field : headers.fields()) {
    if (!is_well_formed(field)) return std::nullopt;
    head.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  head.append("\r\n");
  return head;
}

std::string format_http_date(WallTime instant) {
  constexpr std::string_view kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(instant - day));
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[std::chrono::weekday(day).c_encoding()],
                     static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
                     static_cast<int>(date.year()), time.hours().count(), time.minutes().count(),
                     time.seconds().count());
}

}  // namespace assay::net

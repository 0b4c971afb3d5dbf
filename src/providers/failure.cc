#include "providers/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "json/limits.h"
#include "json/member.h"

namespace assay::providers {
namespace {

constexpr json::Caps kErrorCaps{.bytes_max = kErrorBodyBytesMax, .depth_max = 64};

// What an error says of itself, before judgement. Everything in here is the provider's and stays inside this file.
struct Signal {
  int status = 0;  // 0: the error came inside a 2xx answer
  std::string code;
  std::string type;
  std::string text;  // lower case, cut at kErrorTextBytesMax
};

struct Kind {
  std::string_view name;
  std::string_view message;
  bool retryable = false;
  bool context_overflow = false;
};

constexpr Kind kOverloaded{"overloaded", "The model provider is overloaded.", true};
constexpr Kind kUsageLimit{"usage_limit", "The model provider refused the request: its quota or credit is used up."};
constexpr Kind kAuth{"auth", "The model provider rejected the credentials."};
constexpr Kind kRateLimit{"rate_limit", "The model provider limits the rate of requests.", true};
constexpr Kind kTimeout{"timeout", "The model provider did not answer in time.", true};
constexpr Kind kUnavailable{"timeout", "The model provider is not available at the moment.", true};
constexpr Kind kOverflow{"config", "The conversation is too long for the model's context.", false, true};
constexpr Kind kTooLarge{"config", "The model provider refused the request as too large."};
constexpr Kind kRefusedSchema{"config", "The model provider refused a tool's schema."};
constexpr Kind kUnknownModel{"config", "The model provider does not know the model or the address."};
constexpr Kind kInvalidRequest{"config", "The model provider refused the request as invalid."};
constexpr Kind kRedirected{"config", "The model provider's address redirects elsewhere; redirects are not followed."};
constexpr Kind kConflict{"generic", "The model provider reported a conflict.", true};
constexpr Kind kServerError{"generic", "The model provider failed internally.", true};
constexpr Kind kContentFilter{"content_filter", "The model provider's content filter refused the request."};
constexpr Kind kUnexplained{"generic", "The model provider reported an error."};

// Codes and types that may be shown: they are constants of public APIs and say nothing about a request.
constexpr std::array<std::string_view, 63> kKnownCodes = {
    "abort",
    "api_error",
    "authentication_error",
    "bad_request",
    "badrequesterror",
    "billing_error",
    "bio_policy",
    "content_filter",
    "content_policy_violation",
    "context_length_exceeded",
    "data_residency_mismatch",
    "empty_image_file",
    "enforced_spend_limit_reached",
    "exceed_context_size_error",
    "failed_to_download_image",
    "image_content_policy_violation",
    "image_file_not_found",
    "image_file_too_large",
    "image_parse_error",
    "image_too_large",
    "image_too_small",
    "insufficient_quota",
    "internal_error",
    "internal_server_error",
    "internalservererror",
    "invalid_api_key",
    "invalid_base64_image",
    "invalid_function_parameters",
    "invalid_image",
    "invalid_image_format",
    "invalid_image_mode",
    "invalid_image_url",
    "invalid_prompt",
    "invalid_request",
    "invalid_request_error",
    "invalid_schema",
    "invalid_type",
    "invalid_value",
    "misalignment_policy_violation",
    "missing_required_parameter",
    "model_not_found",
    "not_found",
    "not_found_error",
    "notfounderror",
    "overloaded",
    "overloaded_error",
    "permission_denied",
    "permission_error",
    "rate_limit_error",
    "rate_limit_exceeded",
    "request_too_large",
    "resource_exhausted",
    "server_error",
    "service_unavailable",
    "slow_down",
    "timeout",
    "timeout_error",
    "unavailable_error",
    "unknown_parameter",
    "unsupported_image_media_type",
    "unsupported_parameter",
    "unsupported_value",
    "vector_store_timeout",
};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool equals_ignoring_case(std::string_view left, std::string_view right) { return lower(left) == lower(right); }

std::string excerpt(std::string_view text) { return lower(text.substr(0, kErrorTextBytesMax)); }

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// A code may be a string, or a number: then it is an HTTP status.
void read_code(json::Value code, Signal& signal) {
  if (code.is(json::Kind::String)) {
    signal.code = excerpt(code.string());
  } else if (code.is(json::Kind::Number) && signal.status == 0) {
    const auto number = parse_number(code.number());
    if (number && *number >= 100 && *number < 600) signal.status = static_cast<int>(*number);
  }
}

// Shapes in the wild: {"message","type","code"}, the same inside "error", {"error":"text"}, {"detail":...},
// {"details":{"error_code"}}, an array around any of them.
void read_error_value(json::Value value, Signal& signal, int depth = 0) {
  constexpr int kDepthMax = 4;
  if (depth > kDepthMax) return;
  if (value.is(json::Kind::String)) {
    if (signal.text.empty()) signal.text = excerpt(value.string());
    return;
  }
  if (value.is(json::Kind::Array)) {
    if (value.size() > 0) read_error_value(*value.elements().begin(), signal, depth + 1);
    return;
  }
  if (!value.is(json::Kind::Object)) return;
  if (const auto message = json::string_member(value, "message")) signal.text = excerpt(*message);
  if (const auto type = json::string_member(value, "type")) signal.type = excerpt(*type);
  if (const auto code = value.find("code")) read_code(*code, signal);
  if (const auto details = value.find("details"); details && details->is(json::Kind::Object)) {
    if (const auto code = json::string_member(*details, "error_code")) signal.code = excerpt(*code);
  }
  for (const std::string_view key : {"error", "detail"}) {
    if (const auto inner = value.find(key)) read_error_value(*inner, signal, depth + 1);
  }
}

bool says(const Signal& signal, std::span<const std::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](std::string_view phrase) { return signal.text.find(phrase) != std::string::npos; });
}

bool is_named(const Signal& signal, std::span<const std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return signal.code == name || signal.type == name; });
}

template <std::size_t Size>
using Words = std::array<std::string_view, Size>;

constexpr Words<2> kOverflowCodes = {"context_length_exceeded", "exceed_context_size_error"};
constexpr Words<11> kOverflowPhrases = {"maximum context length",
                                        "context length exceeded",
                                        "exceeds the context",
                                        "exceeds the available context",
                                        "context size has been exceeded",
                                        "context window",
                                        "prompt is too long",
                                        "input is too long",
                                        "input too long",
                                        "range of input length should be",
                                        "no user query found in messages"};
constexpr Words<2> kOverloadedCodes = {"overloaded_error", "overloaded"};
constexpr Words<1> kOverloadedPhrases = {"overloaded"};
constexpr Words<3> kUsageCodes = {"insufficient_quota", "billing_error", "enforced_spend_limit_reached"};
constexpr Words<5> kUsagePhrases = {"exceeded your current quota", "payment required", "credit balance",
                                    "insufficient credit", "billing"};
constexpr Words<4> kAuthCodes = {"authentication_error", "invalid_api_key", "permission_error", "permission_denied"};
constexpr Words<4> kAuthPhrases = {"invalid api key", "incorrect api key", "unauthorized", "authentication failed"};
constexpr Words<4> kRateCodes = {"rate_limit_error", "rate_limit_exceeded", "slow_down", "resource_exhausted"};
constexpr Words<3> kRatePhrases = {"rate limit", "rate-limit", "too many requests"};
constexpr Words<3> kSchemaCodes = {"invalid_function_parameters", "invalid_schema", "invalid_json_schema"};
constexpr Words<5> kSchemaPhrases = {"failed to parse grammar", "failed to initialize samplers",
                                     "json schema is invalid", "invalid schema", "array schema missing items"};
constexpr Words<3> kModelCodes = {"model_not_found", "not_found_error", "notfounderror"};
constexpr Words<3> kModelPhrases = {"model not found", "does not exist", "unknown model"};
constexpr Words<6> kFilterCodes = {"content_filter", "content_policy_violation",       "invalid_prompt",
                                   "bio_policy",     "image_content_policy_violation", "misalignment_policy_violation"};
// Of a request whose answer had already begun.
constexpr Words<14> kRequestCodes = {"data_residency_mismatch",  "empty_image_file",
                                     "failed_to_download_image", "image_file_not_found",
                                     "image_file_too_large",     "image_parse_error",
                                     "image_too_large",          "image_too_small",
                                     "invalid_base64_image",     "invalid_image",
                                     "invalid_image_format",     "invalid_image_mode",
                                     "invalid_image_url",        "unsupported_image_media_type"};
constexpr Words<3> kTimeoutCodes = {"timeout", "timeout_error", "vector_store_timeout"};
constexpr Words<4> kTimeoutPhrases = {"timed out", "timeout", "connection reset", "broken pipe"};
constexpr Words<7> kServerCodes = {"server_error",        "internal_error",    "internal_server_error", "api_error",
                                   "internalservererror", "unavailable_error", "service_unavailable"};
constexpr Words<2> kServerPhrases = {"server error", "internal error"};

Kind kind_of_status(int status) {
  switch (status) {
    case 408:
    case 504:
      return kTimeout;
    case 502:
    case 503:
      return kUnavailable;
    case 409:
      return kConflict;
    case 404:
      return kUnknownModel;
    case 413:
      return kTooLarge;
    default:
      break;
  }
  if (status >= 500) return kServerError;
  if (status >= 400) return kInvalidRequest;
  if (status >= 300) return kRedirected;
  return kUnexplained;
}

Kind classify(const Signal& signal) {
  const bool is_server_side = signal.status == 0 || signal.status >= 500;
  const bool may_explain = signal.status != 401 && signal.status != 429;
  if (is_named(signal, kOverflowCodes) || (may_explain && says(signal, kOverflowPhrases))) return kOverflow;
  if (signal.status == 529 || is_named(signal, kOverloadedCodes) ||
      (is_server_side && says(signal, kOverloadedPhrases))) {
    return kOverloaded;
  }
  if (signal.status == 402 || is_named(signal, kUsageCodes) || says(signal, kUsagePhrases)) return kUsageLimit;
  if (is_named(signal, kFilterCodes)) return kContentFilter;
  if (signal.status == 401 || signal.status == 403 || is_named(signal, kAuthCodes)) return kAuth;
  if (signal.status == 429 || is_named(signal, kRateCodes)) return kRateLimit;
  if (is_named(signal, kSchemaCodes) || says(signal, kSchemaPhrases)) return kRefusedSchema;
  if (is_named(signal, kModelCodes) || (!is_server_side && says(signal, kModelPhrases))) return kUnknownModel;
  if (is_named(signal, kRequestCodes)) return kInvalidRequest;
  if (signal.status != 0) return kind_of_status(signal.status);
  if (says(signal, kAuthPhrases)) return kAuth;
  if (says(signal, kRatePhrases)) return kRateLimit;
  if (is_named(signal, kTimeoutCodes) || says(signal, kTimeoutPhrases)) return kTimeout;
  if (is_named(signal, kServerCodes) || says(signal, kServerPhrases)) return kServerError;
  return kUnexplained;
}

std::string detail_of(const Signal& signal) {
  std::string_view known;
  for (const std::string* name : {&signal.code, &signal.type}) {
    if (std::find(kKnownCodes.begin(), kKnownCodes.end(), *name) != kKnownCodes.end()) {
      known = *name;
      break;
    }
  }
  if (signal.status == 0) return std::string(known);
  return known.empty() ? fmt::format("HTTP {}", signal.status) : fmt::format("HTTP {}, {}", signal.status, known);
}

Failure make_failure(std::string_view provider, const Kind& kind, std::string detail, int status) {
  Failure failure;
  failure.error.message = kind.message;
  failure.error.detail = std::move(detail);
  failure.error.kind = kind.name;
  failure.error.provider = provider;
  failure.error.retryable = kind.retryable;
  if (status != 0) failure.error.status_code = status;
  failure.retryable = kind.retryable;
  failure.context_overflow = kind.context_overflow;
  return failure;
}

std::optional<std::string_view> find_header(std::span<const Header> headers, std::string_view name) {
  for (const Header& header : headers) {
    if (!equals_ignoring_case(header.name, name)) continue;
    std::string_view value = header.value;
    while (value.starts_with(' ')) value.remove_prefix(1);
    while (value.ends_with(' ')) value.remove_suffix(1);
    return value;
  }
  return std::nullopt;
}

std::optional<int> parse_digits(std::string_view text, std::size_t width) {
  if (text.size() != width || !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The one form that RFC 9110 5.6.7 lets senders use: Sun, 06 Nov 1994 08:49:37 GMT.
std::optional<WallTime> parse_http_date(std::string_view text) {
  constexpr std::string_view kShape = "Sun, 06 Nov 1994 08:49:37 GMT";
  constexpr Words<12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != kShape.size() || !text.ends_with(" GMT") || text.substr(3, 2) != ", ") return std::nullopt;
  const auto day = parse_digits(text.substr(5, 2), 2);
  const auto year = parse_digits(text.substr(12, 4), 4);
  const auto hour = parse_digits(text.substr(17, 2), 2);
  const auto minute = parse_digits(text.substr(20, 2), 2);
  const auto second = parse_digits(text.substr(23, 2), 2);
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  if (!day || !year || !hour || !minute || !second || month == kMonths.end()) return std::nullopt;
  const auto month_number = static_cast<unsigned>(month - kMonths.begin()) + 1;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(month_number),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second);
}

std::optional<Milliseconds> credible_wait(double wait_ms) {
  if (!(wait_ms > 0) || wait_ms > static_cast<double>(kRetryAfterCredible.count())) return std::nullopt;
  return std::min(Milliseconds(static_cast<std::int64_t>(std::ceil(wait_ms))), kRetryAfterMax);
}

std::optional<Milliseconds> read_retry_after(std::span<const Header> headers, WallTime now) {
  constexpr double kMsPerSecond = 1000;
  if (const auto text = find_header(headers, "retry-after-ms")) {
    if (const auto wait_ms = parse_number(*text)) return credible_wait(*wait_ms);
  }
  const auto text = find_header(headers, "retry-after");
  if (!text) return std::nullopt;
  if (const auto seconds = parse_number(*text)) return credible_wait(*seconds * kMsPerSecond);
  if (const auto date = parse_http_date(*text)) {
    return credible_wait(static_cast<double>(std::chrono::duration_cast<Milliseconds>(*date - now).count()));
  }
  return std::nullopt;
}

}  // namespace

Failure failure_from_response(std::string_view provider, int status, std::span<const Header> headers,
                              std::string_view body, WallTime now) {
  Signal signal;
  signal.status = status;
  std::string text(body.substr(0, kErrorBodyBytesMax));
  if (auto document = json::Document::parse(text, kErrorCaps, json::Dialect::Lenient)) {
    read_error_value(document->root(), signal);
  } else {
    signal.text = excerpt(text);
  }
  Failure failure = make_failure(provider, classify(signal), detail_of(signal), status);
  if (const auto advice = find_header(headers, "x-should-retry")) {
    if (equals_ignoring_case(*advice, "true")) failure.retryable = true;
    if (equals_ignoring_case(*advice, "false")) failure.retryable = false;
    failure.error.retryable = failure.retryable;
  }
  failure.retry_after = read_retry_after(headers, now);
  return failure;
}

Failure failure_from_error_value(std::string_view provider, json::Value error) {
  Signal signal;
  read_error_value(error, signal);
  Kind kind = classify(signal);
  // An answer that broke off without a reason that we know may well succeed next time.
  if (kind.name == kUnexplained.name && kind.message == kUnexplained.message) kind.retryable = true;
  return make_failure(provider, kind, detail_of(signal), signal.status);
}

Failure failure_from_transport(std::string_view provider, TransportFault fault) {
  const auto retryable = [&](std::string_view message) {
    return make_failure(provider, Kind{"timeout", message, true}, "", 0);
  };
  const auto final = [&](std::string_view kind, std::string_view message) {
    return make_failure(provider, Kind{kind, message}, "", 0);
  };
  switch (fault) {
    case TransportFault::Resolve:
      return retryable("The model provider's host name could not be resolved.");
    case TransportFault::Connect:
      return retryable("The model provider could not be reached.");
    case TransportFault::Tls:
      return final("config", "No trusted TLS connection to the model provider is possible.");
    case TransportFault::FirstByte:
      return retryable("The model provider did not begin to answer in time.");
    case TransportFault::Idle:
      return retryable("The model provider fell silent in the middle of its answer.");
    case TransportFault::Total:
      return retryable("The model provider's answer took too long in all.");
    case TransportFault::Cut:
      return retryable("The connection to the model provider ended in the middle of its answer.");
    case TransportFault::Canceled:
      return final("generic", "The model call was canceled.");
    case TransportFault::InvalidRequest:
      return final("config", "The provider's configuration does not make a valid request.");
  }
  return final("generic", kUnexplained.message);
}

Failure failure_from_protocol(std::string_view provider, ProtocolFault fault) {
  const auto retryable = [&](std::string_view kind, std::string_view message) {
    return make_failure(provider, Kind{kind, message, true}, "", 0);
  };
  switch (fault) {
    case ProtocolFault::NoTerminal:
      return retryable("timeout", "The model provider's answer ended before it was complete.");
    case ProtocolFault::Malformed:
      return retryable("generic", "The model provider sent an answer that is not of its protocol.");
    case ProtocolFault::Empty:
      return retryable("generic", "The model provider sent an empty answer.");
    case ProtocolFault::TooLarge:
      return make_failure(provider, Kind{"generic", "The model provider's answer is larger than this server takes."},
                          "", 0);
    case ProtocolFault::Aborted:
      return retryable("generic", "The model provider gave up its answer.");
    case ProtocolFault::UnroutableCall:
      return retryable("generic", "The model provider sent a tool call that cannot be told apart from others.");
  }
  return retryable("generic", kUnexplained.message);
}

Milliseconds backoff(std::int64_t attempt, std::optional<Milliseconds> retry_after, Random& random, Milliseconds base) {
  constexpr std::uint64_t kJitterSteps = 1024;
  Milliseconds wait = std::min(base, kBackoffMax);
  for (std::int64_t doubled = 1; doubled < attempt && wait < kBackoffMax; ++doubled) {
    wait = std::min(wait * 2, kBackoffMax);
  }
  const auto jitter = static_cast<std::int64_t>(random.below(kJitterSteps + 1));
  const Milliseconds own = wait - wait * jitter / (4 * static_cast<std::int64_t>(kJitterSteps));
  if (!retry_after) return own;
  const Milliseconds asked = std::clamp(*retry_after, Milliseconds::zero(), kRetryAfterMax);
  return std::max(own, asked + asked * jitter / (10 * static_cast<std::int64_t>(kJitterSteps)));
}

Milliseconds backoff(std::int64_t attempt, const Failure& failure, Random& random) {
  const bool is_overloaded = failure.error.kind == kOverloaded.name;
  return backoff(attempt, failure.retry_after, random, is_overloaded ? kBackoffOverloadedBase : kBackoffBase);
}

}  // namespace assay::providers

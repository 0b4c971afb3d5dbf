#pragma once
// Why a model call failed, sorted into what the turn does next. One table for every wire: the status, the provider's
// own code and, failing both, the wording decide (first match wins).
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/time.h"
#include "chat/chat.h"
#include "json/document.h"
#include "providers/config.h"

namespace assay::providers {

struct Failure {
  // Fixed sentences and, in `detail`, the HTTP status and a code from a positive list: nothing else that the provider
  // said, no credential, no URL.
  chat::ChatError error;
  bool retryable = false;
  std::optional<Milliseconds> retry_after;  // what the provider asked for, above zero, at most kRetryAfterMax
  bool context_overflow = false;            // the prompt does not fit the model's context
};

inline constexpr Milliseconds kRetryAfterMax{600'000};
// A wait beyond this is taken for nonsense and ignored.
inline constexpr Milliseconds kRetryAfterCredible{86'400'000};
// What is read of an error's body, and of one text in it.
inline constexpr std::size_t kErrorBodyBytesMax = 64 * 1024;
inline constexpr std::size_t kErrorTextBytesMax = 4 * 1024;

// An answer whose status is not 2xx. Header names compare without case. `now` is for dates in Retry-After.
[[nodiscard]] Failure failure_from_response(std::string_view provider, int status, std::span<const Header> headers,
                                            std::string_view body, WallTime now);

// The error object (or text) that a 2xx answer carried, whole or in an event.
[[nodiscard]] Failure failure_from_error_value(std::string_view provider, json::Value error);

enum class TransportFault {
  Resolve,         // the host's name
  Connect,         // refused, unreachable, timed out
  Tls,             // no trusted certificate, no common protocol: configuration
  FirstByte,       // no answer within the time for it
  Idle,            // a started answer fell silent
  Total,           // the attempt's whole time is over
  Cut,             // the connection ended inside the answer
  Canceled,        // we stopped it
  InvalidRequest,  // the configuration makes no request: bad URL, proxy or CA file
};
[[nodiscard]] Failure failure_from_transport(std::string_view provider, TransportFault fault);

enum class ProtocolFault {
  NoTerminal,      // a clean end without the signal that completes an answer
  Malformed,       // bytes that are not of this wire
  Empty,           // an answer without content and without a finish reason
  TooLarge,        // an event, a text or the number of calls went over its limit
  Aborted,         // the provider says that it gave up this answer
  UnroutableCall,  // argument bytes that belong to no known call, or a call without a name
};
[[nodiscard]] Failure failure_from_protocol(std::string_view provider, ProtocolFault fault);

inline constexpr Milliseconds kBackoffBase{1'000};
inline constexpr Milliseconds kBackoffOverloadedBase{4'000};
inline constexpr Milliseconds kBackoffMax{60'000};

// The wait after the `attempt`-th failure (from 1): base * 2^(attempt-1) up to kBackoffMax, less up to a quarter at
// random. A longer wait that the provider asked for wins, plus up to a tenth at random so that waiters spread.
[[nodiscard]] Milliseconds backoff(std::int64_t attempt, std::optional<Milliseconds> retry_after, Random& random,
                                   Milliseconds base = kBackoffBase);
// With the base that fits the failure.
[[nodiscard]] Milliseconds backoff(std::int64_t attempt, const Failure& failure, Random& random);

}  // namespace assay::providers

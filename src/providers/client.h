#pragma once
// Carries one attempt of a model call. Retries, budgets and what becomes of the events are the caller's.
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "chat/generated_step.h"
#include "chat/prompt.h"
#include "net/http_client.h"
#include "net/stop.h"
#include "net/task.h"
#include "providers/config.h"
#include "providers/failure.h"
#include "providers/wire.h"

namespace assay::providers {

// Of one answer, overhead included: about 300 bytes a token for the longest answers that models give.
inline constexpr std::size_t kAnswerBytesMax = 256 * 1024 * 1024;
// How long the body of an answer may go on behind the wire's own end: it ends the connection's reuse, not the answer.
inline constexpr Milliseconds kTrailTimeMax{200};
// How long the body of an error is waited for: the status has said most of it.
inline constexpr Milliseconds kErrorBodyTimeMax{5'000};

// Only on the loop thread. Lifetime: the HTTP client, the clock and each call's `provider` outlive the call.
class ModelClient {
 public:
  explicit ModelClient(net::HttpClient& http, const Clock& clock = system_clock()) : http_(&http), clock_(&clock) {}

  // Sends the prompt and reads the answer to its end. `on_event` runs on the loop thread while deltas arrive; after a
  // failure everything it was told belongs to no answer and must be discarded. When the token stops, the connection is
  // closed at once and the call returns a failure that is not retryable.
  net::Task<Result<chat::GeneratedStep, Failure>> generate(const ProviderConfig& provider, ModelSettings model,
                                                           chat::Prompt prompt, EventCallback on_event,
                                                           net::StopToken stop = net::StopToken());

  // The provider's model ids in its own order, by GET {base}/models.
  net::Task<Result<std::vector<std::string>, Failure>> list_models(const ProviderConfig& provider,
                                                                   net::StopToken stop = net::StopToken());

 private:
  net::HttpClient* http_;
  const Clock* clock_;
};

}  // namespace assay::providers

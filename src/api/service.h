#pragma once
// What the endpoints share: the services behind them, a decoded call, and how failures of other rooms become refusals.
#include <string>
#include <utility>
#include <vector>

#include "api/error.h"
#include "api/request.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "chat/effects.h"
#include "live/episode.h"
#include "live/stream.h"
#include "net/http_server.h"
#include "net/task.h"
#include "store/store.h"

namespace assay::api {

// From a request's arrival to its answer, streams aside: beyond it the database counts as away.
inline constexpr Milliseconds kRequestTimeout{20'000};

struct Services {
  store::Store& store;
  live::Episodes& episodes;
  const Clock& clock;
  Random& random;
  Offer offer;
  WallTime started_at{};
  live::StreamMetrics streams;

  [[nodiscard]] live::StreamSources stream_sources();
};

// A routed request of a known user.
struct Call {
  net::HttpRequest request;
  std::vector<std::string> parameters;
  store::User user;
  Deadline deadline = Deadline::never();
};

using Answer = Result<net::HttpReply, ApiError>;

net::HttpResponse json_response(int status, std::string body);
net::HttpResponse error_response(const ApiError& error);

// Sanitised: what went wrong inside is logged, not told.
ApiError error_of(const store::StoreError& error);
ApiError error_of(const chat::Refusal& refusal);
ApiError error_of(const store::TransitError& error);

// The chat named by the call's first parameter. Somebody else's chat is as unknown as one that does not exist.
// Lifetime: the services outlive the task; it uses the call up to its first suspension only.
net::Task<Result<chat::Chat, ApiError>> find_chat(Services& services, const Call& call);

}  // namespace assay::api

#pragma once
// The HTTP API of the server: routing, authentication, and the endpoints behind it.
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "api/metrics.h"
#include "api/service.h"
#include "base/random.h"
#include "base/time.h"
#include "live/episode.h"
#include "net/http_server.h"
#include "net/task.h"
#include "store/store.h"

namespace assay::api {

// Loop thread only. Lifetime: store, episodes, clock and random outlive the Api, and the Api outlives the server that
// calls it:
//   options.handler = [&api](net::HttpRequest request) { return api.handle(std::move(request)); };
//   options.body_bytes_max = &Api::body_bytes_max;
//   options.refusal = &Api::refuse;
class Api {
 public:
  Api(store::Store& store, live::Episodes& episodes, Offer offer, const Clock& clock, Random& random);
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // Never throws for what a client sends: every refusal is a response.
  net::Task<net::HttpReply> handle(net::HttpRequest request);

  static std::size_t body_bytes_max(std::string_view method, std::string_view path);
  // In the API's own error body.
  static net::HttpResponse refuse(int status, std::string_view message);

  // Whatever else this process counts (turns, receipts): called for each read of /metrics.
  void add_metrics(std::function<void(MetricsText&)> writer) { more_metrics_.push_back(std::move(writer)); }

 private:
  net::Task<Answer> answer(Match match, net::HttpRequest request);
  net::Task<Result<store::User, ApiError>> authenticate(const net::HttpRequest& request, Deadline deadline);
  net::Task<Answer> readiness(Deadline deadline);
  net::HttpResponse metrics() const;
  void count(std::string_view endpoint, int status, SteadyTime arrived);

  Services services_;
  RequestCounts requests_;
  std::vector<std::function<void(MetricsText&)>> more_metrics_;
};

}  // namespace assay::api

#pragma once
// One connection of the server, from accept to close. Internal to this room.
#include <memory>
#include <string_view>

#include "net/http_server.h"
#include "net/stop.h"
#include "net/timed_socket.h"

namespace assay::net {

// What the server shares with its connections.
struct ServerContext {
  explicit ServerContext(HttpServerOptions given) : options(std::move(given)) {}

  HttpServerOptions options;
  StopSource drain;  // finish what runs, take nothing new
  StopSource cut;    // the drain time is over
};

// Serves requests until the connection ends.
Task<> serve_connection(std::shared_ptr<TimedSocket> socket, std::shared_ptr<ServerContext> context);

// Answers 503 without reading a request, and closes.
Task<> turn_away(std::shared_ptr<TimedSocket> socket, std::shared_ptr<ServerContext> context);

}  // namespace assay::net

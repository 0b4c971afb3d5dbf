#pragma once
// The live stream of a chat, as Server-Sent Events and as WebSocket. Lifetime: the services outlive every task.
#include "api/service.h"
#include "net/task.h"

namespace assay::api {

net::Task<Answer> stream_chat(Services& services, Call call);

}  // namespace assay::api

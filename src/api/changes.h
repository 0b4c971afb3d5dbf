#pragma once
// The endpoints that rearrange what is there: edits, promotions, and the model's context. Lifetime: the services
// outlive every task.
#include "api/service.h"
#include "net/task.h"

namespace assay::api {

net::Task<Answer> edit_message(Services& services, Call call);
net::Task<Answer> promote_queued_message(Services& services, Call call);
net::Task<Answer> compact_chat(Services& services, Call call);
net::Task<Answer> clear_chat(Services& services, Call call);

}  // namespace assay::api

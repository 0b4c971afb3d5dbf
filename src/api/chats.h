#pragma once
// The endpoints of chats and their messages. Lifetime: the services outlive every task.
#include "api/service.h"
#include "net/task.h"

namespace assay::api {

net::Task<Answer> create_chat(Services& services, Call call);
net::Task<Answer> list_chats(Services& services, Call call);
net::Task<Answer> get_chat(Services& services, Call call);
net::Task<Answer> patch_chat(Services& services, Call call);
net::Task<Answer> list_messages(Services& services, Call call);
net::Task<Answer> send_message(Services& services, Call call);
net::Task<Answer> delete_queued_message(Services& services, Call call);
// `?wait=true` answers when the chat has left its interrupting state.
net::Task<Answer> interrupt_chat(Services& services, Call call);
// The results of the calls that wait for the client.
net::Task<Answer> submit_tool_results(Services& services, Call call);
net::Task<Answer> reconcile_chat(Services& services, Call call);

}  // namespace assay::api

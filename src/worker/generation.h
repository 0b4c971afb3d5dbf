#pragma once
// One attempt of a model call for a chat: streams its previews into the chat's episode, and gives up as soon as the
// chat has moved on or the runner is asked to stop.
#include <optional>
#include <string>
#include <variant>

#include "base/time.h"
#include "base/uuid.h"
#include "chat/generated_step.h"
#include "chat/prompt.h"
#include "chat/transitions.h"
#include "live/episode.h"
#include "net/loop.h"
#include "net/stop.h"
#include "net/task.h"
#include "providers/client.h"
#include "store/chat_store.h"
#include "store/notifications.h"
#include "worker/catalogue.h"

namespace assay::worker {

// The attempt is of no use any more; nobody is told.
struct Abandoned {
  std::string partial_text;  // what clients had already seen of the answer
};
using AttemptResult = std::variant<chat::GeneratedStep, providers::Failure, Abandoned>;

// Lifetime of all: the call's.
struct AttemptTools {
  net::Loop& loop;
  store::ChatStore& chats;
  store::Subscription& subscription;
  live::Episodes& episodes;
  providers::ModelClient& models;
  const Clock& clock;
  Milliseconds watch_interval;
};

// What a call is for. A summary is no answer: clients get no preview of it, and no part of it when it is interrupted.
enum class Purpose { Answer, Summary };

net::Task<AttemptResult> run_attempt(AttemptTools tools, ChatId chat, chat::Fence fence, const ModelRoute& route,
                                     providers::ModelSettings settings, chat::Prompt prompt, Purpose purpose,
                                     net::StopToken stop);

// Waits until the deadline; false as soon as the chat has moved away from the fence or the token stops.
net::Task<bool> wait_while_current(AttemptTools tools, ChatId chat, chat::Fence fence, Deadline deadline,
                                   net::StopToken stop);

}  // namespace assay::worker

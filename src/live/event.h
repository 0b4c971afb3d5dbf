#pragma once
// What a client that watches a chat is told, as values; api/ gives them their wire form.
#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "chat/chat.h"
#include "chat/message.h"
#include "live/episode.h"

namespace assay::live {

struct HistoryResetEvent {};  // everything shown so far is void; the whole history follows

struct MessageEvent {
  chat::Message message;  // a full snapshot: clients upsert by id
};

struct QueueEvent {
  std::vector<chat::QueuedMessage> queue;
};

struct StatusEvent {
  chat::Status status = chat::Status::Waiting;
};

struct ErrorEvent {
  chat::ChatError error;
};

struct ActionRequiredEvent {
  std::vector<chat::ToolCallPart> calls;  // all that the client is to answer, in their order
};

struct RetryEvent {
  chat::RetryState retry;
};

struct PreviewResetEvent {};  // previewed parts are void; numbering starts anew

struct PartEvent {
  std::shared_ptr<const Episode> episode;
  std::size_t index = 0;  // into episode->parts()
};

using Event = std::variant<HistoryResetEvent, MessageEvent, QueueEvent, StatusEvent, ErrorEvent, ActionRequiredEvent,
                           RetryEvent, PreviewResetEvent, PartEvent>;

}  // namespace assay::live

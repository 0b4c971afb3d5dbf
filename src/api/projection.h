#pragma once
// The public shapes of chats, messages and events. Internal parts, provider state and rows meant for the model never
// leave through here. Pure; reading a history depends on no schema and no validation.
#include <span>
#include <string>
#include <string_view>

#include "chat/chat.h"
#include "chat/message.h"
#include "json/writer.h"
#include "live/event.h"

namespace assay::api {

// Clients see a row that is neither deleted nor meant for the model alone.
bool is_visible(const chat::Message& message);

// The writers below append one JSON value. `owner_name` is the owner's user name; empty: left out.
void write_chat(json::Writer& writer, const chat::Chat& chat, std::string_view owner_name);
void write_message(json::Writer& writer, const chat::Message& message);
void write_queued_message(json::Writer& writer, const chat::QueuedMessage& message);
void write_event(json::Writer& writer, ChatId chat, const live::Event& event);

// The `type` of an event, which also names it in Server-Sent Events.
std::string_view event_name(const live::Event& event);

// One line of JSON: an event, or an array of events in their order (a WebSocket frame).
std::string event_json(ChatId chat, const live::Event& event);

// `{"messages", "queued_messages", "has_more"}`. Rows that clients do not see are left out.
std::string messages_json(std::span<const chat::Message> messages, std::span<const chat::QueuedMessage> queue,
                          bool has_more);

}  // namespace assay::api

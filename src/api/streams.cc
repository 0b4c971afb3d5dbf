#include "api/streams.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/projection.h"
#include "api/stream_frame.h"
#include "base/log.h"
#include "live/stream.h"

namespace assay::api {

namespace {

// Close codes of RFC 6455 section 7.4.1 and its registry.
constexpr std::uint16_t kGoingAway = 1001;
constexpr std::uint16_t kInternalError = 1011;

std::vector<std::string> texts_of(ChatId chat, const std::vector<live::Event>& events) {
  std::vector<std::string> texts;
  texts.reserve(events.size());
  for (const auto& event : events) texts.push_back(event_json(chat, event));
  return texts;
}

std::vector<std::string> event_stream_frames(ChatId chat, const std::vector<live::Event>& events,
                                             std::int64_t resume_point) {
  const auto texts = texts_of(chat, events);
  std::size_t left = texts.size();
  std::vector<std::string> frames;
  for_each_frame(texts, [&](std::span<const std::string> group) {
    std::string frame;
    for (const auto& text : group) {
      --left;
      // The last event alone moves the client on: whoever missed it gets the whole sync again.
      frame += sse_frame(text, left == 0 && resume_point > 0 ? resume_id(resume_point) : std::string());
    }
    frames.push_back(std::move(frame));
  });
  return frames;
}

std::vector<std::string> socket_frames(ChatId chat, const std::vector<live::Event>& events) {
  const auto texts = texts_of(chat, events);
  std::vector<std::string> frames;
  for_each_frame(texts, [&frames](std::span<const std::string> group) {
    frames.push_back(fmt::format("[{}]", fmt::join(group, ",")));
  });
  return frames;
}

class EventStreamSink final : public live::EventSink {
 public:
  EventStreamSink(ChatId chat, net::EventStream& stream) : chat_(chat), stream_(stream) {}

  net::Task<bool> send(std::vector<live::Event> events, std::int64_t resume_point) override {
    auto frames = event_stream_frames(chat_, events, resume_point);
    for (auto& frame : frames) {
      const bool sent = co_await stream_.send(std::move(frame));
      if (!sent) co_return false;
    }
    co_return true;
  }
  [[nodiscard]] net::StopToken closed() const override { return stream_.closed(); }

 private:
  ChatId chat_;
  net::EventStream& stream_;
};

class SocketSink final : public live::EventSink {
 public:
  SocketSink(ChatId chat, net::WebSocket& socket) : chat_(chat), socket_(socket) {}

  net::Task<bool> send(std::vector<live::Event> events, std::int64_t) override {
    auto frames = socket_frames(chat_, events);
    for (auto& frame : frames) {
      const bool sent = co_await socket_.send_text(std::move(frame));
      if (!sent) co_return false;
    }
    co_return true;
  }
  [[nodiscard]] net::StopToken closed() const override { return socket_.closed(); }

 private:
  ChatId chat_;
  net::WebSocket& socket_;
};

// Whoever opens a stream has seen the chat, and so has whoever leaves it. A mark that cannot be set is no harm.
constexpr Milliseconds kMarkReadTimeout{2'000};

net::Task<> mark_read(Services& services, ChatId chat) {
  const auto marked =
      co_await services.store.chats().mark_read(chat, Deadline::after(services.clock, kMarkReadTimeout));
  if (!marked) log::debug("a chat was not marked as read", {{"chat", chat.to_string()}});
}

net::Task<> serve_event_stream(Services& services, ChatId chat, live::StreamStart start, net::EventStream& stream) {
  EventStreamSink sink(chat, stream);
  co_await mark_read(services, chat);
  // Whatever ended it: the client reconnects with the last id and gets what it missed, or the reason by status.
  co_await live::run_stream(services.stream_sources(), chat, start, sink);
  co_await mark_read(services, chat);
}

net::Task<> serve_socket(Services& services, ChatId chat, live::StreamStart start, net::WebSocket& socket) {
  SocketSink sink(chat, socket);
  co_await mark_read(services, chat);
  const auto end = co_await live::run_stream(services.stream_sources(), chat, start, sink);
  co_await mark_read(services, chat);
  switch (end) {
    case live::StreamEnd::ClientGone:
    case live::StreamEnd::ChatGone:
      break;
    case live::StreamEnd::PreviewRestart:
      socket.close_with(kGoingAway, "the preview began anew: reconnect");
      break;
    case live::StreamEnd::Failed:
      socket.close_with(kInternalError, "the chat cannot be read");
      break;
  }
}

}  // namespace

net::Task<Answer> stream_chat(Services& services, Call call) {
  live::StreamStart start;
  auto wanted = call.request.headers.get("Last-Event-ID");
  std::string_view source = "Last-Event-ID";
  if (!wanted || wanted->empty()) {
    wanted = call.request.query("after_id");
    source = "after_id";
  }
  if (wanted && !wanted->empty()) {
    const auto parsed = parse_stream_start(*wanted);
    if (!parsed) {
      ApiError error = invalid_field(std::string(source), "must be the id of a message or of a stream's event");
      error.message = "The query parameters are not valid.";
      co_return fail(std::move(error));
    }
    start = *parsed;
  }
  const bool is_socket = call.request.asks_for_websocket;
  const bool is_event_stream =
      !is_socket && call.request.headers.get("Accept").value_or("").find("text/event-stream") != std::string_view::npos;
  auto chat = co_await find_chat(services, call);
  if (!chat) co_return fail(std::move(chat.error()));
  const ChatId id = chat->id;
  if (is_socket) {
    net::WebSocketReply reply;
    reply.run = [&services, id, start](net::WebSocket& socket) { return serve_socket(services, id, start, socket); };
    co_return reply;
  }
  if (is_event_stream) {
    net::EventStreamReply reply;
    reply.headers.add("X-Accel-Buffering", "no");  // proxies that buffer would hold events back
    reply.run = [&services, id, start](net::EventStream& stream) {
      return serve_event_stream(services, id, start, stream);
    };
    co_return reply;
  }
  auto refused =
      error_response(refusal(426, "This is a live stream.", "Ask for a WebSocket, or send Accept: text/event-stream."));
  refused.headers.add("Upgrade", "websocket");
  co_return refused;
}

}  // namespace assay::api

#include "api/changes.h"

#include "api/once.h"
#include "api/projection.h"
#include "chat/context.h"
#include "chat/edit.h"
#include "chat/promote.h"
#include "json/writer.h"

namespace assay::api {

namespace {

// The replacement is the last row that an edit inserts.
std::string edit_reply(const store::Committed& committed) {
  json::Writer writer;
  writer.begin_object();
  write_message(writer.key("message"), committed.inserted.back());
  writer.key("messages").begin_array();
  for (const auto& message : committed.inserted) {
    if (is_visible(message)) write_message(writer, message);
  }
  writer.end_array();
  if (!committed.deleted.empty()) {
    writer.key("deleted_message_ids").begin_array();
    for (const std::int64_t id : committed.deleted) writer.number(id);
    writer.end_array();
  }
  writer.end_object();
  return writer.take();
}

template <class Input>
net::Task<Answer> change_context(Services& services, Call call, Input input) {
  auto chat = co_await find_chat(services, call);
  if (!chat) co_return fail(std::move(chat.error()));
  auto committed = co_await apply(services, chat->id, input, call.deadline);
  if (!committed) co_return fail(std::move(committed.error()));
  json::Writer writer;
  write_chat(writer, committed->chat, call.user.username);
  co_return json_response(200, writer.take());
}

}  // namespace

net::Task<Answer> edit_message(Services& services, Call call) {
  const auto id = parse_integer(call.parameters.back());
  if (!id || *id <= 0) co_return fail(refusal(400, "The message's id is not valid.", "It must be a positive integer."));
  auto submission = submission_of(call, "edit");
  if (!submission) co_return fail(std::move(submission.error()));
  auto chat = co_await find_chat(services, call);
  if (!chat) co_return fail(std::move(chat.error()));
  auto earlier = co_await earlier_answer(services, chat->id, *submission, call.deadline);
  if (!earlier) co_return fail(std::move(earlier.error()));
  if (*earlier) co_return std::move(**earlier);
  auto decoded = decode_edit(std::move(call.request.body), call.user, *chat, services.offer);
  if (!decoded) co_return fail(std::move(decoded.error()));
  chat::EditMessage input = std::move(decoded->input);
  input.message_id = *id;
  const RequestId request = RequestId::random(services.random);
  if (decoded->keeps_format) {
    input.format = chat::KeepFormat{.request_id = request, .is_admitted = services.offer.structured_output};
  } else if (decoded->format) {
    input.format = request_part(request, std::move(*decoded->format));
  }
  co_return co_await apply_once(services, chat->id, std::move(input), std::move(*submission), edit_reply,
                                call.deadline);
}

// 202: while a turn runs the message enters history only after it.
net::Task<Answer> promote_queued_message(Services& services, Call call) {
  const auto id = parse_integer(call.parameters.back());
  if (!id || *id <= 0) {
    co_return fail(refusal(400, "The queued message's id is not valid.", "It must be a positive integer."));
  }
  auto chat = co_await find_chat(services, call);
  if (!chat) co_return fail(std::move(chat.error()));
  chat::PromoteQueuedMessage input;
  input.queue_id = *id;
  auto committed = co_await apply(services, chat->id, input, call.deadline);
  if (!committed) co_return fail(std::move(committed.error()));
  co_return json_response(202, R"({"message":"The queued message runs next."})");
}

net::Task<Answer> compact_chat(Services& services, Call call) {
  chat::RequestCompaction input;
  co_return co_await change_context(services, std::move(call), input);
}

net::Task<Answer> clear_chat(Services& services, Call call) {
  chat::ClearContext input;
  co_return co_await change_context(services, std::move(call), input);
}

}  // namespace assay::api

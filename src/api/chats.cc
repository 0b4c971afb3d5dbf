#include "api/chats.h"

#include <memory>
#include <optional>
#include <utility>

#include "api/client_tools.h"
#include "api/once.h"
#include "api/projection.h"
#include "chat/transitions.h"
#include "json/writer.h"

namespace assay::api {

namespace {

std::string chat_json(const chat::Chat& chat, const store::User& owner) {
  json::Writer writer;
  write_chat(writer, chat, owner.username);
  return writer.take();
}

// Creates the chat; where the answer to COMMIT was lost, creates the same one again: that waits for the first commit at
// the key and tells whether it happened.
net::Task<Result<chat::Chat, ApiError>> create_surely(Services& services, chat::NewChat made, Deadline deadline) {
  const ChatId id = made.chat.id;
  chat::NewChat repetition = made;
  auto committed = co_await services.store.chats().create(std::move(made), deadline);
  if (committed) co_return std::move(committed->chat);
  const auto* error = std::get_if<store::StoreError>(&committed.error());
  if (error == nullptr || error->kind != store::StoreErrorKind::InDoubt) co_return fail(error_of(committed.error()));
  auto repeated = co_await services.store.chats().create(std::move(repetition), deadline);
  if (repeated) co_return std::move(repeated->chat);
  if (std::holds_alternative<store::StoreError>(repeated.error())) co_return fail(error_of(committed.error()));
  auto found = co_await services.store.chats().find_chat(id, deadline);
  if (found && *found) co_return std::move(**found);
  co_return fail(error_of(committed.error()));
}

net::Task<Answer> create_once(Services& services, chat::NewChat made, store::Once once, Deadline deadline) {
  const store::Submission submission = once.submission;
  chat::NewChat repetition = made;
  auto kept = co_await services.store.chats().create_once(std::move(made), once, deadline);
  if (is_in_doubt(kept)) {
    kept = co_await services.store.chats().create_once(std::move(repetition), std::move(once), deadline);
  }
  co_return answer_of(std::move(kept), submission);
}

std::string send_reply(const store::Committed& committed) {
  const bool is_queued = !committed.enqueued.empty();
  const chat::Message* own = nullptr;
  for (const auto& message : committed.inserted) {
    if (!is_queued && message.role == chat::Role::User && is_visible(message)) own = &message;
  }
  json::Writer writer;
  writer.begin_object();
  if (own != nullptr) write_message(writer.key("message"), *own);
  bool any = false;
  for (const auto& message : committed.inserted) any = any || is_visible(message);
  if (any) {
    writer.key("messages").begin_array();
    for (const auto& message : committed.inserted) {
      if (is_visible(message)) write_message(writer, message);
    }
    writer.end_array();
  }
  if (is_queued) write_queued_message(writer.key("queued_message"), committed.enqueued.back());
  writer.member("queued", is_queued).end_object();
  return writer.take();
}

// Title, labels, the archived flag and the plan mode in one transaction: all of it or nothing.
chat::Decision decide_patch(const chat::LockedChat& locked, const PatchRequest& patch) {
  chat::Effects all;
  if (patch.title) {
    auto effects = chat::decide(locked, chat::SetTitle{.title = *patch.title});
    if (!effects) return effects;
    all.title = std::move(effects->title);
  }
  if (patch.labels) {
    auto effects = chat::decide(locked, chat::SetLabels{.labels = *patch.labels});
    if (!effects) return effects;
    all.labels = std::move(effects->labels);
  }
  if (patch.archived) {
    auto effects = chat::decide(locked, chat::SetArchived{.archived = *patch.archived});
    if (!effects) return effects;
    all.archived = effects->archived;
  }
  if (patch.plan_mode) {
    auto effects = chat::decide(locked, chat::SetPlanMode{.plan_mode = *patch.plan_mode});
    if (!effects) return effects;
    all.plan_mode = std::move(effects->plan_mode);
  }
  return all;
}

net::Task<Result<chat::Chat, ApiError>> wait_until_interrupted(Services& services, ChatId id, net::StopToken stop,
                                                               Deadline deadline) {
  auto subscription = services.store.notifications().subscribe(id);
  while (true) {
    subscription.changed().clear();
    auto found = co_await services.store.chats().find_chat(id, deadline);
    if (!found) co_return fail(error_of(found.error()));
    if (!*found) co_return fail(refusal(404, "There is no such chat."));
    if ((*found)->status != chat::Status::Interrupting) co_return std::move(**found);
    const auto poll = Deadline::after(services.clock, live::kPollBusy).earlier_of(deadline);
    const auto woken = co_await subscription.changed().wait(poll, stop);
    if (woken == net::WaitOutcome::Stopped || deadline.has_passed(services.clock)) co_return std::move(**found);
  }
}

}  // namespace

net::Task<Answer> create_chat(Services& services, Call call) {
  auto submission = submission_of(call, "create");
  if (!submission) co_return fail(std::move(submission.error()));
  ChatId id = ChatId::random(services.random);
  if (*submission) id = store::chat_id_of(**submission);
  auto earlier = co_await earlier_answer(services, id, *submission, call.deadline);
  if (!earlier) co_return fail(std::move(earlier.error()));
  if (*earlier) co_return std::move(**earlier);
  auto decoded = decode_create(std::move(call.request.body), call.user, services.offer);
  if (!decoded) co_return fail(std::move(decoded.error()));
  chat::CreateChat& input = decoded->input;
  input.id = id;
  if (decoded->format) {
    input.content.emplace_back(request_part(RequestId::random(services.random), std::move(*decoded->format)));
  }
  auto made = chat::create(input);
  if (!made) co_return fail(error_of(made.error()));
  if (*submission) {
    const store::User user = call.user;
    store::Once once;
    once.submission = std::move(**submission);
    once.status = 201;
    once.render = [user](const store::Committed& committed) { return chat_json(committed.chat, user); };
    co_return co_await create_once(services, std::move(*made), std::move(once), call.deadline);
  }
  auto created = co_await create_surely(services, std::move(*made), call.deadline);
  if (!created) co_return fail(std::move(created.error()));
  co_return json_response(201, chat_json(*created, call.user));
}

net::Task<Answer> list_chats(Services& services, Call call) {
  auto decoded = decode_list(call.request.query_parameters);
  if (!decoded) co_return fail(std::move(decoded.error()));
  store::ChatListQuery query;
  query.owner = call.user.id;
  query.archived = decoded->archived;
  query.labels = std::move(decoded->labels);
  query.title_contains = std::move(decoded->title_contains);
  query.has_unread = decoded->has_unread;
  query.after_id = decoded->after_id;
  query.offset = decoded->offset;
  query.limit = decoded->limit;
  auto found = co_await services.store.chats().list_chats(std::move(query), call.deadline);
  if (!found) co_return fail(error_of(found.error()));
  json::Writer writer;
  writer.begin_array();
  for (const auto& chat : *found) write_chat(writer, chat, call.user.username);
  writer.end_array();
  co_return json_response(200, writer.take());
}

net::Task<Answer> get_chat(Services& services, Call call) {
  auto chat = co_await find_chat(services, call);
  if (!chat) co_return fail(std::move(chat.error()));
  co_return json_response(200, chat_json(*chat, call.user));
}

net::Task<Answer> patch_chat(Services& services, Call call) {
  auto chat = co_await find_chat(services, call);
  if (!chat) co_return fail(std::move(chat.error()));
  auto decoded = decode_patch(std::move(call.request.body), *chat);
  if (!decoded) co_return fail(std::move(decoded.error()));
  net::HttpResponse done;
  done.status = 204;
  if (decoded->changes_nothing()) co_return done;
  const auto patch = std::make_shared<const PatchRequest>(std::move(*decoded));
  chat::ReadPlan plan;
  if (patch->plan_mode) plan = chat::reads_of(chat::SetPlanMode{.plan_mode = *patch->plan_mode});
  store::Decide decide = [patch](const chat::LockedChat& locked) { return decide_patch(locked, *patch); };
  auto committed = co_await services.store.chats().transit(chat->id, std::move(plan), std::move(decide), call.deadline);
  if (!committed) co_return fail(error_of(committed.error()));
  co_return done;
}

net::Task<Answer> list_messages(Services& services, Call call) {
  const auto decoded = decode_page(call.request.query_parameters);
  if (!decoded) co_return fail(decoded.error());
  auto chat = co_await find_chat(services, call);
  if (!chat) co_return fail(std::move(chat.error()));
  auto page = co_await services.store.chats().list_messages(chat->id, decoded->before_id, decoded->after_id,
                                                            decoded->limit, call.deadline);
  if (!page) co_return fail(error_of(page.error()));
  std::vector<chat::QueuedMessage> queue;
  if (!decoded->before_id && !decoded->after_id && chat->queue_length > 0) {
    auto listed = co_await services.store.chats().list_queue(chat->id, call.deadline);
    if (!listed) co_return fail(error_of(listed.error()));
    queue = std::move(*listed);
  }
  co_return json_response(200, messages_json(page->messages, queue, page->has_more));
}

net::Task<Answer> send_message(Services& services, Call call) {
  auto submission = submission_of(call, "send");
  if (!submission) co_return fail(std::move(submission.error()));
  auto chat = co_await find_chat(services, call);
  if (!chat) co_return fail(std::move(chat.error()));
  auto earlier = co_await earlier_answer(services, chat->id, *submission, call.deadline);
  if (!earlier) co_return fail(std::move(earlier.error()));
  if (*earlier) co_return std::move(**earlier);
  auto decoded = decode_send(std::move(call.request.body), call.user, *chat, services.offer);
  if (!decoded) co_return fail(std::move(decoded.error()));
  chat::SendMessage input = std::move(decoded->input);
  if (decoded->format) {
    input.content.emplace_back(request_part(RequestId::random(services.random), std::move(*decoded->format)));
  }
  co_return co_await apply_once(services, chat->id, std::move(input), std::move(*submission), send_reply,
                                call.deadline);
}

net::Task<Answer> delete_queued_message(Services& services, Call call) {
  chat::DeleteQueuedMessage input;
  const auto id = parse_integer(call.parameters.back());
  if (!id || *id <= 0)
    co_return fail(refusal(400, "The queued message's id is not valid.", "It must be a positive integer."));
  input.queue_id = *id;
  auto chat = co_await find_chat(services, call);
  if (!chat) co_return fail(std::move(chat.error()));
  auto committed = co_await apply(services, chat->id, input, call.deadline);
  if (!committed) co_return fail(std::move(committed.error()));
  net::HttpResponse done;
  done.status = 204;
  co_return done;
}

net::Task<Answer> interrupt_chat(Services& services, Call call) {
  auto chat = co_await find_chat(services, call);
  if (!chat) co_return fail(std::move(chat.error()));
  chat::Interrupt input;
  auto committed = co_await apply(services, chat->id, input, call.deadline);
  if (!committed) co_return fail(std::move(committed.error()));
  if (call.request.query("wait") != "true") co_return json_response(200, chat_json(committed->chat, call.user));
  auto settled = co_await wait_until_interrupted(services, chat->id, call.request.stop, call.deadline);
  if (!settled) co_return fail(std::move(settled.error()));
  co_return json_response(200, chat_json(*settled, call.user));
}

net::Task<Answer> submit_tool_results(Services& services, Call call) {
  auto chat = co_await find_chat(services, call);
  if (!chat) co_return fail(std::move(chat.error()));
  auto decoded = decode_tool_results(std::move(call.request.body), call.user);
  if (!decoded) co_return fail(std::move(decoded.error()));
  auto committed = co_await apply(services, chat->id, std::move(*decoded), call.deadline);
  if (!committed) co_return fail(std::move(committed.error()));
  net::HttpResponse done;
  done.status = 204;
  co_return done;
}

net::Task<Answer> reconcile_chat(Services& services, Call call) {
  auto chat = co_await find_chat(services, call);
  if (!chat) co_return fail(std::move(chat.error()));
  chat::ReconcileInvalidState input;
  auto committed = co_await apply(services, chat->id, input, call.deadline);
  if (!committed) co_return fail(std::move(committed.error()));
  co_return json_response(200, chat_json(committed->chat, call.user));
}

}  // namespace assay::api

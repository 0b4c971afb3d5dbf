#pragma once
// How endpoints change a chat: by a transition under its lock, and once only where the client names a key.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/service.h"
#include "net/task.h"
#include "store/submission.h"

namespace assay::api {

// Decides by the pure transition under the chat's lock.
template <class Input>
net::Task<Result<store::Committed, ApiError>> apply(Services& services, ChatId chat, Input input, Deadline deadline) {
  const auto shared = std::make_shared<const Input>(std::move(input));
  auto plan = reads_of(*shared);
  store::Decide by_transition = [shared](const chat::LockedChat& locked) { return decide(locked, *shared); };
  auto committed = co_await services.store.chats().transit(chat, std::move(plan), std::move(by_transition), deadline);
  if (!committed) co_return fail(error_of(committed.error()));
  co_return std::move(*committed);
}

// The call's Idempotency-Key; nothing: it has none. 400 for what is no key. Requires: the body is still the call's.
Result<std::optional<store::Submission>, ApiError> submission_of(const Call& call, std::string_view route);

// The answer that was given to this submission, if it was carried out; 409 where its key stands for another request.
// Before anything of the request is looked at: an answer stays what it was, whatever has changed since.
net::Task<Result<std::optional<net::HttpReply>, ApiError>> earlier_answer(Services& services, ChatId chat,
                                                                          std::optional<store::Submission> submission,
                                                                          Deadline deadline);

// The answer to a submission, now or earlier carried out.
Answer answer_of(Result<store::KeptAnswer, store::TransitError> kept, const store::Submission& submission);
// The commit may or may not have happened: the same submission again tells.
bool is_in_doubt(const Result<store::KeptAnswer, store::TransitError>& kept);

using Render = std::function<std::string(const store::Committed&)>;

// Applies the transition and answers 200 with what `render` makes of it.
template <class Input>
net::Task<Answer> apply_once(Services& services, ChatId chat, Input input, std::optional<store::Submission> submission,
                             Render render, Deadline deadline) {
  if (!submission) {
    auto committed = co_await apply(services, chat, std::move(input), deadline);
    if (!committed) co_return fail(std::move(committed.error()));
    co_return json_response(200, render(*committed));
  }
  const auto shared = std::make_shared<const Input>(std::move(input));
  const chat::ReadPlan plan = reads_of(*shared);
  const store::Decide by_transition = [shared](const chat::LockedChat& locked) { return decide(locked, *shared); };
  const store::Once once{.submission = *submission, .status = 200, .render = std::move(render)};
  auto kept = co_await services.store.chats().transit_once(chat, plan, by_transition, once, deadline);
  if (is_in_doubt(kept)) {
    kept = co_await services.store.chats().transit_once(chat, plan, by_transition, once, deadline);
  }
  co_return answer_of(std::move(kept), *submission);
}

}  // namespace assay::api

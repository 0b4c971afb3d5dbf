#include "worker/generation.h"

#include <exception>
#include <optional>
#include <vector>

#include "net/task_group.h"
#include "net/timer.h"
#include "structured/finalizer.h"
#include "worker/settings.h"

namespace assay::worker {
namespace {

// Turns a wire's events into previews. The finalizer's arguments are no preview: they are seen once committed.
class Preview {
 public:
  Preview(live::Episodes& episodes, ChatId chat) : episodes_(episodes), chat_(chat) {}

  void show(const providers::Event& event) {
    if (const auto* text = std::get_if<providers::TextDelta>(&event)) {
      text_ += text->text;
      episodes_.append(chat_, chat::Role::Assistant, chat::TextPart{.text = text->text});
    } else if (const auto* reasoning = std::get_if<providers::ReasoningDelta>(&event)) {
      chat::ReasoningPart part;
      part.text = reasoning->text;
      episodes_.append(chat_, chat::Role::Assistant, std::move(part));
    } else if (const auto* started = std::get_if<providers::ToolCallStarted>(&event)) {
      calls_.resize(std::max(calls_.size(), started->call + 1));
      calls_[started->call] = *started;
    } else if (const auto* arguments = std::get_if<providers::ToolArgumentsDelta>(&event)) {
      show_arguments(*arguments);
    } else if (const auto* call = std::get_if<providers::HostedCall>(&event)) {
      episodes_.append(chat_, chat::Role::Assistant, call->part);
    } else if (const auto* result = std::get_if<providers::HostedResult>(&event)) {
      episodes_.append(chat_, chat::Role::Assistant, result->part);
    } else if (const auto* source = std::get_if<providers::SourceSeen>(&event)) {
      episodes_.append(chat_, chat::Role::Assistant, source->part);
    }
  }

  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  void show_arguments(const providers::ToolArgumentsDelta& delta) {
    if (delta.call >= calls_.size()) return;
    const providers::ToolCallStarted& call = calls_[delta.call];
    if (call.name.empty() || call.name == structured::kFinalizerName) return;
    live::ArgumentsDelta part;
    part.call_id = call.id;
    part.name = call.name;
    part.text = delta.text;
    episodes_.append(chat_, chat::Role::Assistant, std::move(part));
  }

  live::Episodes& episodes_;
  ChatId chat_;
  std::string text_;
  std::vector<providers::ToolCallStarted> calls_;
};

bool is_current(const chat::Chat& chat, const chat::Fence& fence) {
  return chat.runner_id == fence.runner_id && chat.history_version == fence.history_version &&
         chat.status == fence.status && chat.generation_attempt == fence.generation_attempt;
}

// Stops the source once the chat's row has moved away from the fence. A database that does not answer moves nothing:
// the commit will find out.
net::Task<> watch_fence(AttemptTools tools, ChatId chat, chat::Fence fence, net::StopSource& attempt,
                        net::StopToken stop) {
  while (!stop.stopped()) {
    const Deadline poll = Deadline::after(tools.clock, tools.watch_interval);
    const net::WaitOutcome outcome = co_await tools.subscription.changed().wait(poll, stop);
    if (outcome == net::WaitOutcome::Stopped) co_return;
    tools.subscription.changed().clear();
    auto row = co_await tools.chats.find_chat(chat, Deadline::after(tools.clock, kStoreTimeout));
    if (!row) continue;
    if (!row->has_value() || !is_current(**row, fence)) {
      attempt.stop(net::StopReason::Superseded);
      co_return;
    }
  }
}

}  // namespace

net::Task<AttemptResult> run_attempt(AttemptTools tools, ChatId chat, chat::Fence fence, const ModelRoute& route,
                                     providers::ModelSettings settings, chat::Prompt prompt, Purpose purpose,
                                     net::StopToken stop) {
  net::StopSource attempt(stop);
  net::TaskGroup watchers(tools.loop, attempt.token());
  watchers.spawn("watch the chat of a model call", watch_fence(tools, chat, fence, attempt, watchers.token()));

  tools.episodes.begin(chat, fence.history_version, fence.generation_attempt);
  Preview preview(tools.episodes, chat);
  providers::EventCallback on_event = [&preview, purpose](const providers::Event& event) {
    if (purpose == Purpose::Answer) preview.show(event);
  };
  std::optional<Result<chat::GeneratedStep, providers::Failure>> outcome;
  std::exception_ptr thrown;
  try {
    outcome = co_await tools.models.generate(route.provider, std::move(settings), std::move(prompt),
                                             std::move(on_event), attempt.token());
  } catch (...) {
    thrown = std::current_exception();  // the watcher must leave before its stop source does
  }
  const bool was_abandoned = attempt.stopped();
  watchers.stop(net::StopReason::Superseded);
  co_await watchers.join();
  if (thrown) std::rethrow_exception(thrown);

  auto& answer = *outcome;
  if (was_abandoned) co_return AttemptResult(Abandoned(std::move(preview).text()));
  if (!answer) co_return AttemptResult(std::move(answer.error()));
  co_return AttemptResult(std::move(*answer));
}

net::Task<bool> wait_while_current(AttemptTools tools, ChatId chat, chat::Fence fence, Deadline deadline,
                                   net::StopToken stop) {
  net::StopSource wait(stop);
  net::TaskGroup watchers(tools.loop, wait.token());
  watchers.spawn("watch the chat of a waiting retry", watch_fence(tools, chat, fence, wait, watchers.token()));
  const bool has_waited = co_await net::sleep_until(deadline, wait.token());
  watchers.stop(net::StopReason::Superseded);
  co_await watchers.join();
  co_return has_waited;
}

}  // namespace assay::worker

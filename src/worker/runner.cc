#include "worker/runner.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "chat/compaction.h"
#include "chat/dynamic_tools.h"
#include "chat/prompt_assembly.h"
#include "chat/requires_action.h"
#include "chat/state.h"
#include "chat/step_plan.h"
#include "net/timer.h"
#include "store/failpoint.h"
#include "structured/outcome.h"

namespace assay::worker {
namespace {

using chat::Status;

chat::ChatError missing_model() {
  chat::ChatError error;
  error.message = "The chat's model is not configured on this server any more.";
  error.detail = "Send the message with another model_config_id, or configure the model again.";
  error.kind = "config";
  return error;
}

chat::ChatError too_many_attempts() {
  chat::ChatError error;
  error.message = "The model call was begun too many times without an end.";
  error.detail = "Replicas stopped or crashed while it ran; their logs say why.";
  error.kind = "generic";
  return error;
}

chat::NewMessage partial_row(std::string text, const chat::Chat& chat) {
  chat::NewMessage row;
  row.role = chat::Role::Assistant;
  row.content.push_back(chat::TextPart(std::move(text)));
  row.model_config = chat.last_model_config;
  return row;
}

chat::ChatError internal_error() {
  chat::ChatError error;
  error.message = "The turn ended because of an internal error of the server; its log has the cause.";
  error.kind = "generic";
  return error;
}

std::string text_of(const chat::GeneratedStep& step) {
  std::string text;
  for (const chat::GeneratedPart& part : step.parts) {
    if (const auto* piece = std::get_if<chat::TextPart>(&part)) text += piece->text;
  }
  return text;
}

// While it lives one runner more waits for its client.
class WaitingCount {
 public:
  explicit WaitingCount(TurnCounters& counters) : counters_(counters) { ++counters_.runners_waiting; }
  ~WaitingCount() { --counters_.runners_waiting; }
  WaitingCount(const WaitingCount&) = delete;
  WaitingCount& operator=(const WaitingCount&) = delete;

 private:
  TurnCounters& counters_;
};

// The receipt of the request that the history still owes one.
std::optional<structured::OutcomePart> owed_receipt(const store::TurnRead& turn, structured::OutcomeCode code) {
  const auto views = chat::row_views(turn.history);
  const auto active = structured::active_request(views);
  if (active && active->has_value()) return structured::ended((*active)->request.request_id, code);
  if (!active && active.error().request_id) return structured::ended(*active.error().request_id, code);
  return std::nullopt;
}

// Where tests stop a replica.
template <class Input>
constexpr std::string_view kPointOf = "";
template <>
constexpr std::string_view kPointOf<chat::RecordGenerationAttempt> = "attempt";
template <>
constexpr std::string_view kPointOf<chat::RecordRetryState> = "retry";
template <>
constexpr std::string_view kPointOf<chat::CommitStep> = "step";
template <>
constexpr std::string_view kPointOf<chat::EnterRequiresAction> = "ask";
template <>
constexpr std::string_view kPointOf<chat::CancelRequiresAction> = "timeout";
template <>
constexpr std::string_view kPointOf<chat::FinishTurn> = "finish";
template <>
constexpr std::string_view kPointOf<chat::FinishError> = "error";
template <>
constexpr std::string_view kPointOf<chat::FinishInterruption> = "interruption";

}  // namespace

Runner::Runner(Workplace& place, store::Ownership owned, net::StopToken stop)
    : place_(place), owned_(owned), stop_(std::move(stop)), subscription_(place.notifications.subscribe(owned.chat)) {}

net::Task<> Runner::run() {
  log::debug("runner started", {{"chat", owned_.chat.to_string()}});
  Next next = Next::GoOn;
  while (next == Next::GoOn && !stop_.stopped()) next = co_await take_step();
  co_await release();
  log::debug("runner left", {{"chat", owned_.chat.to_string()}, {"reason", net::to_string(stop_.reason())}});
}

net::Task<> Runner::give_up() {
  auto turn = co_await place_.chats.read_turn(owned_.chat, store_deadline());
  if (turn && turn->has_value() && (*turn)->chat.runner_id == owned_.runner) {
    chat::FinishError finish;
    finish.fence = chat::fence_of((*turn)->chat, owned_.runner);
    finish.error = internal_error();
    finish.receipt = owed_receipt(**turn, structured::OutcomeCode::GenerationFailed);
    co_await apply(std::move(finish));
  }
  co_await release();
}

net::Task<> Runner::release() {
  if (episode_) place_.episodes.end(owned_.chat, *episode_);
  // Harmless where another owner has the chat: the write is fenced by this runner's id.
  const auto released = co_await place_.chats.release(owned_, store_deadline());
  if (!released) log::warning("chat not released", {{"chat", owned_.chat.to_string()}});
}

Runner::Next Runner::after(const std::optional<store::Committed>& committed) const {
  return committed && committed->chat.runner_id != owned_.runner ? Next::Leave : Next::GoOn;
}

net::Task<Runner::Next> Runner::take_step() {
  store::failpoint("before", "read");
  auto turn = co_await place_.chats.read_turn(owned_.chat, store_deadline());
  if (!turn) {
    log::warning("turn not read", {{"chat", owned_.chat.to_string()}, {"error", turn.error().message}});
    co_await net::sleep_for(place_.settings.acquire_interval, stop_);
    co_return Next::GoOn;
  }
  if (!turn->has_value() || (*turn)->chat.runner_id != owned_.runner) co_return Next::Leave;
  co_return co_await carry_out(std::move(**turn));
}

net::Task<Runner::Next> Runner::carry_out(store::TurnRead turn) {
  const chat::Fence fence = chat::fence_of(turn.chat, owned_.runner);
  if (turn.chat.status == Status::Interrupting) co_return co_await finish_interruption(turn);
  if (turn.chat.status == Status::RequiresAction) co_return co_await await_client(turn);
  if (turn.chat.status != Status::Running) co_return Next::Leave;

  const ModelRoute* route = place_.catalogue.find(turn.chat.last_model_config);
  static const ModelRoute kNoRoute{};
  const auto tools = chat::decode_dynamic_tools(turn.chat.dynamic_tools);
  static const std::vector<chat::ToolDefinition> kNoTools;
  const chat::TurnView view{
      .chat = turn.chat,
      .history = turn.history,
      .tools = tools ? *tools : kNoTools,
      .tools_corruption = tools ? nullptr : &tools.error(),
      .model = route == nullptr ? kNoRoute.description : route->description,
      .strict_forced = route != nullptr && route->provider.forces_strict,
      .steps_max = place_.settings.steps_max,
      .compiled = compiled_ ? &*compiled_ : nullptr,
  };
  chat::TurnDecision decision = chat::decide_turn(view);
  const Purpose purpose = std::holds_alternative<chat::Compact>(decision) ? Purpose::Summary : Purpose::Answer;
  if (purpose == Purpose::Summary) decision = chat::Generate();
  if (auto* generation = std::get_if<chat::Generate>(&decision)) {
    const bool is_spent = turn.chat.generation_attempt >= place_.settings.attempts_total_max;
    if (route != nullptr && !is_spent) {
      co_return co_await generate(turn, view, std::move(*generation), *route, purpose);
    }
    decision = chat::fail_generation(*generation, is_spent ? too_many_attempts() : missing_model());
  }
  if (auto* answers = std::get_if<chat::AnswerCalls>(&decision)) {
    if (answers->awaits_client) co_return co_await ask_client(fence, std::move(answers->rows));
    chat::CommitStep commit{.fence = fence, .rows = std::move(answers->rows)};
    co_await apply(std::move(commit));
    co_return Next::GoOn;
  }
  std::vector<chat::NewMessage> no_rows;
  if (auto* end = std::get_if<chat::EndTurn>(&decision)) {
    co_return co_await finish(fence, std::move(no_rows), std::move(*end));
  }
  co_return co_await finish(fence, std::move(no_rows), std::move(std::get<chat::FailTurn>(decision)));
}

net::Task<Runner::Next> Runner::finish(chat::Fence fence, std::vector<chat::NewMessage> rows, chat::EndTurn end) {
  chat::FinishTurn input{.fence = fence, .rows = std::move(rows), .receipt = std::move(end.receipt)};
  const auto committed = co_await apply(std::move(input));
  co_return after(committed);
}

net::Task<Runner::Next> Runner::finish(chat::Fence fence, std::vector<chat::NewMessage> rows, chat::FailTurn failure) {
  chat::FinishError input{.fence = fence,
                          .rows = std::move(rows),
                          .error = std::move(failure.error),
                          .receipt = std::move(failure.receipt)};
  const auto committed = co_await apply(std::move(input));
  co_return after(committed);
}

net::Task<Runner::Next> Runner::generate(const store::TurnRead& turn, const chat::TurnView& view,
                                         chat::Generate decision, const ModelRoute& route, Purpose purpose) {
  partial_text_.clear();
  partial_of_ = turn.chat.history_version;
  if (decision.governing) compiled_ = decision.governing->schema;
  chat::RecordGenerationAttempt attempt{.fence = chat::fence_of(turn.chat, owned_.runner)};
  auto recorded = co_await apply(std::move(attempt));
  if (!recorded) co_return Next::GoOn;
  const chat::Fence fence = chat::fence_of(recorded->chat, owned_.runner);
  if (fence.generation_attempt == 1 || !first_attempt_at_) first_attempt_at_ = place_.clock.steady_now();

  providers::ModelSettings settings = route.settings;
  if (turn.chat.reasoning_effort) settings.reasoning_effort = turn.chat.reasoning_effort;
  const bool sums_up = purpose == Purpose::Summary;
  chat::Prompt prompt = sums_up ? chat::compaction_prompt(view) : chat::build_prompt(view, decision);
  ++place_.counters.model_calls;
  episode_ = live::EpisodeKey(fence.history_version, fence.generation_attempt);
  AttemptResult result = co_await run_attempt(attempt_tools(), owned_.chat, fence, route, std::move(settings),
                                              std::move(prompt), purpose, stop_);
  if (auto* abandoned = std::get_if<Abandoned>(&result)) {
    partial_text_ = std::move(abandoned->partial_text);
    co_return Next::GoOn;
  }
  if (auto* failure = std::get_if<providers::Failure>(&result)) {
    ++place_.counters.model_call_failures;
    co_return co_await settle_failure(recorded->chat, decision, std::move(*failure));
  }
  const auto& step = std::get<chat::GeneratedStep>(result);
  if (!sums_up) partial_text_ = text_of(step);  // an interruption may have been committed meanwhile
  chat::StepPlan plan = sums_up ? chat::assemble_summary(view, step) : chat::assemble_step(view, decision, step);
  Next next = Next::GoOn;
  if (auto* end = std::get_if<chat::EndTurn>(&plan.then)) {
    next = co_await finish(fence, std::move(plan.rows), std::move(*end));
  } else if (auto* failed = std::get_if<chat::FailTurn>(&plan.then)) {
    next = co_await finish(fence, std::move(plan.rows), std::move(*failed));
  } else if (std::holds_alternative<chat::AwaitClient>(plan.then)) {
    next = co_await ask_client(fence, std::move(plan.rows));
  } else {
    chat::CommitStep commit{.fence = fence, .rows = std::move(plan.rows)};
    co_await apply(std::move(commit));
  }
  place_.episodes.end(owned_.chat, *episode_);
  co_return next;
}

net::Task<Runner::Next> Runner::ask_client(chat::Fence fence, std::vector<chat::NewMessage> rows) {
  chat::EnterRequiresAction input{
      .fence = fence, .rows = std::move(rows), .patience_ms = place_.settings.client_tools_timeout.count()};
  const auto committed = co_await apply(std::move(input));
  if (committed) log::info("waiting for the client's tools", {{"chat", owned_.chat.to_string()}});
  co_return Next::GoOn;
}

// The deadline is the database's: whoever has the chat then ends the wait, whoever began it.
net::Task<Runner::Next> Runner::await_client(const store::TurnRead& turn) {
  const chat::Fence fence = chat::fence_of(turn.chat, owned_.runner);
  const WaitingCount waiting(place_.counters);
  const WallTime due = turn.chat.requires_action_deadline.value_or(turn.now);
  const auto left = std::chrono::ceil<Milliseconds>(due - turn.now);
  const Deadline deadline = Deadline::after(place_.clock, std::max(left, Milliseconds(0)));
  const bool is_due = co_await wait_while_current(attempt_tools(), owned_.chat, fence, deadline, stop_);
  if (!is_due) co_return Next::GoOn;
  chat::CancelRequiresAction timeout{.fence = fence};
  const auto committed = co_await apply(std::move(timeout));
  if (committed) log::warning("the client did not answer in time", {{"chat", owned_.chat.to_string()}});
  co_return Next::GoOn;
}

net::Task<Runner::Next> Runner::settle_failure(const chat::Chat& chat, const chat::Generate& decision,
                                               providers::Failure failure) {
  const chat::Fence fence = chat::fence_of(chat, owned_.runner);
  const Milliseconds delay = providers::backoff(fence.generation_attempt, failure, place_.random);
  const SteadyTime window_end = *first_attempt_at_ + place_.settings.attempts_window;
  const bool may_retry = failure.retryable && fence.generation_attempt < place_.settings.attempts_max &&
                         place_.clock.steady_now() + delay <= window_end;
  log::warning("model call failed", {{"chat", owned_.chat.to_string()},
                                     {"attempt", fence.generation_attempt},
                                     {"kind", failure.error.kind},
                                     {"provider", failure.error.provider},
                                     {"detail", failure.error.detail},
                                     {"retries", may_retry ? "yes" : "no"}});
  if (!may_retry) {
    chat::FailTurn ended = chat::fail_generation(decision, std::move(failure.error));
    std::vector<chat::NewMessage> no_rows;
    co_return co_await finish(fence, std::move(no_rows), std::move(ended));
  }
  chat::RetryState state;
  state.attempt = fence.generation_attempt;
  state.delay_ms = delay.count();
  state.error = std::move(failure.error);
  state.retrying_at = place_.clock.wall_now() + delay;
  const Deadline retry_at = Deadline::after(place_.clock, delay);
  chat::RecordRetryState record{.fence = fence, .retry_state = std::move(state)};
  const auto recorded = co_await apply(std::move(record));
  if (recorded) co_await wait_while_current(attempt_tools(), owned_.chat, fence, retry_at, stop_);
  co_return Next::GoOn;
}

net::Task<Runner::Next> Runner::finish_interruption(const store::TurnRead& turn) {
  chat::FinishInterruption input;
  input.fence = chat::fence_of(turn.chat, owned_.runner);
  if (!partial_text_.empty() && partial_of_ == turn.chat.history_version)
    input.rows.push_back(partial_row(partial_text_, turn.chat));
  input.receipt = owed_receipt(turn, structured::OutcomeCode::Interrupted);
  const auto committed = co_await apply(std::move(input));
  co_return after(committed);
}

template <class Input>
net::Task<std::optional<store::Committed>> Runner::apply(Input input) {
  const Deadline patience = Deadline::after(place_.clock, place_.settings.lease);
  for (;;) {
    const auto decide = [&input](const chat::LockedChat& locked) { return chat::decide(locked, input); };
    store::failpoint("before", kPointOf<Input>);
    auto committed = co_await place_.chats.transit(owned_.chat, chat::reads_of(input), decide, store_deadline());
    if (committed) {
      store::failpoint("after", kPointOf<Input>);
      partial_text_.clear();  // it is in history now, or of an answer that nobody waits for
      if constexpr (requires { input.receipt; }) note_end(committed->chat, input.receipt);
      co_return std::optional<store::Committed>(std::move(*committed));
    }
    if (const auto* refusal = std::get_if<chat::Refusal>(&committed.error())) {
      const bool is_ordinary = refusal->kind == chat::RefusalKind::Stale;
      log::write(is_ordinary ? log::Level::Debug : log::Level::Warning, "transition refused",
                 {{"chat", owned_.chat.to_string()}, {"reason", refusal->message}});
      if (!is_ordinary) co_await net::sleep_for(place_.settings.acquire_interval, stop_);
      co_return std::nullopt;
    }
    const auto& error = std::get<store::StoreError>(committed.error());
    log::warning("transition not committed",
                 {{"chat", owned_.chat.to_string()}, {"error", error.message}, {"kind", store::to_string(error.kind)}});
    const bool is_known_undone =
        error.kind == store::StoreErrorKind::Unavailable || error.kind == store::StoreErrorKind::Timeout;
    if (error.kind == store::StoreErrorKind::InDoubt) co_return std::nullopt;
    if (!is_known_undone || patience.has_passed(place_.clock) || stop_.stopped()) {
      co_await net::sleep_for(place_.settings.acquire_interval, stop_);
      co_return std::nullopt;
    }
    co_await net::sleep_for(kStoreRetryDelay, stop_);
  }
}

void Runner::note_end(const chat::Chat& chat, const std::optional<structured::OutcomePart>& receipt) {
  first_attempt_at_.reset();
  log::info("turn ended", {{"chat", owned_.chat.to_string()},
                           {"status", chat::name_of(chat.status)},
                           {"receipt", receipt ? structured::name_of(receipt->status) : std::string_view("none")}});
  if (receipt) ++place_.counters.receipts.at(static_cast<std::size_t>(receipt->status));
}

AttemptTools Runner::attempt_tools() {
  return AttemptTools{.loop = place_.loop,
                      .chats = place_.chats,
                      .subscription = subscription_,
                      .episodes = place_.episodes,
                      .models = place_.models,
                      .clock = place_.clock,
                      .watch_interval = place_.settings.watch_interval};
}

Deadline Runner::store_deadline() const { return Deadline::after(place_.clock, kStoreTimeout); }

}  // namespace assay::worker

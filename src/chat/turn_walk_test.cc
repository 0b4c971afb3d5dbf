// Random users, random models, restarts at any point: what must hold whatever happens. Each walk is replayed by its
// seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "chat/memory_chat.h"
#include "chat/prompt_assembly.h"
#include "chat/step_plan.h"
#include "chat/turn.h"
#include "structured/finalizer.h"
#include "structured/outcome.h"
#include "structured/step_judgement.h"

namespace assay::chat {
namespace {

using structured::Finish;

constexpr const char* kSchemaText = R"({"type":"integer"})";
constexpr std::int64_t kSteps = 12;
constexpr std::uint64_t kWalks = 100;
constexpr int kActions = 80;

Transition transition_of(const SendMessage& input) {
  return input.busy_behavior == BusyBehavior::Queue ? Transition::SendMessageQueue : Transition::SendMessageInterrupt;
}
Transition transition_of(const DeleteQueuedMessage&) { return Transition::DeleteQueuedMessage; }
Transition transition_of(const Interrupt&) { return Transition::Interrupt; }
Transition transition_of(const SetArchived&) { return Transition::SetArchived; }
Transition transition_of(const RecordGenerationAttempt&) { return Transition::RecordGenerationAttempt; }
Transition transition_of(const CommitStep&) { return Transition::CommitStep; }
Transition transition_of(const FinishTurn&) { return Transition::FinishTurn; }
Transition transition_of(const FinishError&) { return Transition::FinishError; }
Transition transition_of(const FinishInterruption&) { return Transition::FinishInterruption; }

class Walk {
 public:
  explicit Walk(std::uint64_t seed) : random_(seed), chat_(start()) { model_.id = ModelConfigId::random(random_); }

  void run(int actions) {
    for (int i = 0; i < actions && !::testing::Test::HasFailure(); ++i) {
      act();
      check();
    }
    settle();
  }

  // What the requests of this walk came to: `succeeded` or a code.
  void collect(std::set<std::string_view>& outcomes) const {
    for (const RequestId& id : minted_) {
      const auto receipt = chat_.receipt(id);
      if (receipt) outcomes.insert(receipt->error ? structured::name_of(receipt->error->code) : "succeeded");
    }
  }

 private:
  NewChat start() {
    CreateChat input;
    input.content = content();
    return *create(input);
  }

  bool chance(std::uint64_t of) { return random_.below(of) == 0; }

  Content content() {
    Content made{TextPart{.text = "ask"}};
    if (chance(3)) return made;
    const RequestId id = RequestId::random(random_);
    minted_.push_back(id);
    made.emplace_back(
        structured::RequestPart{.request_id = id, .name = "n", .description = std::nullopt, .schema = kSchemaText});
    return made;
  }

  template <class Input>
  bool apply(const Input& input) {
    const State from = chat_.state();
    const Transition transition = transition_of(input);
    const auto refusal = chat_.apply(input);
    if (refusal) {
      if (refusal->kind == RefusalKind::Conflict) EXPECT_FALSE(is_allowed(transition, from));
      EXPECT_EQ(chat_.state(), from);
      return false;
    }
    const auto allowed = targets(transition, from);
    EXPECT_NE(std::find(allowed.begin(), allowed.end(), chat_.state()), allowed.end())
        << name_of(transition) << " led from " << name_of(from) << " to " << name_of(chat_.state());
    return true;
  }

  void act() {
    switch (random_.below(12)) {
      case 0:
      case 1:
        return user_acts();
      case 2:
        chat_.chat.runner_id.reset();  // the replica died, or its lease ran out
        return;
      default:
        return worker_acts();
    }
  }

  void user_acts() {
    switch (random_.below(8)) {
      case 0:
        apply(Interrupt{});
        return;
      case 1:
        apply(SetArchived{.archived = !chat_.chat.archived});
        return;
      case 2:
        if (!chat_.queue.empty()) {
          apply(DeleteQueuedMessage{.queue_id = chat_.queue[random_.below(chat_.queue.size())].id});
        }
        return;
      default:
        break;
    }
    SendMessage input;
    input.busy_behavior = chance(4) ? BusyBehavior::Interrupt : BusyBehavior::Queue;
    const std::size_t minted = minted_.size();
    input.content = content();
    if (!apply(input)) minted_.resize(minted);  // a refused request is owed nothing
  }

  void worker_acts() {
    const State state = chat_.state();
    if (!is_runnable(state)) return;
    if (!chat_.chat.runner_id) chat_.chat.runner_id = RunnerId::random(random_);
    if (chat_.chat.status == Status::Interrupting) return end_interruption();
    const TurnView view = this->view();
    TurnDecision decision = decide_turn(view);
    if (const auto* generate = std::get_if<Generate>(&decision)) return run_model(view, *generate);
    if (const auto* answers = std::get_if<AnswerCalls>(&decision)) {
      apply(CommitStep{.fence = fence(), .rows = answers->rows});
    } else if (const auto* end = std::get_if<EndTurn>(&decision)) {
      apply(FinishTurn{.fence = fence(), .rows = {}, .receipt = end->receipt});
    } else {
      const auto& failed = std::get<FailTurn>(decision);
      apply(FinishError{.fence = fence(), .rows = {}, .error = failed.error, .receipt = failed.receipt});
    }
  }

  void run_model(const TurnView& view, const Generate& generate) {
    EXPECT_TRUE(outstanding_calls(chat_.messages).empty());
    check_prompt(build_prompt(view, generate), generate.governing.has_value());
    if (!apply(RecordGenerationAttempt{.fence = fence()})) return;
    const Fence begun = fence();
    if (chance(15)) {
      const FailTurn failed = fail_generation(generate, turn_error(view, "timeout", "no answer"));
      apply(FinishError{.fence = begun, .rows = {}, .error = failed.error, .receipt = failed.receipt});
      return;
    }
    const StepPlan plan = assemble_step(view, generate, random_step());
    if (chance(10)) return;  // killed before the commit
    if (chance(6)) user_acts();
    const bool current = begun == fence() && chat_.chat.runner_id;
    bool done = false;
    if (const auto* end = std::get_if<EndTurn>(&plan.then)) {
      done = apply(FinishTurn{.fence = begun, .rows = plan.rows, .receipt = end->receipt});
    } else if (const auto* failed = std::get_if<FailTurn>(&plan.then)) {
      done = apply(FinishError{.fence = begun, .rows = plan.rows, .error = failed->error, .receipt = failed->receipt});
    } else {
      done = apply(CommitStep{.fence = begun, .rows = plan.rows});
    }
    EXPECT_EQ(done, current) << "work is committed exactly where its fence still holds";
  }

  void end_interruption() {
    const auto active = structured::active_request(row_views(chat_.messages));
    ASSERT_TRUE(active.has_value());
    FinishInterruption input{.fence = fence(), .rows = {}, .receipt = std::nullopt};
    if (*active) {
      input.receipt = structured::ended((*active)->request.request_id, structured::OutcomeCode::Interrupted);
    }
    apply(input);
  }

  GeneratedStep random_step() {
    constexpr Finish kFinishes[] = {Finish::Complete, Finish::ToolUse, Finish::ToolUse,      Finish::ToolUse,
                                    Finish::ToolUse,  Finish::Length,  Finish::Pause,        Finish::Unknown,
                                    Finish::Refusal,  Finish::Error,   Finish::ContentFilter};
    GeneratedStep step;
    step.finish = kFinishes[random_.below(std::size(kFinishes))];
    if (chance(2)) step.parts.emplace_back(TextPart{.text = "words"});
    const std::uint64_t calls = chance(3) ? 0 : 1 + random_.below(chance(3) ? 3 : 1);
    for (std::uint64_t i = 0; i < calls; ++i) step.parts.emplace_back(random_call());
    return step;
  }

  GeneratedToolCall random_call() {
    constexpr const char* kNames[] = {"coder_structured_output", "coder_structured_output", "known", "unknown", ""};
    constexpr const char* kArguments[] = {R"({"output": 7})",
                                          R"({"output":7})",
                                          R"({"output":"no"})",
                                          R"({"output":)",
                                          R"({"output":1,"output":2})",
                                          "{}",
                                          ""};
    GeneratedToolCall call;
    call.id = chance(4) ? "" : "id";
    call.name = kNames[random_.below(std::size(kNames))];
    call.arguments = kArguments[random_.below(std::size(kArguments))];
    call.over_cap = chance(12);
    call.provider_executed = chance(12);
    return call;
  }

  [[nodiscard]] TurnView view() const {
    return TurnView{.chat = chat_.chat,
                    .history = chat_.messages,
                    .tools = tools_,
                    .model = model_,
                    .strict_forced = false,
                    .steps_max = kSteps};
  }
  [[nodiscard]] Fence fence() const { return fence_of(chat_.chat, chat_.chat.runner_id.value_or(RunnerId{})); }

  [[nodiscard]] bool is_queued(RequestId id) const {
    return std::any_of(chat_.queue.begin(), chat_.queue.end(), [&](const QueuedMessage& message) {
      const auto* request = request_of(message.content);
      return request != nullptr && request->request_id == id;
    });
  }

  void check() const {
    ASSERT_NE(chat_.state(), State::Invalid);
    const auto active = structured::active_request(row_views(chat_.messages));
    ASSERT_TRUE(active.has_value()) << active.error().what;
    const bool at_rest = chat_.chat.status == Status::Waiting || chat_.chat.status == Status::Error;
    if (at_rest) {
      EXPECT_FALSE(active->has_value()) << "a chat at rest owes no receipt";
      EXPECT_TRUE(outstanding_calls(chat_.messages).empty());
    }
    EXPECT_EQ(chat_.chat.last_error.has_value(), chat_.chat.status == Status::Error);
    for (const RequestId& id : minted_) {
      const bool is_active = *active && (*active)->request.request_id == id;
      EXPECT_EQ(chat_.count_receipts(id), is_queued(id) || is_active ? 0u : 1u);
      check_receipt(id);
    }
  }

  void check_receipt(RequestId id) const {
    std::int64_t rejections = 0;
    std::optional<std::string> candidate;
    for (const Message& message : chat_.messages) {
      for (const Part& part : message.content) {
        const auto* control = std::get_if<structured::ControlPart>(&part);
        if (control == nullptr || control->request_id != id) continue;
        if (control->kind == structured::ControlKind::Rejection) ++rejections;
        if (control->kind == structured::ControlKind::Candidate) candidate = control->value;
      }
    }
    EXPECT_LE(rejections, structured::kRepairsMax + 1);
    const auto receipt = chat_.receipt(id);
    if (!receipt || receipt->status != structured::OutcomeStatus::Succeeded) return;
    EXPECT_EQ(receipt->value, "7");
    EXPECT_EQ(candidate, receipt->value);
  }

  static void check_prompt(const Prompt& prompt, bool governed) {
    EXPECT_EQ(prompt.tools.size(), governed ? 2u : 1u);
    std::vector<std::string> open;
    for (const PromptRow& row : prompt.rows) {
      EXPECT_FALSE(row.content.empty());
      if (row.role != Role::Tool) EXPECT_TRUE(open.empty()) << "a call without its result";
      for (const Part& part : row.content) {
        if (const auto* call = std::get_if<ToolCallPart>(&part); call != nullptr && !call->provider_executed) {
          open.push_back(call->id);
        } else if (const auto* result = std::get_if<ToolResultPart>(&part)) {
          EXPECT_EQ(std::erase(open, result->call_id), 1u) << "a result without its call";
        } else {
          EXPECT_LT(part.index(), 3u) << "an internal part in a prompt";
        }
      }
    }
    EXPECT_TRUE(open.empty());
  }

  // With no more users and no more crashes every turn ends; what is not queued has its receipt.
  void settle() {
    for (int i = 0; i < 2000 && is_runnable(chat_.state()) && !::testing::Test::HasFailure(); ++i) {
      worker_acts();
      check();
    }
    EXPECT_FALSE(is_runnable(chat_.state())) << "a turn without end";
  }

  SeededRandom random_;
  std::vector<RequestId> minted_;
  MemoryChat chat_;
  ModelDescription model_;
  std::vector<ToolDefinition> tools_{
      ToolDefinition{.name = "known", .description = "", .parameters = "{}", .strict_off = false}};
};

TEST(TurnWalk, OwesEachRequestExactlyOneReceiptWhateverHappens) {
  std::set<std::string_view> outcomes;
  for (std::uint64_t seed = 1; seed <= kWalks; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Walk walk(seed);
    walk.run(kActions);
    if (HasFailure()) return;
    walk.collect(outcomes);
  }
  EXPECT_EQ(outcomes,
            (std::set<std::string_view>{"succeeded", "not_produced", "validation_exhausted", "generation_failed",
                                        "configuration_error", "interrupted", "queue_deleted"}))
      << "the walks must reach every end that they can";
}

}  // namespace
}  // namespace assay::chat

#include "tests/model/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "base/random.h"
#include "chat/compaction.h"
#include "chat/prompt_assembly.h"
#include "chat/step_plan.h"
#include "chat/turn.h"
#include "structured/outcome.h"

namespace assay::model {
namespace {

using chat::MemoryChat;
using structured::Finish;

constexpr std::int64_t kStepsMax = 12;
constexpr std::size_t kPreparedMax = 3;
// Enough for the model steps, repairs and queued messages that a walk can leave behind.
constexpr int kSettlingMax = 4000;

struct Weighted {
  MoveKind kind;
  std::uint64_t weight;
  std::string_view name;
};
constexpr Weighted kMoves[] = {
    {MoveKind::Send, 10, "Send"},      {MoveKind::Interrupt, 3, "Interrupt"},
    {MoveKind::Archive, 2, "Archive"}, {MoveKind::Retitle, 1, "Retitle"},
    {MoveKind::Begin, 24, "Begin"},    {MoveKind::Commit, 22, "Commit"},
    {MoveKind::Repeat, 3, "Repeat"},   {MoveKind::Lose, 3, "Lose"},
    {MoveKind::Steal, 2, "Steal"},     {MoveKind::DeleteQueued, 3, "DeleteQueued"},
    {MoveKind::Answer, 4, "Answer"},   {MoveKind::Promote, 3, "Promote"},
    {MoveKind::Edit, 3, "Edit"},       {MoveKind::Compact, 2, "Compact"},
    {MoveKind::Clear, 1, "Clear"},
};

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  bool chance(std::uint64_t of) { return random_.below(of) == 0; }
  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  template <class Array>
  auto& one_of(Array& array) {
    return array[random_.below(std::size(array))];
  }
  Random& source() { return random_; }

 private:
  SeededRandom random_;
};

chat::GeneratedToolCall random_call(Dice& dice) {
  constexpr const char* kNames[] = {
      "coder_structured_output", "coder_structured_output", "known", "theirs", "theirs", "unknown", ""};
  constexpr const char* kArguments[] = {R"({"output": 7})",
                                        R"({"output":7})",
                                        R"({"output":"no"})",
                                        R"({"output":)",
                                        R"({"output":1,"output":2})",
                                        "{}",
                                        ""};
  chat::GeneratedToolCall call;
  call.id = dice.chance(4) ? "" : "id";
  call.name = dice.one_of(kNames);
  call.arguments = dice.one_of(kArguments);
  call.over_cap = dice.chance(12);
  call.provider_executed = dice.chance(12);
  return call;
}

chat::GeneratedStep random_answer(Dice& dice) {
  constexpr Finish kFinishes[] = {Finish::Complete, Finish::ToolUse, Finish::ToolUse,      Finish::ToolUse,
                                  Finish::ToolUse,  Finish::Length,  Finish::Pause,        Finish::Unknown,
                                  Finish::Refusal,  Finish::Error,   Finish::ContentFilter};
  chat::GeneratedStep step;
  step.finish = dice.one_of(kFinishes);
  if (dice.chance(2)) step.parts.emplace_back(chat::TextPart{.text = "words"});
  const std::uint64_t calls = dice.chance(3) ? 0 : 1 + dice.below(dice.chance(3) ? 3 : 1);
  for (std::uint64_t i = 0; i < calls; ++i) step.parts.emplace_back(random_call(dice));
  return step;
}

void check_rows(const chat::Prompt& prompt) {
  std::vector<std::string> open;
  for (const chat::PromptRow& row : prompt.rows) {
    require(!row.content.empty(), "an empty row in a prompt");
    require(row.role == chat::Role::Tool || open.empty(), "a call without its result in a prompt");
    for (const chat::PromptPart& part : row.content) {
      if (const auto* call = std::get_if<chat::ToolCallPart>(&part); call != nullptr && !call->provider_executed) {
        open.push_back(call->id);
      } else if (const auto* result = std::get_if<chat::ToolResultPart>(&part)) {
        require(std::erase(open, result->call_id) == 1, "a result without its call in a prompt");
      }
    }
  }
  require(open.empty(), "a call without its result ends a prompt");
}

void check_prompt(const chat::Prompt& prompt, bool governed) {
  require(prompt.tools.size() == (governed ? 3U : 2U), "the prompt offers the wrong tools");
  check_rows(prompt);
}

class Walk {
 public:
  explicit Walk(const WalkOptions& options) : options_(options), chat_(begin()) {
    model_.id = kModel;
    check();
  }

  void act(const Move& move) {
    Dice dice(move.seed);
    switch (move.kind) {
      case MoveKind::Send:
        return send(dice);
      case MoveKind::Interrupt:
        return std::ignore = apply(chat::Interrupt{}), void();
      case MoveKind::Archive:
        return std::ignore = apply(chat::SetArchived{.archived = !chat_.chat.archived}), void();
      case MoveKind::Retitle:
        return std::ignore = apply(chat::SetTitle{.title = fmt::format("title {}", dice.below(9))}), void();
      case MoveKind::DeleteQueued:
        return delete_queued(dice);
      case MoveKind::Promote:
        return promote(dice);
      case MoveKind::Edit:
        return edit(dice);
      case MoveKind::Compact:
        return std::ignore = apply(chat::RequestCompaction{}), void();
      case MoveKind::Clear:
        return std::ignore = apply(chat::ClearContext{}), void();
      case MoveKind::Answer:
        return answer_calls(dice);
      case MoveKind::Begin:
        return begin_work(dice);
      case MoveKind::Commit:
        return commit(dice);
      case MoveKind::Repeat:
        if (last_) try_commit(*last_);
        return;
      case MoveKind::Lose:
        return lose();
      case MoveKind::Steal:
        if (chat_.chat.runner_id && is_runnable(chat_.state())) take();
        return;
    }
  }

  // With no more users and no more losses every turn ends, and what is not queued has its receipt.
  void settle() {
    prepared_.clear();
    for (int i = 0; is_runnable(chat_.state()); ++i) {
      require(i < kSettlingMax, "a turn without end");
      Dice dice(static_cast<std::uint64_t>(i));
      begin_work(dice);
      if (prepared_.empty()) answer_calls(dice);
      if (!prepared_.empty()) try_commit(std::exchange(prepared_, {}).back());
    }
  }

  void report(WalkResult& result) const {
    result.steps = steps_;
    result.transitions = transitions_;
    for (const RequestId& id : accepted_) {
      const auto receipt = chat_.receipt(id);
      if (receipt) result.outcomes.insert(receipt->error ? structured::name_of(receipt->error->code) : "succeeded");
    }
  }

 private:
  struct Prepared {
    chat::Fence fence;
    Input input;
  };

  MemoryChat begin() {
    chat::CreateChat input;
    input.id = ChatId{Uuid{{1}}};
    input.owner_id = kUser;
    input.title = "a walk";
    input.model_config = kModel;
    SeededRandom ids(0);
    input.content = content(ids, true);
    chat::NewChat created = *chat::create(input);
    if (options_.mirror != nullptr) options_.mirror->create(created);
    return MemoryChat(std::move(created));
  }

  chat::Content content(Random& source, bool structured) {
    chat::Content made{chat::TextPart{.text = "ask"}};
    if (structured) made.emplace_back(request(source));
    return made;
  }

  structured::RequestPart request(Random& source) {
    accepted_.push_back(RequestId::random(source));
    return {.request_id = accepted_.back(), .name = "n", .description = std::nullopt, .schema = kSchemaText};
  }

  // Applies the input here and in the mirror. Whether it was allowed.
  bool apply(const Input& input) {
    ++steps_;
    const Mark before = mark_of(chat_);
    const chat::State from = chat_.state();
    const auto transition = transition_of(input);
    const auto refusal = model::apply(chat_, input);
    if (options_.mirror != nullptr) compare(refusal, options_.mirror->apply(input));
    if (refusal) {
      require(refusal->kind != chat::RefusalKind::Conflict || !transition || !is_allowed(*transition, from),
              "the table allows what was refused: " + refusal->message);
      require(before.chat.snapshot_version == chat_.chat.snapshot_version, "a refused transition changed the chat");
      return false;
    }
    if (transition) {
      transitions_.insert(*transition);
      const auto allowed = targets(*transition, from);
      require(std::find(allowed.begin(), allowed.end(), chat_.state()) != allowed.end(),
              fmt::format("{} led from {} to {}", name_of(*transition), name_of(from), name_of(chat_.state())));
    }
    check_step(before, chat_);
    return true;
  }

  static void compare(const std::optional<chat::Refusal>& here, const std::optional<chat::Refusal>& there) {
    require(here.has_value() == there.has_value(),
            here ? "only the database allows it; refused here: " + here->message
                 : "only the database refuses it" + (there ? ": " + there->message : ""));
    require(!here || here->kind == there->kind, "two kinds of refusal");
  }

 public:
  void check() {
    check_state(chat_, accepted_);
    if (chat_.chat.status == chat::Status::RequiresAction) {
      for (const chat::ToolCallPart& call : chat::outstanding_calls(chat_.messages)) {
        require(call.name == kTheirs, "the client is asked for a tool that is not its own");
      }
    }
    if (options_.mirror == nullptr) return;
    const std::string here = describe(chat_);
    const std::string there = describe(options_.mirror->read());
    require(here == there, "here:\n" + here + "in the database:\n" + there);
  }

 private:
  void send(Dice& dice) {
    chat::SendMessage input;
    input.busy_behavior = dice.chance(4) ? chat::BusyBehavior::Interrupt : chat::BusyBehavior::Queue;
    input.created_by = kUser;
    if (dice.chance(6)) input.reasoning_effort = "high";
    const std::size_t accepted = accepted_.size();
    input.content = content(dice.source(), !dice.chance(3));
    if (!apply(input)) accepted_.resize(accepted);  // a refused request is owed nothing
  }

  void delete_queued(Dice& dice) {
    const bool exists = !chat_.queue.empty() && !dice.chance(8);
    apply(chat::DeleteQueuedMessage{.queue_id = exists ? chat_.queue[dice.below(chat_.queue.size())].id : 4711});
  }

  void promote(Dice& dice) {
    const bool exists = !chat_.queue.empty() && !dice.chance(8);
    apply(chat::PromoteQueuedMessage{.queue_id = exists ? chat_.queue[dice.below(chat_.queue.size())].id : 4711});
  }

  void edit(Dice& dice) {
    std::vector<const chat::Message*> own;
    for (const chat::Message& row : chat_.messages) {
      if (row.role == chat::Role::User && row.visibility == chat::Visibility::Both) own.push_back(&row);
    }
    const chat::Message& target = *own[dice.below(own.size())];
    chat::EditMessage input;
    input.message_id = dice.chance(8) ? 4711 : target.id;
    input.content = {chat::TextPart{.text = "instead"}};
    input.created_by = kUser;
    const std::size_t accepted = accepted_.size();
    switch (dice.below(3)) {
      case 0:
        input.format = chat::ClearFormat{};
        break;
      case 1:
        input.format = request(dice.source());
        break;
      default:
        input.format = chat::KeepFormat{.request_id = RequestId::random(dice.source()), .is_admitted = !dice.chance(4)};
        if (chat::request_of(target.content) != nullptr) {
          accepted_.push_back(std::get<chat::KeepFormat>(input.format).request_id);
        }
        break;
    }
    if (!apply(input)) accepted_.resize(accepted);
  }

  void answer_calls(Dice& dice) {
    chat::CompleteRequiresAction input;
    input.created_by = kUser;
    for (const chat::ToolCallPart& call : chat::outstanding_calls(chat_.messages)) {
      input.results.push_back({.call_id = call.id, .output = "7", .is_error = dice.chance(3)});
    }
    std::reverse(input.results.begin(), input.results.end());
    const bool is_wrong = dice.chance(3);
    if (is_wrong && dice.chance(2) && !input.results.empty()) {
      input.results.pop_back();
    } else if (is_wrong) {
      input.results.push_back({.call_id = dice.chance(2) ? "never called" : "id", .output = "7"});
    }
    const bool waits = chat_.chat.status == chat::Status::RequiresAction;
    const bool done = apply(input);
    require(done == (waits && !is_wrong), done ? "wrong results were taken" : "right results were refused");
  }

  void take() {
    const RunnerId runner = options_.mirror != nullptr ? options_.mirror->acquire() : next_runner();
    chat_.acquire(runner);
  }

  RunnerId next_runner() { return RunnerId::random(runners_); }

  void lose() {
    if (!chat_.chat.runner_id) return;
    if (options_.mirror != nullptr) options_.mirror->release(*chat_.chat.runner_id);
    chat_.release();
  }

  [[nodiscard]] chat::Fence fence() const {
    return chat::fence_of(chat_.chat, chat_.chat.runner_id.value_or(RunnerId{}));
  }

  [[nodiscard]] chat::TurnView view() const {
    return chat::TurnView{.chat = chat_.chat,
                          .history = chat_.messages,
                          .tools = tools_,
                          .model = model_,
                          .strict_forced = false,
                          .steps_max = kStepsMax};
  }

  void prepare(Input input) {
    prepared_.push_back(Prepared{fence(), std::move(input)});
    if (prepared_.size() > kPreparedMax) prepared_.pop_front();
  }

  void begin_work(Dice& dice) {
    if (!is_runnable(chat_.state())) return;
    if (!chat_.chat.runner_id) take();
    if (chat_.chat.status == chat::Status::Interrupting) return prepare_interruption(dice);
    if (chat_.chat.status == chat::Status::RequiresAction) return wait_for_client();
    const chat::TurnView turn = view();
    chat::TurnDecision decision = chat::decide_turn(turn);
    if (const auto* generate = std::get_if<chat::Generate>(&decision)) {
      call_model(*generate, dice);
    } else if (std::holds_alternative<chat::Compact>(decision)) {
      sum_up(dice);
    } else if (const auto* answers = std::get_if<chat::AnswerCalls>(&decision)) {
      const Input next = answers->awaits_client ? commit_of(fence(), answers->rows, chat::AwaitClient())
                                                : commit_of(fence(), answers->rows, std::monostate());
      prepare(with_patience(next, dice));
    } else if (const auto* end = std::get_if<chat::EndTurn>(&decision)) {
      prepare(commit_of(fence(), {}, *end));
    } else {
      prepare(commit_of(fence(), {}, std::get<chat::FailTurn>(decision)));
    }
  }

  // A wait is over at once or not within any walk: no clock of the database moves the walk.
  static Input with_patience(Input input, Dice& dice) {
    constexpr std::int64_t kDayMs = 86'400'000;
    auto* waits = std::get_if<chat::EnterRequiresAction>(&input);
    if (waits != nullptr && dice.chance(2)) waits->patience_ms = kDayMs;
    return input;
  }

  void wait_for_client() {
    const chat::CancelRequiresAction timeout{.fence = fence()};
    if (chat_.now >= *chat_.chat.requires_action_deadline) return prepare(timeout);
    require(!apply(timeout), "a wait ended before its deadline");
  }

  void call_model(const chat::Generate& generate, Dice& dice) {
    require(chat::outstanding_calls(chat_.messages).empty(), "a model call with open calls");
    check_prompt(chat::build_prompt(view(), generate), generate.governing.has_value());
    const bool recorded = apply(chat::RecordGenerationAttempt{.fence = fence()});
    require(recorded, "an attempt was refused");
    if (dice.chance(15)) {
      prepare(
          commit_of(fence(), {}, chat::fail_generation(generate, chat::turn_error(view(), "timeout", "no answer"))));
      return;
    }
    if (dice.chance(12)) {
      chat::RetryState retry;
      retry.attempt = chat_.chat.generation_attempt;
      retry.error.message = "later";
      retry.error.kind = "timeout";
      prepare(chat::RecordRetryState{.fence = fence(), .retry_state = std::move(retry)});
      return;
    }
    Input next = commit_of(fence(), chat::assemble_step(view(), generate, random_answer(dice)));
    prepare(with_patience(std::move(next), dice));
  }

  void sum_up(Dice& dice) {
    const chat::Prompt prompt = chat::compaction_prompt(view());
    require(prompt.rows.size() > 1, "nothing to sum up");
    check_rows(prompt);
    const bool recorded = apply(chat::RecordGenerationAttempt{.fence = fence()});
    require(recorded, "an attempt was refused");
    chat::GeneratedStep answer = random_answer(dice);
    if (dice.chance(2)) {
      answer.finish = Finish::Complete;
      answer.parts.emplace_back(chat::TextPart{.text = "all of it"});
    }
    prepare(commit_of(fence(), chat::assemble_summary(view(), answer)));
  }

  void prepare_interruption(Dice& dice) {
    const auto active = structured::active_request(chat::row_views(chat_.messages));
    chat::FinishInterruption input{.fence = fence(), .rows = {}, .receipt = std::nullopt};
    // Of a model call that was cut short: none begins while a call is open.
    const bool has_partial = dice.chance(3) && chat::outstanding_calls(chat_.messages).empty();
    if (has_partial) input.rows.push_back(chat::text_row(chat::Role::Assistant, chat::Visibility::Both, "partial"));
    if (*active && options_.broken != Broken::InterruptionWithoutReceipt) {
      input.receipt = structured::ended((*active)->request.request_id, structured::OutcomeCode::Interrupted);
    }
    prepare(std::move(input));
  }

  void commit(Dice& dice) {
    if (prepared_.empty()) return;
    const std::size_t index = dice.chance(4) ? dice.below(prepared_.size()) : prepared_.size() - 1;
    Prepared work = std::move(prepared_[index]);
    prepared_.erase(prepared_.begin() + static_cast<std::ptrdiff_t>(index));
    try_commit(std::move(work));
  }

  void try_commit(Prepared work) {
    const bool is_current = work.fence == fence() && chat_.chat.runner_id;
    if (options_.broken == Broken::LateCommitsPassTheFence) {
      std::visit(
          [this](auto& input) {
            if constexpr (requires { input.fence; }) input.fence = fence();
          },
          work.input);
    }
    const bool done = apply(work.input);
    require(options_.broken != Broken::Nothing || done == is_current,
            done ? "a commit passed a fence that had moved" : "a commit was refused while its fence still held");
    last_ = std::move(work);
  }

  static constexpr std::string_view kTheirs = "theirs";
  static constexpr UserId kUser{Uuid{{2}}};
  static constexpr ModelConfigId kModel{Uuid{{3}}};

  const WalkOptions options_;
  std::vector<RequestId> accepted_;
  SeededRandom runners_{4};
  MemoryChat chat_;
  std::deque<Prepared> prepared_;
  std::optional<Prepared> last_;
  chat::ModelDescription model_;
  std::vector<chat::ToolDefinition> tools_{
      chat::ToolDefinition{.name = "known", .description = "", .parameters = "{}"},
      chat::ToolDefinition{
          .name = std::string(kTheirs), .description = "", .parameters = "{}", .client_executed = true}};
  std::uint64_t steps_ = 0;
  std::set<chat::Transition> transitions_;
};

}  // namespace

Moves random_moves(std::uint64_t seed, std::size_t count) {
  std::uint64_t total = 0;
  for (const Weighted& move : kMoves) total += move.weight;
  SeededRandom random(seed);
  Moves moves;
  while (moves.size() < count) {
    std::uint64_t at = random.below(total);
    const auto* chosen = std::begin(kMoves);
    while (at >= chosen->weight) at -= (chosen++)->weight;
    moves.push_back(Move{chosen->kind, random.next()});
  }
  return moves;
}

std::string describe(const Moves& moves) {
  std::string text;
  for (const Move& move : moves) {
    const auto* named = std::find_if(std::begin(kMoves), std::end(kMoves),
                                     [&move](const Weighted& one) { return one.kind == move.kind; });
    text += fmt::format("  {} {:#x}\n", named->name, move.seed);
  }
  return text;
}

WalkResult run_walk(const Moves& moves, const WalkOptions& options) {
  WalkResult result;
  std::size_t done = 0;
  try {
    Walk walk(options);
    for (const Move& move : moves) {
      walk.act(move);
      walk.check();
      ++done;
    }
    walk.settle();
    walk.check();
    walk.report(result);
  } catch (const Violation& violation) {
    result.violation = fmt::format("after {} moves: {}", done, violation.what());
  }
  return result;
}

// Delta debugging: takes away ever smaller parts while the rest still fails.
Moves shrink(Moves moves, const std::function<bool(const Moves&)>& fails) {
  for (std::size_t part = std::max<std::size_t>(moves.size() / 2, 1);; part /= 2) {
    for (bool took = true; took;) {
      took = false;
      for (std::size_t at = 0; at < moves.size();) {
        const std::size_t end = std::min(at + part, moves.size());
        Moves fewer(moves.begin(), moves.begin() + static_cast<std::ptrdiff_t>(at));
        fewer.insert(fewer.end(), moves.begin() + static_cast<std::ptrdiff_t>(end), moves.end());
        if (fails(fewer)) {
          moves = std::move(fewer);
          took = true;
        } else {
          at = end;
        }
      }
    }
    if (part <= 1) return moves;
  }
}

}  // namespace assay::model

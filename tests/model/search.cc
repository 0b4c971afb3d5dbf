#include "tests/model/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chat/content.h"
#include "chat/rows.h"
#include "chat/turn.h"
#include "structured/outcome.h"
#include "tests/model/inputs.h"
#include "tests/model/invariants.h"

namespace assay::model {
namespace {

using chat::MemoryChat;

constexpr std::int64_t kAttemptsMax = 2;  // of one step; the worker's attempts_total_max
constexpr std::size_t kReplicas = 2;
constexpr UserId kUser{Uuid{{2}}};
constexpr std::array kAnswers{R"({"output":7})", R"({"output":"no"})"};
constexpr const char* kTheirTool = "theirs";

// What a replica has in its memory; all of it goes when it dies.
struct Replica {
  enum class Phase { Away, Owner, Ready, Answered };
  Phase phase = Phase::Away;
  RunnerId runner;
  chat::Fence fence;                    // of `commit`, as it stands before the attempt
  bool calls_model = false;             // Ready: the attempt is recorded first
  std::shared_ptr<const Input> commit;  // Ready, Answered
  std::string commit_text;              // digest of what of it counts
  std::string answer;                   // the text of the answer that `commit` holds
  std::string partial;                  // of an answer that was not committed as far as this replica knows
  std::int64_t partial_of = 0;          // the history_version that it answered
};

struct World {
  std::shared_ptr<const MemoryChat> chat;
  std::string text;  // digest of what of the chat counts, versions and runners aside
  std::array<Replica, kReplicas> replicas;
  std::vector<RequestId> accepted;
  int client_actions = 0;
  std::uint8_t runners = 0;
};

struct Step {
  World world;
  std::string label;
  bool is_progress;  // neither the client's doing nor a death, a lapse or a doubt
};

// Stands for a text in keys: 16 bytes in place of thousands.
std::string digest(const std::string& text) {
  return fmt::format("{:x}.{:x}", std::hash<std::string>{}(text), std::hash<std::string>{}(text + "#"));
}

// Says which answer of which turn a text belongs to.
std::string answer_tag(const MemoryChat& chat) {
  std::size_t inputs = 0;
  std::size_t steps = 0;
  for (const structured::RowView& row : chat::row_views(chat.messages)) {
    if (structured::is_input_row(row)) {
      ++inputs;
      steps = 0;
    } else if (structured::is_step_row(row)) {
      ++steps;
    }
  }
  const auto deleted = chat::row_views(chat.deleted);
  inputs += static_cast<std::size_t>(std::count_if(deleted.begin(), deleted.end(), structured::is_input_row));
  return fmt::format("turn {} step {}", inputs, steps);
}

class Search {
 public:
  explicit Search(const SearchOptions& options) : options_(options) {}

  SearchResult run() {
    try {
      explore();
      check_ends();
    } catch (const Violation& violation) {
      result_.violation = violation.what();
    }
    result_.states = nodes_.size();
    return result_;
  }

 private:
  struct Node {
    std::uint32_t parent = 0;
    std::string label;
    bool is_rest = false;
    std::vector<std::uint32_t> progress;
  };
  struct Key {
    std::size_t first;
    std::size_t second;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return key.first; }
  };

  void explore() {
    visit(first_world(), 0, "create", false);
    while (!frontier_.empty()) {
      auto [index, world] = std::move(frontier_.front());
      frontier_.pop_front();
      steps_of(world, index);
    }
  }

  World first_world() {
    chat::CreateChat input;
    input.owner_id = kUser;
    input.content = content(1);
    World world{.chat = std::make_shared<MemoryChat>(*chat::create(input)),
                .text = "",
                .replicas = {},
                .accepted = {request_id(1)},
                .client_actions = options_.client_actions,
                .runners = 0};
    world.text = text_of(*world.chat);
    return world;
  }

  static RequestId request_id(std::size_t number) { return RequestId{Uuid{{9, static_cast<std::uint8_t>(number)}}}; }

  static chat::Content content(std::size_t number) {
    return {chat::TextPart{.text = "ask"},
            structured::RequestPart{
                .request_id = request_id(number), .name = "n", .description = std::nullopt, .schema = kSchemaText}};
  }

  void visit(World world, std::uint32_t parent, std::string label, bool is_progress) {
    const std::string text = key_of(world);
    const Key key{std::hash<std::string>{}(text), std::hash<std::string>{}(text + "#")};
    const auto [found, is_new] = known_.try_emplace(key, static_cast<std::uint32_t>(nodes_.size()));
    if (is_progress) nodes_[parent].progress.push_back(found->second);
    if (!is_new) return;
    nodes_.push_back(Node{parent, std::move(label), !is_runnable(world.chat->state()), {}});
    try {
      check_state(*world.chat, world.accepted);
    } catch (const Violation& violation) {
      throw Violation(violation.what() + path_to(found->second));
    }
    if (nodes_.back().is_rest) ++result_.ends;
    frontier_.emplace_back(found->second, std::move(world));
  }

  // Equal where two worlds go on alike. Of turns that are over only inputs and receipts count; versions and runners
  // only by whether they are still current.
  [[nodiscard]] std::string key_of(const World& world) const {
    std::string key = fmt::format("{} {}{}", world.client_actions, world.accepted.size(), world.text);
    std::array<std::string, kReplicas> replicas;
    for (std::size_t i = 0; i < kReplicas; ++i) replicas[i] = key_of(world, world.replicas[i]);
    std::sort(replicas.begin(), replicas.end());
    for (const std::string& replica : replicas) key += "|" + replica;
    return key + (world.chat->chat.runner_id ? owner_of(world) == nullptr ? "|dead" : "|alive" : "|none");
  }

  static std::string text_of(const MemoryChat& chat) {
    std::string text =
        fmt::format("|{} {}", static_cast<int>(chat.chat.status), std::min(chat.chat.generation_attempt, kAttemptsMax));
    const auto views = chat::row_views(chat.messages);
    std::size_t last_input = views.size();
    while (last_input > 0 && !structured::is_input_row(views[last_input - 1])) --last_input;
    for (std::size_t i = 0; i < views.size(); ++i) {
      const chat::Message& message = chat.messages[i];
      const bool counts = i + 1 >= last_input || structured::is_input_row(views[i]) || !views[i].outcomes.empty();
      if (counts) {
        text += fmt::format("|{}{}{}", static_cast<int>(message.role), static_cast<int>(message.visibility),
                            encode_content(message.content));
      }
    }
    for (const chat::Message& message : chat.deleted) {
      for (const chat::Part& part : message.content) {
        if (const auto* request = std::get_if<structured::RequestPart>(&part)) {
          text += "|deleted request " + request->request_id.to_string();
        } else if (const auto* outcome = std::get_if<structured::OutcomePart>(&part)) {
          text += "|deleted receipt " + outcome->request_id.to_string();
        }
      }
    }
    for (const chat::QueuedMessage& message : chat.queue) text += "|queued" + encode_content(message.content);
    return digest(text);
  }

  [[nodiscard]] std::string key_of(const World& world, const Replica& replica) const {
    if (replica.phase == Replica::Phase::Away) return "away";
    const bool is_owner = world.chat->chat.runner_id == replica.runner;
    const bool is_current = is_owner && replica.fence == chat::fence_of(world.chat->chat, replica.runner);
    std::string key = fmt::format("{} {}", static_cast<int>(replica.phase), is_owner);
    if (replica.commit) {
      const bool shows =
          is_current || options_.omitted == Omitted::Fence || options_.omitted == Omitted::FenceAndReceiptGuard;
      key += shows ? fmt::format(" {}{}", replica.calls_model, replica.commit_text) : " stale";
      key += replica.answer;
    }
    if (!replica.partial.empty() && is_fit(replica, world.chat->chat)) key += " partial " + replica.partial;
    return key;
  }

  static std::string describe(const Input& input) {
    std::string text = std::to_string(input.index());
    std::visit(
        [&text](const auto& one) {
          if constexpr (requires { one.rows; }) {
            for (const chat::NewMessage& row : one.rows) text += encode_content(row.content);
          }
          if constexpr (requires { one.receipt; }) {
            if (one.receipt) text += structured::receipt_text(*one.receipt) + one.receipt->request_id.to_string();
          }
        },
        input);
    return text;
  }

  static const Replica* owner_of(const World& world) {
    for (const Replica& replica : world.replicas) {
      const bool is_here = replica.phase != Replica::Phase::Away;
      if (is_here && world.chat->chat.runner_id == replica.runner) return &replica;
    }
    return nullptr;
  }

  // Whether what a cut answer said may still be added to history.
  [[nodiscard]] bool is_fit(const Replica& replica, const chat::Chat& chat) const {
    return options_.omitted == Omitted::PartialTextAge || replica.partial_of == chat.history_version;
  }

  void emit(World world, std::uint32_t from, std::string label, bool is_progress) {
    ++result_.steps;
    visit(std::move(world), from, std::move(label), is_progress);
  }

  // --- The client ---------------------------------------------------------------------------------------------------

  void steps_of(const World& world, std::uint32_t from) {
    if (world.client_actions > 0) client_steps(world, from);
    for (std::size_t i = 0; i < kReplicas; ++i) replica_steps(world, i, from);
  }

  void client_steps(const World& world, std::uint32_t from) {
    chat::SendMessage send;
    send.created_by = kUser;
    send.content = content(world.accepted.size() + 1);
    client_step(world, from, "send", send);
    send.busy_behavior = chat::BusyBehavior::Interrupt;
    client_step(world, from, "send, interrupting", send);
    client_step(world, from, "interrupt", chat::Interrupt{});
    if (!world.chat->queue.empty()) {
      client_step(world, from, "delete the queue's head",
                  chat::DeleteQueuedMessage{.queue_id = world.chat->queue.front().id});
      client_step(world, from, "promote the queue's last",
                  chat::PromoteQueuedMessage{.queue_id = world.chat->queue.back().id});
    }
    chat::EditMessage edit;
    for (const chat::Message& row : world.chat->messages) {
      const bool is_input = row.role == chat::Role::User && row.visibility == chat::Visibility::Both;
      if (is_input) edit.message_id = row.id;
    }
    edit.content = {chat::TextPart{.text = "ask again"}};
    edit.created_by = kUser;
    edit.format = chat::KeepFormat{.request_id = request_id(world.accepted.size() + 1), .is_admitted = true};
    client_step(world, from, "edit the last message", edit);
    if (world.chat->chat.status == chat::Status::RequiresAction) {
      chat::CompleteRequiresAction results;
      results.created_by = kUser;
      for (const chat::ToolCallPart& call : chat::outstanding_calls(world.chat->messages)) {
        results.results.push_back({.call_id = call.id, .output = "7", .is_error = false});
      }
      client_step(world, from, "results", results);
    }
  }

  void client_step(const World& world, std::uint32_t from, const char* label, const Input& input) {
    World next = world;
    --next.client_actions;
    if (!transact(next, input, from, label)) return;
    if (std::holds_alternative<chat::SendMessage>(input) || std::holds_alternative<chat::EditMessage>(input)) {
      next.accepted.push_back(request_id(world.accepted.size() + 1));
    }
    emit(std::move(next), from, label, false);
  }

  // One transaction. False: refused.
  bool transact(World& world, Input input, std::uint32_t from, const std::string& label) {
    const bool unfenced = options_.omitted == Omitted::Fence || options_.omitted == Omitted::FenceAndReceiptGuard;
    if (unfenced) {
      std::visit(
          [&world](auto& one) {
            if constexpr (requires { one.fence; }) {
              one.fence = chat::fence_of(world.chat->chat, world.chat->chat.runner_id.value_or(RunnerId()));
            }
          },
          input);
    }
    const Mark before = mark_of(*world.chat);
    chat::LockedChat locked = world.chat->locked(reads_of(input));
    if (options_.omitted == Omitted::FenceAndReceiptGuard) locked.closed_requests.clear();
    const chat::Decision decision = decide(locked, input);
    if (!decision) return false;
    const auto changed = std::make_shared<MemoryChat>(*world.chat);
    changed->carry_out(*decision);
    world.chat = changed;
    world.text = text_of(*world.chat);
    try {
      check_step(before, *world.chat);
    } catch (const Violation& violation) {
      throw Violation(violation.what() + path_to(from) + "\n  " + label);
    }
    return true;
  }

  // --- A replica, as worker/runner.cc has it ------------------------------------------------------------------------

  void replica_steps(const World& world, std::size_t index, std::uint32_t from) {
    const Replica& replica = world.replicas[index];
    if (replica.phase == Replica::Phase::Away) return acquire(world, index, from);
    // What a replica has read and decided changes nothing but its memory: to die with it is to die before.
    if (replica.phase != Replica::Phase::Ready) {
      World dead = world;
      dead.replicas[index] = Replica();
      emit(std::move(dead), from, "a death", false);
    }
    if (replica.phase == Replica::Phase::Owner) return read_and_decide(world, index, from);
    if (replica.calls_model && replica.phase == Replica::Phase::Ready) return record_attempt(world, index, from);
    commit(world, index, from);
  }

  void acquire(const World& world, std::size_t index, std::uint32_t from) {
    if (!is_runnable(world.chat->state())) return;
    const bool has_owner = world.chat->chat.runner_id.has_value();
    const bool is_overtaking = owner_of(world) != nullptr;
    if (has_owner && options_.omitted == Omitted::Takeover) return;
    World next = world;
    Replica& replica = next.replicas[index];
    replica.phase = Replica::Phase::Owner;
    replica.runner = RunnerId{Uuid{{7, ++next.runners}}};
    const auto changed = std::make_shared<MemoryChat>(*world.chat);
    changed->acquire(replica.runner);
    next.chat = changed;
    emit(std::move(next), from, is_overtaking ? "an acquisition after a lapse" : "an acquisition", !is_overtaking);
  }

  void leave(const World& world, std::size_t index, std::uint32_t from) {
    World next = world;
    next.replicas[index] = Replica();
    emit(std::move(next), from, "a runner that lost its chat leaves", true);
  }

  void read_and_decide(const World& world, std::size_t index, std::uint32_t from) {
    const chat::Chat& chat = world.chat->chat;
    const Replica& replica = world.replicas[index];
    if (chat.runner_id != replica.runner) return leave(world, index, from);
    const chat::Fence fence = chat::fence_of(chat, replica.runner);
    if (chat.status == chat::Status::Interrupting) return prepare_interruption(world, index, from);
    if (chat.status == chat::Status::RequiresAction) {
      return prepare(world, index, from, "a deadline", chat::CancelRequiresAction{.fence = fence});
    }
    if (chat.status != chat::Status::Running) return;

    static const chat::ModelDescription kModel;
    static const std::vector<chat::ToolDefinition> kTools{
        chat::ToolDefinition{.name = kTheirTool, .description = "", .parameters = "{}", .client_executed = true}};
    const std::span<const chat::ToolDefinition> tools =
        options_.client_tools ? std::span<const chat::ToolDefinition>(kTools) : std::span<const chat::ToolDefinition>();
    const chat::TurnView view{.chat = chat, .history = world.chat->messages, .tools = tools, .model = kModel};
    const chat::TurnDecision decision = chat::decide_turn(view);
    if (const auto* generate = std::get_if<chat::Generate>(&decision)) {
      const bool is_spent = chat.generation_attempt >= kAttemptsMax && options_.omitted != Omitted::AttemptLimit;
      if (!is_spent) return choose_answer(world, index, from, view, *generate);
      const chat::FailTurn failed = chat::fail_generation(*generate, chat::turn_error(view, "generic", "too many"));
      prepare(world, index, from, "too many attempts", commit_of(fence, {}, failed));
    } else if (const auto* answers = std::get_if<chat::AnswerCalls>(&decision)) {
      const Input next = answers->awaits_client ? commit_of(fence, answers->rows, chat::AwaitClient())
                                                : commit_of(fence, answers->rows, std::monostate());
      prepare(world, index, from, "answers for lost calls", next);
    } else if (const auto* end = std::get_if<chat::EndTurn>(&decision)) {
      prepare(world, index, from, "the turn's end", commit_of(fence, {}, *end));
    } else {
      prepare(world, index, from, "a failure", commit_of(fence, {}, std::get<chat::FailTurn>(decision)));
    }
  }

  void prepare(const World& world, std::size_t index, std::uint32_t from, const char* label, Input input) {
    World next = world;
    Replica& replica = next.replicas[index];
    replica.phase = Replica::Phase::Ready;
    replica.fence = chat::fence_of(world.chat->chat, replica.runner);
    replica.commit_text = digest(describe(input));
    replica.commit = std::make_shared<Input>(std::move(input));
    emit(std::move(next), from, label, true);
  }

  // What the model will say is chosen here and used once the attempt is recorded.
  void choose_answer(const World& world, std::size_t index, std::uint32_t from, const chat::TurnView& view,
                     const chat::Generate& generate) {
    chat::Fence later = chat::fence_of(world.chat->chat, world.replicas[index].runner);
    ++later.generation_attempt;
    const auto call = [&](const char* label, Input input, std::string answer) {
      World next = world;
      Replica& replica = next.replicas[index];
      replica.phase = Replica::Phase::Ready;
      replica.fence = chat::fence_of(world.chat->chat, replica.runner);
      replica.calls_model = true;
      replica.commit_text = digest(describe(input));
      replica.commit = std::make_shared<Input>(std::move(input));
      replica.answer = std::move(answer);
      replica.partial.clear();
      emit(std::move(next), from, label, true);
    };
    const auto say = [&](const char* tool, const char* arguments) {
      chat::GeneratedStep step;
      step.finish = structured::Finish::ToolUse;
      step.parts.emplace_back(chat::TextPart{.text = answer_tag(*world.chat)});
      step.parts.emplace_back(chat::GeneratedToolCall{.id = "id",
                                                      .name = tool,
                                                      .arguments = arguments,
                                                      .over_cap = false,
                                                      .provider_executed = false,
                                                      .provider_state = ""});
      call(arguments, commit_of(later, chat::assemble_step(view, generate, step)), answer_tag(*world.chat));
    };
    for (const char* arguments : kAnswers) say("coder_structured_output", arguments);
    if (options_.client_tools && answer_tag(*world.chat).ends_with("step 0")) say(kTheirTool, "{}");
    const chat::ChatError error = chat::turn_error(view, "timeout", "no answer");
    if (later.generation_attempt < kAttemptsMax || options_.omitted == Omitted::AttemptLimit) {
      chat::RetryState retry;
      retry.error = error;
      call("no answer, again later", chat::RecordRetryState{.fence = later, .retry_state = std::move(retry)}, "");
    } else {
      call("no answer", commit_of(later, {}, chat::fail_generation(generate, error)), "");
    }
  }

  void prepare_interruption(const World& world, std::size_t index, std::uint32_t from) {
    const Replica& replica = world.replicas[index];
    chat::FinishInterruption input{
        .fence = chat::fence_of(world.chat->chat, replica.runner), .rows = {}, .receipt = std::nullopt};
    if (!replica.partial.empty() && is_fit(replica, world.chat->chat)) {
      input.rows.push_back(chat::text_row(chat::Role::Assistant, chat::Visibility::Both, replica.partial));
    }
    const auto active = structured::active_request(chat::row_views(world.chat->messages));
    if (active->has_value() && options_.omitted != Omitted::InterruptionReceipt) {
      input.receipt = structured::ended((*active)->request.request_id, structured::OutcomeCode::Interrupted);
    }
    prepare(world, index, from, "an interruption's end", std::move(input));
  }

  void record_attempt(const World& world, std::size_t index, std::uint32_t from) {
    World next = world;
    const chat::RecordGenerationAttempt input{.fence = world.replicas[index].fence};
    const bool done = transact(next, input, from, "an attempt");
    World known = done ? next : world;
    Replica& replica = known.replicas[index];
    if (done) {
      replica.phase = Replica::Phase::Answered;
      replica.calls_model = false;
      ++replica.fence.generation_attempt;
    } else {
      forget(replica);
    }
    emit(std::move(known), from, done ? "an attempt is recorded" : "an attempt is refused", true);
    doubt(world, next, index, from, done, "an attempt");
  }

  void commit(const World& world, std::size_t index, std::uint32_t from) {
    World next = world;
    const Input& input = *world.replicas[index].commit;
    check_partial_text(world, input, from);
    const bool done = transact(next, input, from, "a commit");
    World known = done ? next : world;
    Replica& replica = known.replicas[index];
    keep_partial(world, replica);
    if (done) replica.partial.clear();
    forget(replica);
    if (done && known.chat->chat.runner_id != replica.runner) replica = Replica();
    emit(std::move(known), from, done ? "a commit" : "a commit is refused", true);
    doubt(world, next, index, from, done, "a commit");
  }

  // The connection was lost: before the commit, or after it where it was possible.
  void doubt(const World& before, const World& after, std::size_t index, std::uint32_t from, bool was_possible,
             const std::string& what) {
    if (before.replicas[index].phase == Replica::Phase::Answered) {  // else as if it had not been tried
      World undone = before;
      keep_partial(before, undone.replicas[index]);
      forget(undone.replicas[index]);
      emit(std::move(undone), from, what + " in doubt, not done", false);
    }
    if (!was_possible) return;
    World done = after;
    keep_partial(before, done.replicas[index]);
    forget(done.replicas[index]);
    emit(std::move(done), from, what + " in doubt, done", false);
  }

  static void keep_partial(const World& before, Replica& replica) {
    if (replica.phase != Replica::Phase::Answered || replica.answer.empty()) return;
    replica.partial = replica.answer;
    replica.partial_of = before.replicas[0].runner == replica.runner ? before.replicas[0].fence.history_version
                                                                     : before.replicas[1].fence.history_version;
  }

  static void forget(Replica& replica) {
    replica.phase = Replica::Phase::Owner;
    replica.calls_model = false;
    replica.commit.reset();
    replica.answer.clear();
    replica.fence = chat::Fence();
  }

  void check_partial_text(const World& world, const Input& input, std::uint32_t from) const {
    const auto* interruption = std::get_if<chat::FinishInterruption>(&input);
    if (interruption == nullptr || interruption->rows.empty()) return;
    const auto& text = std::get<chat::TextPart>(interruption->rows.front().content.front()).text;
    if (!(interruption->fence == chat::fence_of(world.chat->chat, interruption->fence.runner_id))) return;
    if (text == answer_tag(*world.chat)) return;
    throw Violation("an interruption at " + answer_tag(*world.chat) + " repeats the text of " + text + path_to(from));
  }

  // --- Of the whole -------------------------------------------------------------------------------------------------

  // Steps that are progress lead from every state to rest: none is stuck, and there is no circle among them.
  void check_ends() const {
    enum class Mark : std::uint8_t { New, Open, Done };
    std::vector<Mark> marks(nodes_.size(), Mark::New);
    std::vector<std::pair<std::uint32_t, std::size_t>> path;
    for (std::uint32_t start = 0; start < nodes_.size(); ++start) {
      if (marks[start] != Mark::New) continue;
      path.emplace_back(start, 0);
      while (!path.empty()) {
        auto& [at, next] = path.back();
        const Node& node = nodes_[at];
        marks[at] = Mark::Open;
        require(!node.progress.empty() || node.is_rest, "nobody goes on" + path_to(at));
        if (next == node.progress.size()) {
          marks[at] = Mark::Done;
          path.pop_back();
          continue;
        }
        const std::uint32_t to = node.progress[next++];
        require(marks[to] != Mark::Open, "a turn without end" + path_to(to));
        if (marks[to] == Mark::New) path.emplace_back(to, 0);
      }
    }
  }

  [[nodiscard]] std::string path_to(std::uint32_t index) const {
    std::vector<std::string> labels;
    for (;; index = nodes_[index].parent) {
      labels.push_back(nodes_[index].label);
      if (index == 0) break;
    }
    std::string text = ", after";
    for (auto label = labels.rbegin(); label != labels.rend(); ++label) text += "\n  " + *label;
    return text;
  }

  const SearchOptions options_;
  SearchResult result_;
  std::vector<Node> nodes_;
  std::unordered_map<Key, std::uint32_t, KeyHash> known_;
  std::deque<std::pair<std::uint32_t, World>> frontier_;
};

}  // namespace

SearchResult search(const SearchOptions& options) { return Search(options).run(); }

}  // namespace assay::model

#include "chat/step_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "chat/content.h"
#include "chat/dynamic_tools.h"
#include "json/document.h"
#include "json/limits.h"
#include "json/writer.h"
#include "structured/finalizer.h"
#include "structured/outcome.h"
#include "structured/response_format.h"
#include "structured/step_judgement.h"

namespace assay::chat {

namespace {

using structured::Finish;

// What may be stored and replayed as the arguments of an ordinary call.
constexpr json::Caps kToolArgumentsCaps{.bytes_max = kToolArgumentsBytesMax, .depth_max = 64};

constexpr std::string_view kInvalidArgumentsText =
    "Not executed: the arguments are not one valid JSON object within the limits. Call again with valid arguments.";
constexpr std::string_view kTruncatedText =
    "Not executed: the answer was cut off by the output token limit before it was complete. Keep it shorter.";
constexpr std::string_view kIncompleteText = "Not executed: the answer that made this call was not complete.";

// The pattern that every provider accepts is the one of a format's name.
constexpr std::string_view kInvalidToolName = "invalid_tool_name";

bool is_arguments_object(std::string_view raw) {
  const auto document = json::Document::parse(std::string(raw), kToolArgumentsCaps);
  return document && document->root().is(json::Kind::Object);
}

// The step while its rows are made.
class Draft {
 public:
  Draft(const TurnView& turn, const GeneratedStep& step) : turn_(turn) {
    assistant_.role = Role::Assistant;
    assistant_.visibility = Visibility::Both;
    assistant_.model_config = turn.model.id;
    assistant_.reasoning_effort = turn.chat.reasoning_effort;
    assistant_.usage = step.usage;
    if (!assistant_.usage.context_limit && turn.model.context_limit > 0) {
      assistant_.usage.context_limit = turn.model.context_limit;
    }
    for (const GeneratedPart& part : step.parts) std::visit([this](const auto& known) { take(known); }, part);
  }

  [[nodiscard]] const std::vector<structured::StepCall>& calls() const { return calls_; }
  [[nodiscard]] bool has_local_calls() const {
    return std::any_of(calls_.begin(), calls_.end(), [](const auto& call) { return !call.provider_executed; });
  }
  // There are open calls, and every one is of a client's tool.
  [[nodiscard]] bool awaits_client() const {
    bool any = false;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (calls_[i].provider_executed || closed_.contains(i)) continue;
      const ToolDefinition* tool = find_tool(turn_.tools, calls_[i].name);
      if (tool == nullptr || !tool->client_executed) return false;
      any = true;
    }
    return any;
  }
  [[nodiscard]] bool has_open_provider_call() const { return open_provider_calls_ > 0; }
  [[nodiscard]] bool has_text() const {
    return std::any_of(assistant_.content.begin(), assistant_.content.end(),
                       [](const Part& part) { return std::holds_alternative<TextPart>(part); });
  }
  [[nodiscard]] bool is_empty() const { return assistant_.content.empty(); }

  void close_call(const structured::CallAnswer& answer) {
    ToolCallPart& call = call_part(answer.call);
    if (!answer.keep_arguments) refuse_arguments(call);
    closed_.insert(answer.call);
    results_.push_back(result_row(call, answer.text, answer.is_error));
  }

  // Ordinary calls of a complete step: what cannot run gets its error at once, the rest stays open for its tool.
  void answer_what_cannot_run() {
    for_each_local([this](std::size_t index, const ToolCallPart& call) {
      if (call.rejected_arguments) {
        close_call({.call = index, .text = std::string(kInvalidArgumentsText)});
      } else if (find_tool(turn_.tools, call.name) == nullptr) {
        close_call({.call = index, .text = std::string(kUnknownToolText)});
      }
    });
  }

  void refuse_all(std::string_view text) {
    for_each_local([&](std::size_t index, const ToolCallPart&) {
      close_call({.call = index, .text = std::string(text), .is_error = true, .keep_arguments = false});
    });
  }

  void add_pause() { assistant_.content.emplace_back(PausePart{}); }
  void add_control(const structured::ControlPart& control) { assistant_.content.emplace_back(control); }
  void add_corrective(std::string text) {
    results_.push_back(text_row(Role::User, Visibility::Model, std::move(text)));
  }

  std::vector<NewMessage> take_rows() {
    std::vector<NewMessage> rows;
    if (!assistant_.content.empty()) rows.push_back(std::move(assistant_));
    for (NewMessage& row : results_) rows.push_back(std::move(row));
    return rows;
  }

 private:
  void take(const TextPart& part) {
    if (!part.text.empty()) assistant_.content.emplace_back(part);
  }
  void take(const ReasoningPart& part) {
    if (!part.text.empty() || !part.provider_state.empty()) assistant_.content.emplace_back(part);
  }
  void take(const SourcePart& part) { assistant_.content.emplace_back(part); }
  void take(const ProviderItemPart& part) { assistant_.content.emplace_back(part); }
  void take(ToolResultPart part) {
    part.provider_executed = true;
    // Clients and other providers read results as JSON.
    if (!json::Document::parse(part.result, json::kEnvelopeCaps))
      part.result = json::Writer().string(part.result).take();
    if (open_provider_calls_ > 0) --open_provider_calls_;
    assistant_.content.emplace_back(std::move(part));
  }
  void take(const GeneratedToolCall& generated) {
    ToolCallPart call{.id = unique_id(generated),
                      .name = replayable_name(generated.name),
                      .arguments = generated.arguments,
                      .rejected_arguments = false,
                      .provider_executed = generated.provider_executed,
                      .provider_state = generated.provider_state};
    // Some servers send nothing where a call has no arguments.
    if (call.arguments.empty() && !generated.over_cap) call.arguments = structured::kArgumentsPlaceholder;
    if (generated.over_cap || !is_arguments_object(call.arguments)) refuse_arguments(call);
    if (call.provider_executed) ++open_provider_calls_;
    calls_.push_back({.name = generated.name,
                      .raw_arguments = generated.arguments,
                      .over_cap = generated.over_cap,
                      .provider_executed = generated.provider_executed});
    call_parts_.push_back(assistant_.content.size());
    assistant_.content.emplace_back(std::move(call));
  }

  // Providers leave ids out or use one twice, in one answer or over many. Results find their calls by id, and one that
  // a client sends late must not find the call of another step. The newest id of the chat's rows only grows.
  std::string unique_id(const GeneratedToolCall& generated) {
    if (calls_.empty()) note_earlier_ids();
    std::string id = generated.id.empty() ? "call" : generated.id;
    if (generated.id.empty() || ids_.contains(id)) {
      id += fmt::format("-{}-{}", turn_.chat.last_message_id + 1, calls_.size());
    }
    while (!ids_.insert(id).second) id += 'x';
    return id;
  }
  void note_earlier_ids() {
    for (const Message& message : turn_.history) {
      for (const Part& part : message.content) {
        if (const auto* call = std::get_if<ToolCallPart>(&part)) ids_.insert(call->id);
      }
    }
  }

  // A name that no tool has may hold what no provider takes back.
  [[nodiscard]] std::string replayable_name(const std::string& name) const {
    const bool is_known = find_tool(turn_.tools, name) != nullptr;
    return structured::is_format_name(name) || is_known ? name : std::string(kInvalidToolName);
  }

  static void refuse_arguments(ToolCallPart& call) {
    call.arguments = structured::kArgumentsPlaceholder;
    call.provider_state.clear();  // it may hold the same bytes
    call.rejected_arguments = true;
  }

  ToolCallPart& call_part(std::size_t call) { return std::get<ToolCallPart>(assistant_.content[call_parts_[call]]); }

  template <class Visit>
  void for_each_local(Visit visit) {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (!calls_[i].provider_executed) visit(i, call_part(i));
    }
  }

  const TurnView& turn_;
  NewMessage assistant_;
  std::vector<NewMessage> results_;
  std::vector<structured::StepCall> calls_;
  std::vector<std::size_t> call_parts_;  // where in the assistant row
  std::set<std::size_t> closed_;         // calls with a result
  std::set<std::string> ids_;
  std::size_t open_provider_calls_ = 0;
};

using Then = std::variant<std::monostate, EndTurn, FailTurn, AwaitClient>;

Then fail_step(const TurnView& turn, std::string_view kind, std::string message) {
  return FailTurn{.error = turn_error(turn, kind, std::move(message)), .receipt = std::nullopt};
}

bool follows_tool_results(const TurnView& turn) {
  for (std::size_t i = turn.history.size(); i > 0; --i) {
    const Message& message = turn.history[i - 1];
    if (message.visibility != Visibility::User) return message.role == Role::Tool;
  }
  return false;
}

Then judge_ordinary(const TurnView& turn, Finish finish, Draft& draft) {
  if (finish == Finish::ToolUse) {
    draft.answer_what_cannot_run();
  } else {
    draft.refuse_all(finish == Finish::Length ? kTruncatedText : kIncompleteText);
  }
  switch (finish) {
    case Finish::ContentFilter:
      return fail_step(turn, "content_filter", "The provider's content filter stopped the answer.");
    case Finish::Error:
      return fail_step(turn, "generic", "The provider ended the answer with an error.");
    case Finish::Refusal:
      if (draft.has_text()) return EndTurn{};
      return fail_step(turn, "content_filter", "The model refused to answer.");
    default:
      break;
  }
  if (draft.awaits_client()) return AwaitClient{};
  if (draft.has_local_calls() || draft.has_open_provider_call() || finish == Finish::Pause) return std::monostate{};
  // Having said nothing after its tools a model has ended its turn; an answer that is empty from the first is none.
  if (draft.is_empty() && !follows_tool_results(turn)) {
    return fail_step(turn, "generic", "The model gave an empty answer.");
  }
  return EndTurn{};
}

struct GovernedJudge {
  const TurnView& turn;
  const Governing& governing;
  Draft& draft;

  Then operator()(const structured::GoOn&) const {
    draft.answer_what_cannot_run();
    if (draft.awaits_client()) return AwaitClient{};
    return std::monostate{};
  }
  Then operator()(const structured::Accept& accepted) const {
    draft.close_call(accepted.answer);
    draft.add_control(accepted.control);
    return EndTurn{.receipt = structured::succeeded(governing.request.request.request_id, accepted.value)};
  }
  Then operator()(const structured::Reject& rejected) const {
    for (const structured::CallAnswer& answer : rejected.answers) draft.close_call(answer);
    draft.add_control(rejected.control);
    if (rejected.corrective) draft.add_corrective(*rejected.corrective);
    if (!rejected.exhausted) return std::monostate{};
    return fail_request(turn, governing.request.request.request_id, *rejected.exhausted);
  }
  Then operator()(const structured::Abort& aborted) const {
    for (const structured::CallAnswer& answer : aborted.answers) draft.close_call(answer);
    return fail_request(turn, governing.request.request.request_id, aborted.error);
  }
};

struct TextBytes {
  std::size_t operator()(const TextPart& part) const { return part.text.size() + part.provider_state.size(); }
  std::size_t operator()(const ProviderItemPart& part) const { return part.provider_state.size(); }
  std::size_t operator()(const ReasoningPart& part) const { return part.text.size() + part.provider_state.size(); }
  std::size_t operator()(const GeneratedToolCall& part) const {
    return part.arguments.size() + part.provider_state.size();
  }
  std::size_t operator()(const ToolResultPart& part) const { return part.result.size() + part.provider_state.size(); }
  std::size_t operator()(const SourcePart& part) const { return part.url.size() + part.title.size(); }
};

// Whether the rows can be read back later. Escaping makes text up to six times as long, so only a step that might be
// too long is encoded to find out.
bool is_keepable(const GeneratedStep& step, const std::vector<NewMessage>& rows) {
  std::size_t bytes = 0;
  for (const GeneratedPart& part : step.parts) bytes += std::visit(TextBytes{}, part);
  if (bytes <= kStoredContentBytesMax / 8) return true;
  return std::ranges::all_of(
      rows, [](const NewMessage& row) { return encode_content(row.content).size() <= kStoredContentBytesMax; });
}

std::size_t pauses_in_a_row(const TurnView& turn) {
  std::size_t pauses = 0;
  for (auto message = turn.history.rbegin(); message != turn.history.rend(); ++message) {
    if (message->visibility == Visibility::User) continue;
    const bool pauses_here =
        std::ranges::any_of(message->content, [](const Part& part) { return std::holds_alternative<PausePart>(part); });
    if (!pauses_here) break;
    ++pauses;
  }
  return pauses;
}

// An answer of which nothing is kept.
StepPlan refuse_answer(const TurnView& turn, const Generate& generate, std::string message) {
  StepPlan plan;
  if (generate.governing) {
    structured::OutcomeError error;
    error.code = structured::OutcomeCode::GenerationFailed;
    error.message = message;
    plan.then = fail_request(turn, generate.governing->request.request.request_id, error);
  } else {
    plan.then = fail_step(turn, "generic", std::move(message));
  }
  return plan;
}

}  // namespace

StepPlan assemble_step(const TurnView& turn, const Generate& generate, const GeneratedStep& step) {
  if (step.finish == Finish::Pause && pauses_in_a_row(turn) >= kPausesMax) {
    return refuse_answer(turn, generate, "The model provider paused its answer again and again.");
  }
  Draft draft(turn, step);
  if (step.finish == Finish::Pause) draft.add_pause();
  Then then;
  if (generate.governing) {
    std::vector<std::string_view> names;
    for (const ToolDefinition& tool : turn.tools) names.push_back(tool.name);
    const structured::FinishedStep finished{.finish = step.finish, .calls = draft.calls()};
    const Governing& governing = *generate.governing;
    then = std::visit(GovernedJudge{.turn = turn, .governing = governing, .draft = draft},
                      structured::judge_step(governing.request, governing.schema, finished, names));
  } else {
    then = judge_ordinary(turn, step.finish, draft);
  }
  StepPlan plan{.rows = draft.take_rows(), .then = std::move(then)};
  if (is_keepable(step, plan.rows)) return plan;
  return refuse_answer(turn, generate, "The model's answer was larger than a message may be.");
}

FailTurn fail_generation(const Generate& generate, ChatError error) {
  FailTurn failed{.error = std::move(error), .receipt = std::nullopt};
  if (generate.governing) {
    failed.receipt = structured::ended(generate.governing->request.request.request_id,
                                       structured::OutcomeCode::GenerationFailed, failed.error.message);
  }
  return failed;
}

}  // namespace assay::chat

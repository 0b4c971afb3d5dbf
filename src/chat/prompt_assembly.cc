#include "chat/prompt_assembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "chat/context.h"
#include "structured/finalizer.h"

namespace assay::chat {

namespace {

// Shown where a call's arguments were not kept: nobody takes it for what the model sent.
constexpr std::string_view kArgumentsNotice = R"({"notice":"these arguments were not valid and are not kept"})";

class Assembly {
 public:
  explicit Assembly(const ModelConfigId& model_config) : model_config_(model_config) {}

  void add(const Message& message) {
    const bool own = message.model_config == model_config_;
    PromptRow row{.role = message.role, .content = {}};
    if (message.role != Role::Tool) close_step();
    for (const Part& part : message.content) add_part(part, own, row.content);
    if (!row.content.empty()) rows_.push_back(std::move(row));
  }

  std::vector<PromptRow> take() {
    close_step();
    return std::move(rows_);
  }

 private:
  void add_part(const Part& part, bool own, PromptContent& content) {
    if (const auto* text = std::get_if<TextPart>(&part)) {
      if (text->text.empty()) return;
      content.emplace_back(TextPart{.text = text->text, .provider_state = own ? text->provider_state : std::string()});
    } else if (const auto* file = std::get_if<FileReferencePart>(&part)) {
      content.emplace_back(TextPart{.text = fmt::format("{} (lines {} to {}):\n{}", file->file_name, file->start_line,
                                                        file->end_line, file->content)});
    } else if (const auto* reasoning = std::get_if<ReasoningPart>(&part)) {
      content.emplace_back(
          ReasoningPart{.text = reasoning->text, .provider_state = own ? reasoning->provider_state : std::string()});
    } else if (const auto* item = std::get_if<ProviderItemPart>(&part)) {
      if (own) content.emplace_back(*item);
    } else if (const auto* call = std::get_if<ToolCallPart>(&part)) {
      add_call(*call, own, content);
    } else if (const auto* result = std::get_if<ToolResultPart>(&part)) {
      add_result(*result, own, content);
    }
  }

  void add_call(ToolCallPart call, bool own, PromptContent& content) {
    if (call.provider_executed && !own) return;
    if (!own) call.provider_state.clear();
    if (call.rejected_arguments) call.arguments = kArgumentsNotice;
    if (!call.provider_executed) step_.push_back(Answered{.call = call, .answer = std::nullopt});
    content.emplace_back(std::move(call));
  }

  // A result without its call in the row before is left out: no wire takes one.
  void add_result(ToolResultPart result, bool own, PromptContent& content) {
    if (result.provider_executed) {
      if (own) content.emplace_back(std::move(result));
      return;
    }
    const auto found = std::ranges::find_if(
        step_, [&](const Answered& call) { return !call.answer && call.call.id == result.call_id; });
    if (found == step_.end()) return;
    if (!own) result.provider_state.clear();
    found->answer = std::move(result);
  }

  // The results of the step, in the order of its calls, whoever answered first.
  void close_step() {
    for (Answered& call : step_) {
      PromptRow row{.role = Role::Tool, .content = {}};
      if (call.answer) {
        row.content.emplace_back(std::move(*call.answer));
      } else {
        row.content.emplace_back(std::get<ToolResultPart>(result_row(call.call, kLostCallText, true).content.front()));
      }
      rows_.push_back(std::move(row));
    }
    step_.clear();
  }

  struct Answered {
    ToolCallPart call;
    std::optional<ToolResultPart> answer;
  };

  ModelConfigId model_config_;
  std::vector<PromptRow> rows_;
  std::vector<Answered> step_;  // local calls of the last step
};

bool is_for_models(const Message& message) {
  const bool is_receipt = std::any_of(message.content.begin(), message.content.end(), [](const Part& part) {
    return std::holds_alternative<structured::OutcomePart>(part);
  });
  return message.visibility != Visibility::User && !is_receipt;
}

}  // namespace

std::vector<PromptRow> prompt_rows(std::span<const Message> history, const ModelConfigId& model_config) {
  Assembly assembly(model_config);
  for (const Message& message : context_of(history)) {
    if (message.role != Role::System && is_for_models(message)) assembly.add(message);
  }
  return assembly.take();
}

Prompt build_prompt(const TurnView& turn, const Generate& generate) {
  Prompt prompt;
  for (const Message& message : turn.history) {
    if (message.role != Role::System || !is_for_models(message)) continue;
    for (const Part& part : message.content) {
      const auto* text = std::get_if<TextPart>(&part);
      if (text != nullptr && !text->text.empty()) prompt.system.push_back(text->text);
    }
  }
  prompt.rows = prompt_rows(turn.history, turn.model.id);
  prompt.tools.assign(turn.tools.begin(), turn.tools.end());
  prompt.cache_key = turn.chat.id.to_string();
  if (!generate.governing) return prompt;
  const structured::RequestPart& request = generate.governing->request.request;
  prompt.system.emplace_back(structured::finalizer_instruction());
  prompt.tools.push_back(
      ToolDefinition{.name = std::string(structured::kFinalizerName),
                     .description = structured::finalizer_description(request),
                     .parameters = structured::finalizer_parameters(request.schema),
                     .strict_off = true,
                     .parameters_2020_12 = structured::finalizer_parameters_2020_12(request.schema)});
  return prompt;
}

}  // namespace assay::chat

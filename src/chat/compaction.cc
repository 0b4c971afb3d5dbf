#include "chat/compaction.h"

#include <string>
#include <string_view>
#include <utility>

#include "chat/content.h"
#include "chat/context.h"
#include "chat/prompt_assembly.h"
#include "json/writer.h"

namespace assay::chat {

namespace {

constexpr std::string_view kInstruction =
    "Write a summary of this conversation. It will replace the conversation: whoever continues the work sees the "
    "summary alone. Say what the user wants and what the task is; which decisions were taken, and why; the facts that "
    "matter, such as names, paths, commands, figures and interfaces; which errors occurred and how they were solved; "
    "what is done, what is under way at this moment, and what is left. Be dense. Point to large contents instead of "
    "repeating them. Answer with the summary alone.";

constexpr std::string_view kCarryOver =
    "The earlier part of this conversation was replaced by the following summary. Go on from it.\n\n";

std::string text_of(const GeneratedStep& step) {
  std::string text;
  for (const GeneratedPart& part : step.parts) {
    if (const auto* piece = std::get_if<TextPart>(&part)) text += piece->text;
  }
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::string notice_result(std::string_view summary) {
  json::Writer writer;
  writer.begin_object().member("summary", summary).member("source", "manual").end_object();
  return writer.take();
}

StepPlan failed(const TurnView& turn, std::string_view why) {
  StepPlan plan;
  plan.then = FailTurn{
      .error = turn_error(turn, "generic", "The conversation could not be summed up: " + std::string(why) + "."),
      .receipt = std::nullopt};
  return plan;
}

}  // namespace

Prompt compaction_prompt(const TurnView& turn) {
  Prompt prompt = build_prompt(turn, Generate{});
  prompt.tools.clear();
  PromptContent content;
  content.emplace_back(TextPart{.text = std::string(kInstruction)});
  prompt.rows.push_back(PromptRow{.role = Role::User, .content = std::move(content)});
  return prompt;
}

StepPlan assemble_summary(const TurnView& turn, const GeneratedStep& step) {
  if (step.finish == structured::Finish::Length) return failed(turn, "the model's summary was cut off");
  if (step.finish != structured::Finish::Complete) return failed(turn, "the model gave no whole summary");
  const std::string summary = text_of(step);
  if (summary.empty()) return failed(turn, "the model's summary was empty");
  StepPlan plan;
  plan.rows = boundary_rows(std::string(kCarryOver) + summary, kSummarizedNotice, notice_result(summary),
                            turn.chat.history_version);
  for (const NewMessage& row : plan.rows) {
    if (encode_content(row.content).size() > kStoredContentBytesMax) return failed(turn, "the summary was too large");
  }
  plan.rows[1].model_config = turn.model.id;
  plan.rows[1].usage = step.usage;
  plan.then = EndTurn{};
  return plan;
}

}  // namespace assay::chat

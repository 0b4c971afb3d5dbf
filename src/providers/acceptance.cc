#include "providers/acceptance.h"

#include <algorithm>

#include "base/check.h"

namespace assay::providers {
namespace {

using structured::Finish;

struct Reason {
  Wire wire;
  std::string_view word;
  Finish finish;
};

constexpr Reason kReasons[] = {
    {Wire::OpenAiChat, "stop", Finish::Complete},
    {Wire::OpenAiChat, "tool_calls", Finish::ToolUse},
    {Wire::OpenAiChat, "function_call", Finish::ToolUse},
    {Wire::OpenAiChat, "length", Finish::Length},
    {Wire::OpenAiChat, "content_filter", Finish::ContentFilter},
    {Wire::OpenAiResponses, "completed", Finish::Complete},
    {Wire::OpenAiResponses, "incomplete/max_output_tokens", Finish::Length},
    {Wire::OpenAiResponses, "incomplete/content_filter", Finish::ContentFilter},

    {Wire::Anthropic, "end_turn", Finish::Complete},
    {Wire::Anthropic, "stop_sequence", Finish::Complete},
    {Wire::Anthropic, "tool_use", Finish::ToolUse},
    {Wire::Anthropic, "max_tokens", Finish::Length},
    {Wire::Anthropic, "model_context_window_exceeded", Finish::Length},
    {Wire::Anthropic, "refusal", Finish::Refusal},
    {Wire::Anthropic, "pause_turn", Finish::Pause},
    {Wire::Anthropic, "content_filtered", Finish::ContentFilter},      // Bedrock
    {Wire::Anthropic, "guardrail_intervened", Finish::ContentFilter},  // Bedrock
};

struct Rule {
  Wire wire;
  // A plainly complete answer with whole calls counts as tool use.
  bool complete_with_calls;
  // Tool use needs calls that the wire has closed; else their bytes are judged later, so that the model is told.
  bool needs_whole_calls;
  // Servers of this wire exist that report a call cut at the token cap as complete: the count must prove that it was
  // not.
  bool needs_token_count;
};

constexpr Rule kRules[] = {
    {Wire::OpenAiChat, true, false, true},
    {Wire::OpenAiResponses, true, true, true},
    {Wire::Anthropic, false, true, false},
};

const Rule& rule_of(Wire wire) {
  const auto* rule = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) { return r.wire == wire; });
  ASSAY_CHECK(rule != std::end(kRules), "every wire has its rule");
  return *rule;
}

int severity(Finish finish) {
  switch (finish) {
    case Finish::Complete:
      return 0;
    case Finish::ToolUse:
      return 1;
    case Finish::Length:
      return 2;
    case Finish::Unknown:
    case Finish::Pause:
      return 3;
    case Finish::ContentFilter:
      return 4;
    case Finish::Refusal:
      return 5;
    case Finish::Error:
      return 6;
  }
  return 6;
}

}  // namespace

Finish finish_of_reason(Wire wire, std::string_view reason) {
  for (const Reason& known : kReasons) {
    if (known.wire == wire && known.word == reason) return known.finish;
  }
  return Finish::Unknown;
}

Finish more_conservative(Finish left, Finish right) { return severity(right) > severity(left) ? right : left; }

Finish judge(Wire wire, const AnswerEnd& end) {
  const Rule& rule = rule_of(wire);
  Finish finish = end.said;
  if (end.is_refused && severity(finish) < severity(Finish::ContentFilter)) return Finish::Refusal;
  if (severity(finish) > severity(Finish::ToolUse)) return finish;
  if (end.is_qualified) return Finish::Unknown;
  if (finish == Finish::Complete && end.calls > 0) {
    if (!rule.complete_with_calls || !end.calls_are_whole) return Finish::Unknown;
    finish = Finish::ToolUse;
  }
  if (finish != Finish::ToolUse) return finish;
  if (end.calls == 0) return Finish::Unknown;
  if (rule.needs_whole_calls && !end.calls_are_whole) return Finish::Unknown;
  if (end.output_tokens_max) {
    if (!end.output_tokens) return rule.needs_token_count ? Finish::Unknown : finish;
    if (*end.output_tokens >= *end.output_tokens_max) return Finish::Length;
  }
  return finish;
}

}  // namespace assay::providers

#pragma once
// Chat Completions: the answer, streamed or (from servers that ignore `stream`) as one object.
//
// How the answer ended is judged by acceptance.h, from the most conservative of the finish reasons that came.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/document.h"
#include "providers/body_decoder.h"
#include "providers/string_joiner.h"
#include "providers/think_splitter.h"
#include "providers/wire.h"

namespace assay::providers {

[[nodiscard]] std::unique_ptr<Decoder> make_openai_chat_decoder(const ProviderConfig& provider,
                                                                const ModelSettings& model, const chat::Prompt& prompt);

class OpenAiChatDecoder final : public BodyDecoder {
 public:
  explicit OpenAiChatDecoder(Options options) : BodyDecoder(std::move(options)) {}

 private:
  void read_event(const SseEvent& event, json::Value root, const EventCallback& on_event) override;
  void read_whole(json::Value root, const EventCallback& on_event) override;
  void end_parts(const EventCallback& on_event) override;
  [[nodiscard]] std::optional<Failure> failure_at_end(BodyEnd end) const override;
  chat::GeneratedStep take_step() override;

  void read_chunk(json::Value chunk, const EventCallback& on_event);
  void read_choice(json::Value choice, const EventCallback& on_event);
  void read_message(json::Value message, const EventCallback& on_event);
  void read_content(json::Value content, const EventCallback& on_event);
  void read_tool_call(json::Value call, const EventCallback& on_event);
  void read_finish_reason(std::string_view reason);
  void read_usage(json::Value usage, const EventCallback& on_event);

  void add_text(std::string text, const EventCallback& on_event);
  void add_reasoning(std::string text, const EventCallback& on_event);
  void add_split(ThinkSplitter::Split split, const EventCallback& on_event);
  void flush_texts(const EventCallback& on_event);
  [[nodiscard]] bool is_within_text_budget(std::size_t bytes);

  [[nodiscard]] structured::Finish judge_finish() const;
  [[nodiscard]] std::vector<chat::GeneratedPart> take_parts();

  // One place in the answer's order: text between two calls, reasoning between two calls, or a call.
  struct Slot {
    enum class Kind { Text, Reasoning, Call } kind;
    std::size_t call = 0;
    std::string text;
  };
  Slot& open_slot(Slot::Kind kind);

  StringJoiner text_joiner_{Unencodable::Replace};
  StringJoiner reasoning_joiner_{Unencodable::Replace};
  StringJoiner refusal_joiner_{Unencodable::Replace};
  ThinkSplitter think_splitter_;
  std::vector<Slot> slots_;
  std::size_t text_bytes_ = 0;
  chat::Usage usage_;
  std::optional<std::int64_t> completion_tokens_;
  std::optional<structured::Finish> finish_;
  bool is_refused_ = false;
  bool is_aborted_ = false;
};

}  // namespace assay::providers

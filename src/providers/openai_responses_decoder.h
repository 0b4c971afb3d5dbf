#pragma once
// OpenAI Responses: the answer, streamed or (from servers that ignore `stream`) as one object.
//
// An answer is a list of items. Deltas show them while they grow; `response.output_item.done` and the response of the
// terminal event say what they are. A call whose arguments differ between the two is no call that can be trusted: that
// is a protocol fault. How the answer ended is judged by acceptance.h from the terminal response alone.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/document.h"
#include "providers/body_decoder.h"
#include "providers/openai_responses_items.h"
#include "providers/string_joiner.h"
#include "providers/wire.h"

namespace assay::providers {

// Items of one answer, and what is kept of them to be sent back: hosted tools make the most of both.
inline constexpr std::size_t kOutputItemsMax = 512;
inline constexpr std::size_t kReplayBytesMax = 4 * 1024 * 1024;
inline constexpr std::size_t kSourcesMax = 512;

[[nodiscard]] std::unique_ptr<Decoder> make_openai_responses_decoder(const ProviderConfig& provider,
                                                                     const ModelSettings& model,
                                                                     const chat::Prompt& prompt);

class OpenAiResponsesDecoder final : public BodyDecoder {
 public:
  explicit OpenAiResponsesDecoder(Options options) : BodyDecoder(std::move(options)) {}

 private:
  enum class Kind { Message, Reasoning, Call, Other };
  static Kind kind_of(json::Value item);

  // One place in the answer's order.
  struct Item {
    Kind kind = Kind::Other;
    std::optional<std::int64_t> output_index;
    std::string id;
    bool is_done = false;
    bool is_listed = false;  // the terminal response holds it
    bool is_whole = true;    // no status said otherwise
    std::string text;        // of a message or of reasoning
    std::int64_t part = 0;   // to which the latest delta belonged
    StringJoiner joiner{Unencodable::Replace};
    std::string call_id;
    std::string name;
    std::optional<std::size_t> call;  // of the assembler; unset: nothing is known of it yet
    bool is_settled = false;          // the call's arguments are whole
    std::string state;
    std::optional<HostedParts> hosted;
  };

  void read_event(const SseEvent& event, json::Value root, const EventCallback& on_event) override;
  void read_whole(json::Value root, const EventCallback& on_event) override;
  void end_parts(const EventCallback& on_event) override;
  [[nodiscard]] std::optional<Failure> failure_at_end(BodyEnd end) const override;
  chat::GeneratedStep take_step() override;

  void read_typed(std::string_view type, json::Value event, const EventCallback& on_event);
  void read_text_delta(Kind kind, json::Value event, std::string_view part_key, const EventCallback& on_event);
  void read_arguments(json::Value event, bool is_done, const EventCallback& on_event);
  void read_response(std::string_view type, json::Value response, const EventCallback& on_event);
  void read_usage(json::Value usage, const EventCallback& on_event);

  void begin_item(json::Value item, std::optional<std::int64_t> output_index, const EventCallback& on_event);
  void end_item(json::Value item, std::optional<std::int64_t> output_index, bool is_terminal,
                const EventCallback& on_event);
  void end_message(Item& item, json::Value value, const EventCallback& on_event);
  void end_reasoning(Item& item, json::Value value, const EventCallback& on_event);
  void end_call(Item& item, json::Value value, const EventCallback& on_event);
  void end_other(Item& item, json::Value value, const EventCallback& on_event);
  void take_sources(json::Value part, const EventCallback& on_event);
  void settle_text(Item& item, std::string text, const EventCallback& on_event);
  void settle_arguments(Item& item, json::Value arguments, const EventCallback& on_event);
  void keep_state(Item& item, std::string state);
  void grow_text(Item& item, std::string text, const EventCallback& on_event);

  // Null: none; of open_item: over the limit.
  Item* find_for_delta(Kind kind, json::Value event);
  Item* find_for_end(json::Value item, std::optional<std::int64_t> output_index, bool is_terminal);
  Item* open_item(Kind kind, std::string_view id, std::optional<std::int64_t> output_index);

  [[nodiscard]] structured::Finish judge_finish() const;
  [[nodiscard]] std::vector<chat::GeneratedPart> take_parts();
  void take_part(Item& item, std::vector<chat::GeneratedPart>& parts);

  std::vector<Item> items_;
  std::vector<chat::SourcePart> sources_;
  std::size_t text_bytes_ = 0;
  std::size_t state_bytes_ = 0;
  chat::Usage usage_;
  std::optional<structured::Finish> finish_;
  bool is_refused_ = false;
  bool is_qualified_ = false;
};

}  // namespace assay::providers

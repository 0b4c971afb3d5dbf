#pragma once
// Anthropic Messages: the answer, streamed or (from servers that ignore `stream`) as one object.
//
// An answer ends with a stop reason and `message_stop`; one without the other is an interrupted one. What a block needs
// to be sent back goes into `provider_state` once the wire has closed it. Of a refused answer only the explanation is
// kept: the vendor asks for the rest to be discarded.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/document.h"
#include "providers/body_decoder.h"
#include "providers/string_joiner.h"
#include "providers/wire.h"

namespace assay::providers {

// Of one answer.
inline constexpr std::size_t kContentBlocksMax = 4096;

[[nodiscard]] std::unique_ptr<Decoder> make_anthropic_decoder(const ProviderConfig& provider,
                                                              const ModelSettings& model, const chat::Prompt& prompt);

class AnthropicDecoder final : public BodyDecoder {
 public:
  explicit AnthropicDecoder(Options options) : BodyDecoder(std::move(options)) {}

 private:
  struct Block {
    enum class Kind { Text, Thinking, Call, HostedCall, HostedResult, Item };
    explicit Block(Kind its_kind) : kind(its_kind) {}

    Kind kind;
    bool is_closed = false;
    bool is_understood = true;      // no delta came that would change it unseen
    std::string text;               // text, thinking
    std::string signature;          // of thinking
    std::string citations;          // of text: JSON values, comma between
    std::string raw;                // the block as it began: what was executed by the provider, and items
    std::string initial_arguments;  // of calls that begin with some; deltas win
    bool has_arguments = false;
    std::size_t call = 0;   // in calls_
    std::string hosted_id;  // of a hosted call or the call of a hosted result
    std::string hosted_name;
    StringJoiner joiner{Unencodable::Replace};
    std::vector<chat::SourcePart> sources;
  };

  void read_event(const SseEvent& event, json::Value root, const EventCallback& on_event) override;
  void read_done(const EventCallback& on_event) override;
  void read_whole(json::Value root, const EventCallback& on_event) override;
  void end_parts(const EventCallback& on_event) override;
  [[nodiscard]] std::optional<Failure> failure_at_end(BodyEnd end) const override;
  chat::GeneratedStep take_step() override;

  void read_typed(std::string_view type, json::Value event, const EventCallback& on_event);
  void start_block(std::int64_t index, json::Value content, const EventCallback& on_event);
  void read_delta(json::Value event, const EventCallback& on_event);
  void close_block(Block& block, const EventCallback& on_event);
  void read_message_delta(json::Value event, const EventCallback& on_event);
  void read_stop(json::Value holder);
  void read_usage(json::Value usage, const EventCallback& on_event);

  void add_text(Block& block, std::string text, const EventCallback& on_event);
  void add_arguments(Block& block, std::int64_t index, std::string_view literal, const EventCallback& on_event);
  void add_citation(Block& block, json::Value citation, const EventCallback& on_event);
  void add_source(Block& block, json::Value source);
  void start_call(Block& block, std::int64_t index, json::Value content, const EventCallback& on_event);
  void start_hosted_result(Block& block, json::Value content);
  Block* block_of(json::Value event);
  [[nodiscard]] bool is_within_text_budget(std::size_t bytes);

  [[nodiscard]] structured::Finish judge_finish() const;
  [[nodiscard]] chat::GeneratedToolCall take_call(Block& block);
  [[nodiscard]] chat::ToolResultPart hosted_result(const Block& block) const;
  [[nodiscard]] std::vector<chat::GeneratedPart> take_parts();

  std::vector<Block> blocks_;                        // in the order in which they began
  std::map<std::int64_t, std::size_t> positions_;    // of the wire's indexes in blocks_
  std::map<std::string, std::string> hosted_names_;  // by id of the hosted call
  std::set<std::string> source_urls_;
  std::size_t text_bytes_ = 0;
  chat::Usage usage_;
  std::optional<structured::Finish> finish_;
  std::string explanation_;  // of a refusal
  bool is_qualified_ = false;
};

}  // namespace assay::providers

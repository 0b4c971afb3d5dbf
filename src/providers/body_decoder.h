#pragma once
// What every wire's decoder shares: a body that is an event stream or (from servers that ignore `stream`) one value,
// its end, and the first failure. A wire says what its events and its whole answers mean.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"
#include "providers/sse_parser.h"
#include "providers/tool_call_assembler.h"
#include "providers/wire.h"

namespace assay::providers {

class BodyDecoder : public Decoder {
 public:
  struct Options {
    std::string provider;                           // for failures
    std::optional<std::int64_t> output_tokens_max;  // the cap that was sent
    std::vector<ToolCallAssembler::CappedTool> capped_tools;
  };

  bool feed(std::string_view bytes, const EventCallback& on_event) final;
  Result<chat::GeneratedStep, Failure> finish(BodyEnd end, const EventCallback& on_event) final;

 protected:
  explicit BodyDecoder(Options options);

  virtual void read_event(const SseEvent& event, json::Value root, const EventCallback& on_event) = 0;
  // The `[DONE]` event: by default the end of the answer.
  virtual void read_done(const EventCallback& on_event);
  // An unstreamed answer, or the error in its place: an object or an array.
  virtual void read_whole(json::Value root, const EventCallback& on_event) = 0;
  // Hands on what still waits, and ends the calls. Called without a failure, which it may set.
  virtual void end_parts(const EventCallback& on_event) = 0;
  // Whether the answer came to its end; nullopt: it did. Called without a failure.
  [[nodiscard]] virtual std::optional<Failure> failure_at_end(BodyEnd end) const = 0;
  virtual chat::GeneratedStep take_step() = 0;

  // The first one counts.
  void fail_with(Failure failure);
  void fail_with(ProtocolFault fault) { fail_with(failure_from_protocol(options_.provider, fault)); }
  // An event's data are not of this wire.
  void fail_with_unreadable(const SseEvent& event);
  // Of an answer whose terminal signal is missing.
  [[nodiscard]] Failure failure_without_terminal(BodyEnd end, bool has_parts) const;

  Options options_;
  ToolCallAssembler calls_;
  std::optional<Failure> failure_;
  bool is_done_ = false;  // nothing further counts

 private:
  enum class Form { Undecided, Stream, Whole };

  void read_item(const SseItem& item, const EventCallback& on_event);
  void read_data(const SseEvent& event, const EventCallback& on_event);
  void read_collected(const EventCallback& on_event);

  Form form_ = Form::Undecided;
  SseParser parser_;
  std::string whole_;
  bool has_bytes_ = false;
  bool has_events_ = false;
};

}  // namespace assay::providers

#pragma once
// Puts streamed tool calls together from fragments, whatever a server does with their indexes, ids and names.
//
// A fragment belongs to the call of its id, else to the latest call of its index, else to the only open call. A new
// id, or a name with the beginning of a value after a finished value, opens a new call. Names are never joined; blank
// ids and names count as absent; argument bytes before the name wait for it.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/generated_step.h"
#include "providers/string_joiner.h"
#include "providers/wire.h"

namespace assay::providers {

// Of all calls of one answer together.
inline constexpr std::size_t kAllArgumentsBytesMax = 8 * 1024 * 1024;

struct ToolCallFragment {
  std::optional<std::int64_t> index;
  std::string_view id;
  std::string_view name;
  // A JSON string literal, or any other JSON value, which counts by its own text; empty: none.
  std::string_view arguments;
};

class ToolCallAssembler {
 public:
  struct CappedTool {
    std::string name;
    std::size_t arguments_bytes_max = 0;
  };
  // Tools that are not named have chat::kToolArgumentsBytesMax.
  explicit ToolCallAssembler(std::vector<CappedTool> capped_tools) : capped_tools_(std::move(capped_tools)) {}

  // Nothing, or what is wrong with the stream; then the assembler is of no further use.
  [[nodiscard]] std::optional<ProtocolFault> add(const ToolCallFragment& fragment, const EventCallback& on_event);
  // Ends one call, for wires that say where it ends. Nothing is added to it after this.
  [[nodiscard]] std::optional<ProtocolFault> end(std::size_t call, const EventCallback& on_event);
  // The bytes so far; nothing once they went over the cap.
  [[nodiscard]] std::optional<std::string_view> arguments(std::size_t call) const;
  // Ends every call. Nothing is added after this.
  [[nodiscard]] std::optional<ProtocolFault> finish(const EventCallback& on_event);

  // The calls so far, open ones included, in the order in which they began.
  [[nodiscard]] std::size_t size() const { return calls_.size(); }
  // Whether a call's arguments are one complete JSON value and nothing else.
  [[nodiscard]] bool is_complete(std::size_t call) const;
  // After finish: the call, or nothing for one that held neither name nor arguments.
  [[nodiscard]] std::optional<chat::GeneratedToolCall> take(std::size_t call);

 private:
  // How far a JSON object or array has come, without judging its grammar.
  class Shape {
   public:
    void feed(std::string_view bytes);
    [[nodiscard]] bool is_closed() const { return has_begun_ && depth_ == 0; }
    [[nodiscard]] bool has_trailing_bytes() const { return has_trailing_bytes_; }

   private:
    std::size_t depth_ = 0;
    bool has_begun_ = false;
    bool in_string_ = false;
    bool is_escaped_ = false;
    bool has_trailing_bytes_ = false;
  };

  struct Call {
    std::optional<std::int64_t> index;
    std::string id;
    std::string name;
    std::string arguments;
    std::size_t arguments_bytes_max = chat::kToolArgumentsBytesMax;
    bool over_cap = false;
    bool is_announced = false;
    StringJoiner joiner{Unencodable::Keep};
    Shape shape;
  };

  [[nodiscard]] std::optional<std::size_t> find(const ToolCallFragment& fragment, bool& is_ambiguous) const;
  [[nodiscard]] bool begins_another(const Call& call, const ToolCallFragment& fragment) const;
  [[nodiscard]] bool append(Call& call, std::string bytes, std::size_t position, const EventCallback& on_event);
  void announce(Call& call, std::size_t position, const EventCallback& on_event);

  std::vector<CappedTool> capped_tools_;
  std::vector<Call> calls_;
  std::size_t arguments_bytes_ = 0;
};

// The finalizer's cap, where the prompt offers it.
[[nodiscard]] std::vector<ToolCallAssembler::CappedTool> capped_tools_of(const chat::Prompt& prompt);

}  // namespace assay::providers

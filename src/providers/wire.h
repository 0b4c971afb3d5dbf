#pragma once
// What every wire offers: a pure encoder (prompt to request) and a pure incremental decoder (bytes to events and, at
// the end, one step or one failure). The client carries both without knowing the format.
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "chat/generated_step.h"
#include "chat/prompt.h"
#include "providers/config.h"
#include "providers/failure.h"

namespace assay::providers {

struct TextDelta {
  std::string text;  // complete UTF-8
  friend bool operator==(const TextDelta&, const TextDelta&) = default;
};
struct ReasoningDelta {
  std::string text;
  friend bool operator==(const ReasoningDelta&, const ReasoningDelta&) = default;
};
struct ToolCallStarted {
  std::size_t call = 0;  // counts the calls of the answer from 0
  std::string id;        // as sent; may be empty
  std::string name;
  friend bool operator==(const ToolCallStarted&, const ToolCallStarted&) = default;
};
struct ToolArgumentsDelta {
  std::size_t call = 0;
  std::string text;  // unchecked bytes
  friend bool operator==(const ToolArgumentsDelta&, const ToolArgumentsDelta&) = default;
};
// What the provider executed itself, each once it is whole, and what it names as its sources.
struct HostedCall {
  chat::ToolCallPart part;
  friend bool operator==(const HostedCall&, const HostedCall&) = default;
};
struct HostedResult {
  chat::ToolResultPart part;
  friend bool operator==(const HostedResult&, const HostedResult&) = default;
};
struct SourceSeen {
  chat::SourcePart part;
  friend bool operator==(const SourceSeen&, const SourceSeen&) = default;
};
struct UsageSeen {
  chat::Usage usage;  // the latest totals, not an increment
  friend bool operator==(const UsageSeen&, const UsageSeen&) = default;
};
// A sign of life without content.
struct KeepAlive {
  friend bool operator==(const KeepAlive&, const KeepAlive&) = default;
};

using Event = std::variant<TextDelta, ReasoningDelta, ToolCallStarted, ToolArgumentsDelta, HostedCall, HostedResult,
                           SourceSeen, UsageSeen, KeepAlive>;
using EventCallback = std::function<void(const Event&)>;

// What one answer may hold; more ends the attempt as a failure. Argument bytes over their cap do not: they are dropped
// and the call is marked.
inline constexpr std::size_t kTextBytesMax = 4 * 1024 * 1024;  // text and reasoning together
inline constexpr std::size_t kToolCallsMax = 128;
inline constexpr std::size_t kToolNameBytesMax = 256;
inline constexpr std::size_t kToolCallIdBytesMax = 1024;

struct WireRequest {
  std::string path;  // below the provider's base URL
  std::vector<Header> headers;
  std::string body;
};

enum class BodyEnd { Clean, Cut };

// Reads the body of one 2xx answer. Memory is bounded by the limits above and kEventBytesMax, whatever the server
// sends, and the same bytes give the same events however they are cut into pieces.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // False once nothing further can change the outcome: after the wire's own end, or after a failure.
  virtual bool feed(std::string_view bytes, const EventCallback& on_event) = 0;
  // The outcome. Requires: called once, after the last feed.
  virtual Result<chat::GeneratedStep, Failure> finish(BodyEnd end, const EventCallback& on_event) = 0;
};

// One row of the table that everything else asks: adding a wire is adding its row (and its rule in acceptance.cc).
struct WireEntry {
  Wire wire;
  std::string_view name;  // in configuration
  std::string_view path;  // of a model call, below the base URL
  KeyHeader key_header;   // Bearer or XApiKey
  WireRequest (*encode)(const ProviderConfig&, const ModelSettings&, const chat::Prompt&);
  std::unique_ptr<Decoder> (*make_decoder)(const ProviderConfig&, const ModelSettings&, const chat::Prompt&);
  std::vector<Header> (*headers)(const ProviderConfig&);  // what the wire adds to every request
};
[[nodiscard]] std::span<const WireEntry> wires();

// nullopt: a wire that this build does not speak.
[[nodiscard]] std::optional<Wire> parse_wire(std::string_view name);
[[nodiscard]] std::string_view wire_name(Wire wire);
// Their names, for messages: `a, b`.
[[nodiscard]] std::string wire_names();

inline constexpr std::string_view kModelsPath = "models";

// For any request to this provider: `own`, what the wire adds, the key, and what the configuration adds or replaces.
[[nodiscard]] std::vector<Header> request_headers(const ProviderConfig& provider, std::vector<Header> own);

// Requires: the prompt is of chat::PromptRow's form. The same arguments give the same bytes.
[[nodiscard]] WireRequest encode(const ProviderConfig& provider, const ModelSettings& model,
                                 const chat::Prompt& prompt);

// Lifetime: independent of the arguments.
[[nodiscard]] std::unique_ptr<Decoder> make_decoder(const ProviderConfig& provider, const ModelSettings& model,
                                                    const chat::Prompt& prompt);

}  // namespace assay::providers

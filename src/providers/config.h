#pragma once
// What a deployment says about one provider and one of its models. Read from files and the environment by cli/; the
// wires and the client only use it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace assay::providers {

// A credential. It has no stream operator, no comparison and no formatter, so that it cannot reach a log or an error
// by accident; whoever needs the text says `reveal`.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] const std::string& reveal() const { return text_; }

 private:
  std::string text_;
};

// What each of them is stands in the table of wire.cc.
enum class Wire { OpenAiChat, OpenAiResponses, Anthropic };

struct Header {
  std::string name;
  std::string value;
};

// OpenAI takes `max_completion_tokens`; most compatible servers know only the older `max_tokens`.
enum class TokenCapField { MaxTokens, MaxCompletionTokens };
// Compatible servers know `system`; OpenAI's reasoning models call it `developer`.
enum class SystemRole { System, Developer };
// The field in which a server takes its own reasoning back on the next step; most take none.
enum class ReasoningReplay { None, ReasoningContent, Reasoning };

// How the key is sent: as the wire's vendor takes it, `Authorization: Bearer`, or `x-api-key`.
enum class KeyHeader { ByWire, Bearer, XApiKey };
// How long a provider that wants marks (Anthropic) keeps the marked prefixes of prompts; Off: no marks.
enum class PromptCache { Off, FiveMinutes, OneHour };

struct Timeouts {
  Milliseconds connect{10'000};
  Milliseconds first_byte{300'000};  // of the answer; a model that reasons first can stay silent for minutes
  Milliseconds idle{180'000};        // between bytes of the body, its first included; comments count
  Milliseconds total{1'800'000};     // of one attempt
};

struct ProviderConfig {
  std::string name;  // as users see it in errors: letters, digits, `_`, `-`, `.`
  Wire wire = Wire::OpenAiChat;
  std::string base_url;  // see endpoint_url
  Secret key;            // empty: none is sent (local servers)
  KeyHeader key_header = KeyHeader::ByWire;
  std::string organization;
  std::string project;
  std::string api_version;        // `anthropic-version`; empty: the newest that this build knows
  std::vector<std::string> beta;  // names for `anthropic-beta`
  std::vector<Header> headers;    // sent with every request, after and in place of ours; their values may be secrets

  TokenCapField token_cap_field = TokenCapField::MaxTokens;
  SystemRole system_role = SystemRole::System;
  ReasoningReplay reasoning_replay = ReasoningReplay::None;
  bool accepts_strict = true;        // false drops `strict:false`, for servers that refuse the key
  bool forces_strict = false;        // the provider applies strict schemas to every tool and nothing switches it off
  bool accepts_stream_usage = true;  // false drops `stream_options`
  bool accepts_cache_key = false;    // sends `prompt_cache_key`, which OpenAI knows and many others refuse
  PromptCache prompt_cache = PromptCache::FiveMinutes;

  std::string proxy;    // URL; empty: none
  std::string ca_file;  // PEM bundle in place of the system's; empty: the system's
  Timeouts timeouts;
};

// A tool that the provider runs itself, such as its web search.
struct HostedTool {
  std::string name;        // as calls name it
  std::string definition;  // JSON object; stands among the request's tools as it is
};

// Anthropic's thinking, sent as it is configured; Unset leaves it out.
enum class ThinkingMode { Unset, Adaptive, Enabled, Disabled, BetweenTools };
struct Thinking {
  ThinkingMode mode = ThinkingMode::Unset;
  std::optional<std::int64_t> budget_tokens;  // with Enabled, and only there
  std::string display;                        // `summarized` or `omitted`; empty: the provider's default
};

struct ModelSettings {
  std::string model;  // the provider's own id
  // Includes what the model spends on reasoning. Unset, the provider's own limit holds.
  std::optional<std::int64_t> output_tokens_max;
  std::optional<std::string> reasoning_effort;
  std::optional<std::string> reasoning_summary;  // Responses: how much of its reasoning is shown; unset: none
  bool encrypted_reasoning = true;               // Responses: false for models that refuse to give theirs, encrypted
  std::optional<bool> parallel_tool_calls;       // unset: the provider's default
  std::vector<HostedTool> hosted_tools;
  Thinking thinking;
};

struct ConfigError {
  std::string message;  // names the field; never holds a credential
};

// The URL of `path` (such as `chat/completions`) below a base: a base without a path gets `/v1`, any other path is kept
// (`https://openrouter.ai/api/v1`), a trailing slash or an already appended path of a wire (`/chat/completions`) does
// not matter, and a query stays at the end. Refused: schemes other than http and https, credentials or a fragment in
// the URL, white space.
[[nodiscard]] Result<std::string, ConfigError> endpoint_url(std::string_view base_url, std::string_view path);

// Everything about a provider, or a model of it, that can be judged without a network.
[[nodiscard]] std::optional<ConfigError> check(const ProviderConfig& provider);
[[nodiscard]] std::optional<ConfigError> check(const ProviderConfig& provider, const ModelSettings& model);

}  // namespace assay::providers

#pragma once
// The simulator's script: rules that say which request gets which answer (docs/simulator.md describes the file).
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sim/chat_request.h"

namespace assay::sim {

// Every condition that is set must hold.
struct Conditions {
  std::optional<std::string> user_contains;
  std::optional<std::string> system_contains;
  std::optional<std::string> tool_result_contains;
  std::optional<std::string> model;
  std::optional<std::string> has_tool;
  std::optional<std::string> lacks_tool;
  std::optional<bool> has_tool_result;
  std::optional<std::int64_t> request;  // the n-th chat request since the start or the last reset, from 1
};

struct ScriptedCall {
  std::string name;
  std::string arguments;  // sent byte for byte
  std::optional<std::string> id;
};

// A hosted web search, where the wire has one: each result's address, and the page's title.
struct ScriptedSearch {
  std::string query;
  std::vector<std::pair<std::string, std::string>> results;
};

// An answer of the model, put into the events of the wire that asked.
struct Reply {
  std::string text;
  std::string reasoning;
  std::string redacted_reasoning;  // opaque, where the wire has such a thing
  std::vector<ScriptedSearch> searches;
  std::string refusal;
  std::vector<ScriptedCall> tool_calls;
  bool fits_schema = false;  // the finalizer with a value that fits its schema
  std::optional<std::string>
      finish_reason;                 // unset: by content; empty: never sent; Chat Completions' words are translated
  std::optional<std::string> usage;  // JSON text; unset: counted; empty: never sent
};
// Any response, not streamed.
struct HttpAnswer {
  int status = 200;
  std::string body;
};
// The data of server-sent events, sent as given.
struct RawEvents {
  std::vector<std::string> events;
};
// The body of a 200, sent as given.
struct RawBody {
  std::string bytes;
};
// A whole HTTP response with its status line, sent as given; the connection closes behind it.
struct RawResponse {
  std::string bytes;
};
using Answer = std::variant<Reply, HttpAnswer, RawEvents, RawBody, RawResponse>;

struct Delivery {
  std::optional<std::string> hold;                                        // before the first byte
  std::optional<std::pair<std::int64_t, std::string>> hold_after_events;  // count, point
  Milliseconds first_byte_delay{0};
  Milliseconds event_delay{0};
  std::size_t chunk_characters = 0;              // of text and arguments in one event; 0: all in one
  std::size_t split_bytes = 0;                   // bytes of one write; 0: one event each
  std::optional<std::size_t> cut_after_bytes;    // of the body
  std::optional<std::size_t> stall_after_bytes;  // of the body
  bool is_reset = false;                         // a cut is a TCP reset
  bool sends_done = true;
  bool sends_comments = false;  // a comment before each event
  std::string line_end = "\n";
  std::vector<std::pair<std::string, std::string>> headers;
};

struct Rule {
  std::string name;
  Conditions when;
  std::optional<std::int64_t> times;  // how many answers it gives; unset: any number
  Answer answer;
  Delivery delivery;
};

struct Script {
  std::vector<std::string> models;  // ids for the listing; empty: the default
  std::vector<Rule> rules;
};

// The error names the place in the file: `rules[2].reply.tool_calls[0].name: missing`.
[[nodiscard]] Result<Script, std::string> parse_script(std::string text);

[[nodiscard]] bool matches(const Conditions& when, const ChatRequest& request, std::int64_t number);

}  // namespace assay::sim

#include "sim/script.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "json/compact.h"
#include "json/decimal.h"
#include "json/document.h"
#include "json/error.h"
#include "json/limits.h"

namespace assay::sim {
namespace {

using json::Kind;
using json::Value;

constexpr json::Caps kScriptCaps{.bytes_max = 16 * 1024 * 1024, .depth_max = 128};

std::optional<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char c : text) {
    constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(static_cast<unsigned char>(bits >> held));
    bits &= (1U << held) - 1;
  }
  return bytes;
}

// Reads an object of the script member by member; the first fault stays. A member that nobody asked for is a fault.
class ObjectReader {
 public:
  ObjectReader(Value object, std::string path, std::string& fault)
      : object_(object), path_(std::move(path)), fault_(fault) {
    if (!object_.is(Kind::Object)) complain("", "must be an object");
  }
  ~ObjectReader() {
    if (!object_.is(Kind::Object)) return;
    for (const json::Member member : object_.members()) {
      if (std::find(asked_.begin(), asked_.end(), member.key) == asked_.end()) {
        complain(member.key, "is not known here");
      }
    }
  }
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;

  std::optional<Value> get(std::string_view key) {
    asked_.push_back(key);
    if (!object_.is(Kind::Object)) return std::nullopt;
    return object_.find(key);
  }
  std::optional<Value> get(std::string_view key, Kind kind, std::string_view expectation) {
    const auto value = get(key);
    if (!value || value->is(kind)) return value;
    complain(key, expectation);
    return std::nullopt;
  }
  std::optional<std::string> text(std::string_view key) {
    const auto value = get(key, Kind::String, "must be a string");
    if (!value) return std::nullopt;
    return std::string(value->string());
  }
  std::optional<bool> flag(std::string_view key) {
    const auto value = get(key, Kind::Boolean, "must be true or false");
    if (!value) return std::nullopt;
    return value->boolean();
  }
  std::optional<std::int64_t> count(std::string_view key, std::int64_t smallest = 0) {
    const auto value = get(key, Kind::Number, "must be an integer");
    if (!value) return std::nullopt;
    const auto number = json::to_int64(*value);
    if (number && *number >= smallest) return number;
    complain(key, "must be an integer of at least " + std::to_string(smallest));
    return std::nullopt;
  }
  // The bytes under `key`, or in base64 under `key_base64`.
  std::optional<std::string> bytes(std::string_view key, std::string_view base64_key) {
    const auto plain = text(key);
    const auto encoded = text(base64_key);
    if (plain && encoded) complain(base64_key, "stands beside the same in plain text");
    if (!encoded) return plain;
    auto decoded = decode_base64(*encoded);
    if (!decoded) complain(base64_key, "is no base64");
    return decoded;
  }
  void complain(std::string_view key, std::string_view what) {
    if (fault_.empty()) fault_ = path_of(key) + ": " + std::string(what);
  }
  [[nodiscard]] std::string path_of(std::string_view key) const {
    if (key.empty()) return path_.empty() ? "script" : path_;
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }
  [[nodiscard]] std::string& fault() { return fault_; }

 private:
  Value object_;
  std::string path_;
  std::string& fault_;
  std::vector<std::string_view> asked_;
};

// A string stands for itself, anything else for its JSON text.
std::string text_or_json(Value value) {
  return value.is(Kind::String) ? std::string(value.string()) : json::compact(value);
}

Conditions read_conditions(ObjectReader& outer) {
  Conditions when;
  const auto value = outer.get("when");
  if (!value) return when;
  ObjectReader reader(*value, outer.path_of("when"), outer.fault());
  when.user_contains = reader.text("user_contains");
  when.system_contains = reader.text("system_contains");
  when.tool_result_contains = reader.text("tool_result_contains");
  when.model = reader.text("model");
  when.has_tool = reader.text("has_tool");
  when.lacks_tool = reader.text("lacks_tool");
  when.has_tool_result = reader.flag("has_tool_result");
  when.request = reader.count("request", 1);
  return when;
}

std::vector<std::pair<std::string, std::string>> read_headers(ObjectReader& outer) {
  std::vector<std::pair<std::string, std::string>> headers;
  const auto value = outer.get("headers", Kind::Object, "must be an object of strings");
  if (!value) return headers;
  for (const json::Member member : value->members()) {
    if (!member.value.is(Kind::String)) outer.complain("headers", "must be an object of strings");
    headers.emplace_back(member.key, text_or_json(member.value));
  }
  return headers;
}

std::vector<ScriptedSearch> read_searches(ObjectReader& outer) {
  std::vector<ScriptedSearch> searches;
  const auto values = outer.get("searches", Kind::Array, "must be an array");
  if (!values) return searches;
  std::size_t position = 0;
  for (const Value value : values->elements()) {
    ObjectReader reader(value, outer.path_of("searches") + "[" + std::to_string(position++) + "]", outer.fault());
    ScriptedSearch& search = searches.emplace_back();
    search.query = reader.text("query").value_or("");
    const auto results = reader.get("results", Kind::Object, "must be an object of titles by address");
    if (!results) continue;
    for (const json::Member result : results->members()) {
      if (!result.value.is(Kind::String)) reader.complain("results", "must be an object of titles by address");
      search.results.emplace_back(result.key, text_or_json(result.value));
    }
  }
  return searches;
}

Reply read_reply(Value value, ObjectReader& outer) {
  ObjectReader reader(value, outer.path_of("reply"), outer.fault());
  Reply reply;
  reply.text = reader.text("text").value_or("");
  reply.reasoning = reader.text("reasoning").value_or("");
  reply.redacted_reasoning = reader.text("redacted_reasoning").value_or("");
  reply.searches = read_searches(reader);
  reply.refusal = reader.text("refusal").value_or("");
  reply.fits_schema = reader.flag("fits_schema").value_or(false);
  if (const auto calls = reader.get("tool_calls", Kind::Array, "must be an array")) {
    std::size_t position = 0;
    for (const Value call : calls->elements()) {
      ObjectReader item(call, reader.path_of("tool_calls") + "[" + std::to_string(position++) + "]", reader.fault());
      ScriptedCall scripted;
      if (auto name = item.text("name")) {
        scripted.name = std::move(*name);
      } else {
        item.complain("name", "missing");
      }
      scripted.id = item.text("id");
      if (const auto arguments = item.get("arguments")) scripted.arguments = text_or_json(*arguments);
      reply.tool_calls.push_back(std::move(scripted));
    }
  }
  if (const auto reason = reader.get("finish_reason")) {
    reply.finish_reason = reason->is(Kind::Null) ? std::string() : text_or_json(*reason);
  }
  if (const auto usage = reader.get("usage")) {
    reply.usage = usage->is(Kind::Null) ? std::string() : json::compact(*usage);
  }
  return reply;
}

HttpAnswer read_http(Value value, ObjectReader& outer, Delivery& delivery) {
  ObjectReader reader(value, outer.path_of("http"), outer.fault());
  HttpAnswer answer;
  answer.status = static_cast<int>(std::min<std::int64_t>(reader.count("status", 100).value_or(200), 999));
  if (const auto body = reader.get("body")) answer.body = text_or_json(*body);
  for (auto& header : read_headers(reader)) delivery.headers.push_back(std::move(header));
  return answer;
}

Delivery read_delivery(ObjectReader& outer) {
  Delivery delivery;
  const auto value = outer.get("delivery");
  if (!value) return delivery;
  ObjectReader reader(*value, outer.path_of("delivery"), outer.fault());
  const auto size = [&](std::string_view key) -> std::optional<std::size_t> {
    const auto number = reader.count(key);
    if (!number) return std::nullopt;
    return static_cast<std::size_t>(*number);
  };
  delivery.hold = reader.text("hold");
  if (const auto hold = reader.get("hold_after_events")) {
    ObjectReader inner(*hold, reader.path_of("hold_after_events"), reader.fault());
    const auto count = inner.count("count");
    auto point = inner.text("point");
    if (!count) inner.complain("count", "missing");
    if (!point) inner.complain("point", "missing");
    if (count && point) delivery.hold_after_events.emplace(*count, std::move(*point));
  }
  delivery.first_byte_delay = Milliseconds(reader.count("first_byte_delay_ms").value_or(0));
  delivery.event_delay = Milliseconds(reader.count("event_delay_ms").value_or(0));
  delivery.chunk_characters = size("chunk_characters").value_or(0);
  delivery.split_bytes = size("split_bytes").value_or(0);
  delivery.cut_after_bytes = size("cut_after_bytes");
  delivery.stall_after_bytes = size("stall_after_bytes");
  delivery.is_reset = reader.flag("reset").value_or(false);
  delivery.sends_done = reader.flag("done").value_or(true);
  delivery.sends_comments = reader.flag("comments").value_or(false);
  delivery.line_end = reader.text("line_end").value_or("\n");
  delivery.headers = read_headers(reader);
  return delivery;
}

void read_answer(ObjectReader& reader, Rule& rule) {
  int answers = 0;
  if (const auto reply = reader.get("reply")) {
    ++answers;
    rule.answer = read_reply(*reply, reader);
  }
  if (const auto http = reader.get("http")) {
    ++answers;
    rule.answer = read_http(*http, reader, rule.delivery);
  }
  if (const auto events = reader.get("events", Kind::Array, "must be an array")) {
    ++answers;
    RawEvents raw;
    for (const Value event : events->elements()) raw.events.push_back(text_or_json(event));
    rule.answer = std::move(raw);
  }
  if (auto body = reader.bytes("body", "body_base64")) {
    ++answers;
    rule.answer = RawBody{std::move(*body)};
  }
  if (auto response = reader.bytes("response", "response_base64")) {
    ++answers;
    rule.answer = RawResponse{std::move(*response)};
  }
  if (answers != 1) {
    reader.complain("", "needs exactly one of reply, http, events, body, body_base64, response, response_base64");
  }
}

Rule read_rule(Value value, std::size_t position, std::string& fault) {
  Rule rule;
  ObjectReader reader(value, "rules[" + std::to_string(position) + "]", fault);
  rule.name = reader.text("name").value_or("rule " + std::to_string(position));
  rule.when = read_conditions(reader);
  rule.times = reader.count("times", 1);
  rule.delivery = read_delivery(reader);
  read_answer(reader, rule);
  return rule;
}

}  // namespace

Result<Script, std::string> parse_script(std::string text) {
  const auto document = json::Document::parse(std::move(text), kScriptCaps);
  if (!document) return fail("script: " + json::describe(document.error()));
  Script script;
  std::string fault;
  {
    ObjectReader reader(document->root(), "", fault);
    if (const auto models = reader.get("models", Kind::Array, "must be an array of strings")) {
      for (const Value model : models->elements()) {
        if (!model.is(Kind::String)) reader.complain("models", "must be an array of strings");
        script.models.push_back(text_or_json(model));
      }
    }
    if (const auto rules = reader.get("rules", Kind::Array, "must be an array")) {
      std::size_t position = 0;
      for (const Value rule : rules->elements()) script.rules.push_back(read_rule(rule, position++, fault));
    }
  }
  if (!fault.empty()) return fail(std::move(fault));
  return script;
}

bool matches(const Conditions& when, const ChatRequest& request, std::int64_t number) {
  const auto contains = [](const std::optional<std::string>& wanted, const std::string& text) {
    return !wanted || text.find(*wanted) != std::string::npos;
  };
  return contains(when.user_contains, request.user_text) && contains(when.system_contains, request.system_text) &&
         contains(when.tool_result_contains, request.tool_result_text) &&
         (!when.model || *when.model == request.model) && (!when.has_tool || request.tool(*when.has_tool) != nullptr) &&
         (!when.lacks_tool || request.tool(*when.lacks_tool) == nullptr) &&
         (!when.has_tool_result || *when.has_tool_result == request.has_tool_result) &&
         (!when.request || *when.request == number);
}

}  // namespace assay::sim

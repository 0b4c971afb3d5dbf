#include "providers/tool_call_assembler.h"

#include <algorithm>
#include <utility>

#include "json/document.h"
#include "json/limits.h"
#include "providers/wire_json.h"

namespace assay::providers {
namespace {

// Only to learn whether a value is whole: the strict boundary judges it later.
constexpr json::Caps kCompletenessCaps{.bytes_max = chat::kToolArgumentsBytesMax, .depth_max = 128};

bool is_string_literal(std::string_view json) { return json.starts_with('"'); }

// The first byte of the value that the fragment adds, for one that begins a new value.
bool begins_container(std::string_view arguments) {
  if (is_string_literal(arguments)) arguments.remove_prefix(1);
  return arguments.starts_with('{') || arguments.starts_with('[');
}

}  // namespace

std::vector<ToolCallAssembler::CappedTool> capped_tools_of(const chat::Prompt& prompt) {
  std::vector<ToolCallAssembler::CappedTool> capped;
  for (const chat::ToolDefinition& tool : prompt.tools) {
    if (tool.strict_off) capped.push_back({tool.name, json::kArgumentsCaps.bytes_max});
  }
  return capped;
}

void ToolCallAssembler::Shape::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (is_closed()) {
      if (kWhiteSpace.find(c) == std::string_view::npos) has_trailing_bytes_ = true;
    } else if (in_string_) {
      if (std::exchange(is_escaped_, false)) continue;
      if (c == '\\') is_escaped_ = true;
      if (c == '"') in_string_ = false;
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      has_begun_ = true;
      ++depth_;
    } else if ((c == '}' || c == ']') && depth_ > 0) {
      --depth_;
    }
  }
}

std::optional<ProtocolFault> ToolCallAssembler::add(const ToolCallFragment& fragment, const EventCallback& on_event) {
  if (fragment.id.size() > kToolCallIdBytesMax || fragment.name.size() > kToolNameBytesMax) {
    return ProtocolFault::TooLarge;
  }
  const bool has_bytes = !fragment.arguments.empty() && fragment.arguments != R"("")";
  if (fragment.id.empty() && fragment.name.empty() && !has_bytes) return std::nullopt;
  bool is_ambiguous = false;
  std::optional<std::size_t> position = find(fragment, is_ambiguous);
  if (is_ambiguous) return ProtocolFault::UnroutableCall;
  if (!position) {
    if (calls_.size() == kToolCallsMax) return ProtocolFault::TooLarge;
    position = calls_.size();
    calls_.emplace_back();
    calls_.back().index = fragment.index;
  }
  Call& call = calls_[*position];
  if (call.id.empty()) call.id = fragment.id;
  if (call.name.empty() && !fragment.name.empty()) {
    call.name = fragment.name;
    const auto capped = std::find_if(capped_tools_.begin(), capped_tools_.end(),
                                     [&](const CappedTool& tool) { return tool.name == call.name; });
    if (capped != capped_tools_.end()) call.arguments_bytes_max = capped->arguments_bytes_max;
    announce(call, *position, on_event);
  }
  if (!has_bytes) return std::nullopt;
  std::string bytes =
      is_string_literal(fragment.arguments) ? call.joiner.append(fragment.arguments) : std::string(fragment.arguments);
  if (!append(call, std::move(bytes), *position, on_event)) return ProtocolFault::TooLarge;
  return std::nullopt;
}

// Nothing: the fragment opens a new call.
std::optional<std::size_t> ToolCallAssembler::find(const ToolCallFragment& fragment, bool& is_ambiguous) const {
  const auto latest = [&](auto matches) -> std::optional<std::size_t> {
    for (std::size_t position = calls_.size(); position > 0; --position) {
      if (matches(calls_[position - 1])) return position - 1;
    }
    return std::nullopt;
  };
  const auto unless_another = [&](std::optional<std::size_t> position) -> std::optional<std::size_t> {
    if (position && begins_another(calls_[*position], fragment)) return std::nullopt;
    return position;
  };
  const auto at_index = [&]() {
    return latest([&](const Call& call) { return call.index && call.index == fragment.index; });
  };

  if (!fragment.id.empty()) {
    const auto same_id_and_index =
        latest([&](const Call& call) { return call.id == fragment.id && call.index == fragment.index; });
    if (same_id_and_index) return unless_another(same_id_and_index);
    // A named fragment with a known id at another index is a second call whose id repeats.
    const bool is_head = fragment.index.has_value() && !fragment.name.empty();
    const auto same_id = latest([&](const Call& call) { return call.id == fragment.id; });
    if (same_id && !(is_head && calls_[*same_id].index)) return unless_another(same_id);
    if (same_id) return std::nullopt;
    // An id that comes late, for a call that began without one.
    const auto without_id = fragment.index ? at_index() : latest([](const Call&) { return true; });
    if (!without_id) return std::nullopt;
    const Call& call = calls_[*without_id];
    const bool is_same_name = fragment.name.empty() || fragment.name == call.name;
    if (!call.id.empty() || call.shape.is_closed() || !is_same_name) return std::nullopt;
    return without_id;
  }
  if (fragment.index) {
    if (const auto same_index = at_index()) return unless_another(same_index);
    if (!fragment.name.empty() || calls_.empty() || calls_.back().shape.is_closed()) return std::nullopt;
    return calls_.size() - 1;  // the tail of a call whose head came under another index
  }
  if (calls_.empty()) return std::nullopt;
  if (!fragment.name.empty()) return unless_another(calls_.size() - 1);
  const auto open =
      std::count_if(calls_.begin(), calls_.end(), [](const Call& call) { return !call.shape.is_closed(); });
  if (open > 1) {
    is_ambiguous = true;
    return std::nullopt;
  }
  if (open == 1) return latest([](const Call& call) { return !call.shape.is_closed(); });
  return calls_.size() - 1;
}

bool ToolCallAssembler::begins_another(const Call& call, const ToolCallFragment& fragment) const {
  if (fragment.name.empty()) return false;
  if (fragment.id.empty() && !call.name.empty() && call.name != fragment.name) return true;
  return call.shape.is_closed() && begins_container(fragment.arguments);
}

bool ToolCallAssembler::append(Call& call, std::string bytes, std::size_t position, const EventCallback& on_event) {
  call.shape.feed(bytes);
  if (call.over_cap || bytes.empty()) return true;
  if (bytes.size() > call.arguments_bytes_max - std::min(call.arguments_bytes_max, call.arguments.size())) {
    call.over_cap = true;
    arguments_bytes_ -= call.arguments.size();
    call.arguments = {};
    return true;
  }
  arguments_bytes_ += bytes.size();
  if (arguments_bytes_ > kAllArgumentsBytesMax) return false;
  call.arguments += bytes;
  if (call.is_announced) on_event(ToolArgumentsDelta{.call = position, .text = std::move(bytes)});
  return true;
}

void ToolCallAssembler::announce(Call& call, std::size_t position, const EventCallback& on_event) {
  call.is_announced = true;
  on_event(ToolCallStarted{.call = position, .id = call.id, .name = call.name});
  std::string waited = std::exchange(call.arguments, {});
  if (waited.empty()) return;
  arguments_bytes_ -= waited.size();
  if (waited.size() > call.arguments_bytes_max) {
    call.over_cap = true;
    return;
  }
  arguments_bytes_ += waited.size();
  call.arguments = waited;
  on_event(ToolArgumentsDelta{.call = position, .text = std::move(waited)});
}

std::optional<ProtocolFault> ToolCallAssembler::end(std::size_t call, const EventCallback& on_event) {
  Call& ended = calls_[call];
  if (append(ended, ended.joiner.finish(), call, on_event)) return std::nullopt;
  return ProtocolFault::TooLarge;
}

std::optional<std::string_view> ToolCallAssembler::arguments(std::size_t call) const {
  if (calls_[call].over_cap) return std::nullopt;
  return calls_[call].arguments;
}

std::optional<ProtocolFault> ToolCallAssembler::finish(const EventCallback& on_event) {
  for (std::size_t position = 0; position < calls_.size(); ++position) {
    Call& call = calls_[position];
    if (!append(call, call.joiner.finish(), position, on_event)) return ProtocolFault::TooLarge;
    if (call.name.empty() && (!call.arguments.empty() || call.over_cap)) return ProtocolFault::UnroutableCall;
  }
  return std::nullopt;
}

bool ToolCallAssembler::is_complete(std::size_t call) const {
  const Call& judged = calls_[call];
  if (judged.over_cap) return judged.shape.is_closed() && !judged.shape.has_trailing_bytes();
  return json::Document::parse(judged.arguments, kCompletenessCaps, json::Dialect::Lenient).has_value();
}

std::optional<chat::GeneratedToolCall> ToolCallAssembler::take(std::size_t call) {
  Call& taken = calls_[call];
  if (taken.name.empty()) return std::nullopt;
  chat::GeneratedToolCall result;
  result.id = std::move(taken.id);
  result.name = std::move(taken.name);
  result.arguments = std::move(taken.arguments);
  result.over_cap = taken.over_cap;
  return result;
}

}  // namespace assay::providers

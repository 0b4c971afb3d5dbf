#include "cli/ask_progress.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "json/member.h"

namespace assay::cli {
namespace {

std::string_view text_member(json::Value object, std::string_view name) {
  return json::string_member(object, name).value_or(std::string_view());
}

// `the client's tools lookup, open_page`, of an `action_required`.
std::string calls_of(json::Value payload) {
  std::string names = "the client's tools";
  const auto calls = payload.find("tool_calls");
  if (!calls || !calls->is(json::Kind::Array)) return names;
  std::string_view separator = " ";
  for (const json::Value call : calls->elements()) {
    names += fmt::format("{}{}", std::exchange(separator, ", "), printable(text_member(call, "tool_name")));
  }
  return names;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string clean;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (is_c1) ++i;  // U+0080 to U+009F take two bytes
    const bool is_kept = text[i] == '\n' || text[i] == '\t' || (byte >= 0x20 && byte != 0x7F);
    if (is_kept && !is_c1) clean += text[i];
  }
  return clean;
}

void AskProgress::show(json::Value event) {
  const std::string_view type = text_member(event, "type");
  const auto payload = event.find(type);
  if (type == "message_part" && payload && payload->is(json::Kind::Object)) {
    if (const auto part = payload->find("part"); part && part->is(json::Kind::Object)) show_part(*part);
  } else if (type == "status" && payload) {
    const std::string_view status = text_member(*payload, "status");
    if (status != last_status_) note(fmt::format("status {}", status));
    last_status_ = std::string(status);
  } else if (type == "retry" && payload && payload->is(json::Kind::Object)) {
    const auto attempt = payload->find("attempt");
    const auto delay = payload->find("delay_ms");
    if (attempt && delay) note(fmt::format("attempt {} failed, next in {} ms", attempt->raw(), delay->raw()));
  } else if (type == "action_required" && payload && payload->is(json::Kind::Object)) {
    note(fmt::format("the turn waits for {}; answer by POST tool-results, or it goes on without at its deadline",
                     calls_of(*payload)));
  } else if (type == "error" && payload) {
    note(fmt::format("error: {}", printable(text_member(*payload, "message"))));
  } else if (type == "message" && payload && payload->is(json::Kind::Object)) {
    const auto receipt = payload->find("structured_output");
    if (receipt)
      note(fmt::format("receipt {} for request {}", text_member(*receipt, "status"),
                       text_member(*receipt, "request_id")));
  }
}

void AskProgress::show_part(json::Value part) {
  const std::string_view type = text_member(part, "type");
  if (type == "text" && is_terminal_) {
    write_inline(printable(text_member(part, "text")));
  } else if (type == "tool-call") {
    const std::string_view name = text_member(part, "tool_name");
    if (!name.empty() && !part.find("args_delta")) note(fmt::format("calls {}", printable(name)));
  } else if (type == "tool-result") {
    note(fmt::format("result of {}", printable(text_member(part, "tool_name"))));
  }
}

void AskProgress::note(std::string_view text) {
  finish();
  err_ << text << '\n' << std::flush;
}

void AskProgress::finish() {
  if (line_is_open_) err_ << '\n' << std::flush;
  line_is_open_ = false;
}

void AskProgress::write_inline(std::string_view text) {
  if (text.empty()) return;
  err_ << text << std::flush;
  line_is_open_ = text.back() != '\n';
}

}  // namespace assay::cli

#include "providers/body_decoder.h"

#include <algorithm>
#include <utility>

#include "providers/wire_json.h"

namespace assay::providers {
namespace {

constexpr std::string_view kDone = "[DONE]";

}  // namespace

BodyDecoder::BodyDecoder(Options options) : options_(std::move(options)), calls_(std::move(options_.capped_tools)) {}

bool BodyDecoder::feed(std::string_view bytes, const EventCallback& on_event) {
  if (form_ == Form::Undecided) {
    // No line of an event stream begins with a bracket; an object is an unstreamed answer or an error.
    bytes.remove_prefix(std::min(bytes.find_first_not_of(kWhiteSpace), bytes.size()));
    if (bytes.empty()) return true;
    form_ = bytes.front() == '{' || bytes.front() == '[' ? Form::Whole : Form::Stream;
  }
  has_bytes_ = has_bytes_ || !bytes.empty();
  if (failure_ || is_done_) return false;
  if (form_ == Form::Whole) {
    if (bytes.size() > kEventBytesMax - whole_.size()) {
      fail_with(ProtocolFault::TooLarge);
    } else {
      whole_ += bytes;
    }
  } else if (!parser_.feed(bytes, [&](SseItem&& item) { read_item(item, on_event); })) {
    fail_with(ProtocolFault::TooLarge);
  }
  return !failure_ && !is_done_;
}

Result<chat::GeneratedStep, Failure> BodyDecoder::finish(BodyEnd end, const EventCallback& on_event) {
  if (!failure_ && !is_done_ && end == BodyEnd::Clean) {
    if (form_ == Form::Whole) read_collected(on_event);
    if (form_ == Form::Stream) parser_.finish([&](SseItem&& item) { read_item(item, on_event); });
  }
  if (!failure_) end_parts(on_event);
  if (!failure_) failure_ = failure_at_end(end);
  if (failure_) return fail(*std::move(failure_));
  return take_step();
}

void BodyDecoder::read_item(const SseItem& item, const EventCallback& on_event) {
  if (failure_ || is_done_) return;
  if (const auto* event = std::get_if<SseEvent>(&item)) {
    read_data(*event, on_event);
  } else {
    on_event(KeepAlive{});
  }
}

void BodyDecoder::read_data(const SseEvent& event, const EventCallback& on_event) {
  const std::string_view data = trim(event.data);
  if (data.empty()) {
    on_event(KeepAlive{});
    return;
  }
  if (data == kDone) return read_done(on_event);
  has_events_ = true;
  const auto document = json::Document::parse(std::string(data), kWireCaps, json::Dialect::Lenient);
  if (!document) return fail_with_unreadable(event);
  read_event(event, document->root(), on_event);
}

void BodyDecoder::read_done(const EventCallback& /*on_event*/) {
  has_events_ = true;
  is_done_ = true;
}

void BodyDecoder::read_collected(const EventCallback& on_event) {
  has_events_ = true;
  const auto document = json::Document::parse(std::move(whole_), kWireCaps, json::Dialect::Lenient);
  if (!document) return fail_with(ProtocolFault::Malformed);
  read_whole(document->root(), on_event);
}

void BodyDecoder::fail_with(Failure failure) {
  if (!failure_) failure_ = std::move(failure);
}

void BodyDecoder::fail_with_unreadable(const SseEvent& event) {
  fail_with(event.type == "error"   ? ProtocolFault::Aborted
            : event.is_unterminated ? ProtocolFault::NoTerminal
                                    : ProtocolFault::Malformed);
}

Failure BodyDecoder::failure_without_terminal(BodyEnd end, bool has_parts) const {
  if (end == BodyEnd::Cut && !is_done_) return failure_from_transport(options_.provider, TransportFault::Cut);
  const auto fault = [&](ProtocolFault kind) { return failure_from_protocol(options_.provider, kind); };
  if (has_parts) return fault(ProtocolFault::NoTerminal);
  return fault(has_bytes_ && !has_events_ ? ProtocolFault::Malformed : ProtocolFault::Empty);
}

}  // namespace assay::providers

#pragma once
// For the decoders' fuzz targets: a provider's answer, whole and cut into pieces, must be the same to a decoder.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "providers/wire.h"

namespace assay::fuzz {

struct Seen {
  std::vector<providers::Event> events;
  std::optional<chat::GeneratedStep> step;
  friend bool operator==(const Seen&, const Seen&) = default;
};

inline Seen read(providers::Decoder& decoder, std::string_view bytes, std::size_t piece) {
  Seen seen;
  const auto keep = [&](const providers::Event& event) { seen.events.push_back(event); };
  bool goes_on = true;
  for (std::size_t at = 0; goes_on && at < bytes.size(); at += piece)
    goes_on = decoder.feed(bytes.substr(at, piece), keep);
  auto step = decoder.finish(providers::BodyEnd::Clean, keep);
  if (step) seen.step = std::move(*step);
  return seen;
}

// The first byte says how long the pieces are.
template <class MakeDecoder>
int check_any_cut(const std::uint8_t* data, std::size_t size, MakeDecoder make_decoder) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = std::max<std::size_t>(data[0], 1);
  auto whole = make_decoder();
  auto cut = make_decoder();
  ASSAY_CHECK(read(whole, bytes, bytes.size()) == read(cut, bytes, piece), "where the bytes are cut changes nothing");
  return 0;
}

}  // namespace assay::fuzz

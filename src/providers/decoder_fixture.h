#pragma once
// For the decoders' tests: what an answer came to, and that it comes to the same however its bytes are cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "providers/wire.h"

namespace assay::providers {

inline constexpr std::size_t kFinalizerBytesMax = 64;

struct Answer {
  std::vector<Event> events;
  std::optional<chat::GeneratedStep> step;
  std::optional<Failure> failure;
};

template <typename WireDecoder>
Answer decode_pieces(const std::vector<std::string_view>& pieces, std::optional<std::int64_t> cap = std::nullopt,
                     BodyEnd end = BodyEnd::Clean) {
  WireDecoder decoder({.provider = "p", .output_tokens_max = cap, .capped_tools = {{"submit", kFinalizerBytesMax}}});
  Answer answer;
  const EventCallback on_event = [&](const Event& event) { answer.events.push_back(event); };
  for (const std::string_view piece : pieces) decoder.feed(piece, on_event);
  auto outcome = decoder.finish(end, on_event);
  if (outcome) {
    answer.step = std::move(*outcome);
  } else {
    answer.failure = std::move(outcome.error());
  }
  return answer;
}

inline void expect_same(const Answer& left, const Answer& right) {
  EXPECT_EQ(left.events, right.events);
  EXPECT_EQ(left.step, right.step);
  ASSERT_EQ(left.failure.has_value(), right.failure.has_value());
  if (left.failure) EXPECT_EQ(left.failure->error, right.failure->error);
}

template <typename WireDecoder>
void expect_the_same_for_every_split(std::span<const std::string> bodies) {
  for (const std::string& body : bodies) {
    const Answer whole = decode_pieces<WireDecoder>({body});
    for (std::size_t at = 0; at <= body.size(); ++at) {
      const std::string_view view = body;
      expect_same(decode_pieces<WireDecoder>({view.substr(0, at), view.substr(at)}), whole);
      ASSERT_FALSE(testing::Test::HasFailure()) << body << "\nsplit at " << at;
    }
  }
}

template <typename WireDecoder>
void expect_the_same_for_random_pieces(std::span<const std::string> bodies) {
  SeededRandom random(7);
  for (const std::string& body : bodies) {
    const Answer whole = decode_pieces<WireDecoder>({body});
    for (int round = 0; round < 200; ++round) {
      std::vector<std::string_view> pieces;
      std::string_view rest = body;
      while (!rest.empty()) {
        const std::size_t size = std::min<std::size_t>(rest.size(), random.below(9));
        pieces.push_back(rest.substr(0, size));
        rest.remove_prefix(size);
      }
      expect_same(decode_pieces<WireDecoder>(pieces), whole);
      ASSERT_FALSE(testing::Test::HasFailure()) << body;
    }
  }
}

}  // namespace assay::providers

#include "json/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "json/characters.h"
#include "json/utf8.h"

namespace assay::json {
namespace {

class JsonKernel : public testing::TestWithParam<Kernel> {};

INSTANTIATE_TEST_SUITE_P(All, JsonKernel, testing::ValuesIn(kernels().begin(), kernels().end()),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

struct Found {
  std::vector<std::uint32_t> tokens;
  bool in_string = false;
  bool controls = false;
  bool high = false;

  friend bool operator==(const Found&, const Found&) = default;
};

// By the definition, byte by byte.
Found expected(std::string_view text) {
  Found found;
  bool escaped = false;
  bool in_scalar = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_quote = c == '"' && !escaped;
    const bool is_escape = c == '\\' && !escaped;
    escaped = is_escape;
    found.high |= static_cast<unsigned char>(c) >= 0x80;
    found.controls |= found.in_string && static_cast<unsigned char>(c) < 0x20;
    bool begins = is_quote;
    bool scalar = false;
    if (found.in_string) {
      begins |= is_escape;
    } else if (!is_quote && !is_space(c)) {
      scalar = !std::string_view("{}[]:,").contains(c);
      begins = !scalar || !in_scalar;
    }
    in_scalar = scalar;
    if (begins) found.tokens.push_back(static_cast<std::uint32_t>(i));
    if (is_quote) found.in_string = !found.in_string;
  }
  return found;
}

// In windows of `blocks` blocks. Both buffers end where the text does, which AddressSanitizer watches.
Found found_by(const Kernel& kernel, std::string_view text, std::size_t blocks) {
  const std::vector<char> from(text.begin(), text.end());
  std::vector<char> to(text.size());
  const bool copies = blocks % 2 == 0;
  std::vector<std::uint32_t> tokens(text.size() + kTokenSlack);
  std::uint32_t* end = tokens.data();
  BlockState state;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = std::min(text.size() - at, blocks * kBlockBytes);
    end = kernel.find_tokens(state, from.data() + at, copies ? to.data() + at : nullptr, bytes,
                             static_cast<std::uint32_t>(at), end);
    at += bytes;
  }
  EXPECT_EQ(to, copies ? from : std::vector<char>(text.size()));
  tokens.resize(static_cast<std::size_t>(end - tokens.data()));
  return {tokens, state.in_string != 0, state.controls != 0, state.high != 0};
}

TEST_P(JsonKernel, FindsTokensAsTheyAreDefined) {
  constexpr std::string_view kPieces[] = {
      "\"",    "\\",   "\\\\", "\\\"", "{",    "}",        "[",     "]",
      ":",     ",",    " ",    "\n",   "\t",   "\r",       "1",     "a",
      "-",     "\x1f", "\x7f", "\x80", "\xe2", "\"key\":", "true,", "0123456789abcdefghijklmnopqrstuvwxyz",
      "      "};
  SeededRandom random(31);
  for (int round = 0; round < 6000; ++round) {
    std::string text;
    for (std::uint64_t left = random.below(100); left > 0; --left) text += kPieces[random.below(std::size(kPieces))];
    if (random.below(4) == 0) text += '\0';
    const Found want = expected(text);
    ASSERT_EQ(found_by(GetParam(), text, 1 + random.below(4)), want) << text;
  }
}

TEST_P(JsonKernel, ClassifiesEveryByteInEveryPlace) {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t place = 0; place < kBlockBytes; ++place) {
      for (const char around : {'x', ' '}) {
        std::string text(kBlockBytes, around);
        text[place] = static_cast<char>(byte);
        ASSERT_EQ(found_by(GetParam(), text, 1), expected(text)) << byte << " at " << place;
      }
    }
  }
}

TEST_P(JsonKernel, CarriesRunsOfBackslashesOverBlocks) {
  for (std::size_t before = 0; before < 70; ++before) {
    for (std::size_t run = 0; run < 70; ++run) {
      const std::string text = "\"" + std::string(before, 'x') + std::string(run, '\\') + "\", \"y\"";
      ASSERT_EQ(found_by(GetParam(), text, 1), expected(text)) << before << " " << run;
    }
  }
}

TEST_P(JsonKernel, WritesLittleBehindTheLastToken) {
  constexpr std::uint32_t kUntouched = 0xFFFFFFFF;
  for (std::size_t bytes = 1; bytes <= 2 * kBlockBytes; ++bytes) {
    for (std::size_t brackets = 0; brackets <= bytes; ++brackets) {
      const std::string text = std::string(bytes - brackets, ' ') + std::string(brackets, '[');
      std::vector<std::uint32_t> tokens(bytes + kTokenSlack + kBlockBytes, kUntouched);
      BlockState state;
      GetParam().find_tokens(state, text.data(), nullptr, bytes, 0, tokens.data());
      const std::span<const std::uint32_t> behind = std::span(tokens).subspan(bytes + kTokenSlack);
      ASSERT_TRUE(std::ranges::all_of(behind, [](std::uint32_t token) { return token == kUntouched; }))
          << brackets << " of " << bytes;
    }
  }
}

TEST_P(JsonKernel, KnowsUtf8) {
  constexpr std::string_view kPieces[] = {
      "a",          "0123456789abcdef", "\u00e9", "\u20ac",   "\uFFFD",   "\U0001F600", "\uD7FF",   "\uE000",
      "\U00010000", "\U0010FFFF",       "\u0080", "\u0800",   "\xe2",     "\x82\xac",   "\xf0\x9f", "\x80",
      "\xed\xa0",   "\xf4\x90",         "\xc1",   "\xe0\x9f", "\xf0\x8f", "\xf5",       "\xff"};
  SeededRandom random(32);
  std::size_t valid = 0;
  for (int round = 0; round < 6000; ++round) {
    const std::size_t variety = random.below(2) == 0 ? 12 : std::size(kPieces);
    std::string text;
    for (std::uint64_t left = random.below(60); left > 0; --left) text += kPieces[random.below(variety)];
    if (random.below(3) == 0) text.resize(random.below(text.size() + 1));
    const std::vector<char> exact(text.begin(), text.end());
    const bool want = first_invalid_utf8(text) == std::string_view::npos;
    ASSERT_EQ(GetParam().is_utf8({exact.data(), exact.size()}), want) << text;
    valid += want ? 1 : 0;
  }
  EXPECT_GT(valid, 1500U);
}

TEST_P(JsonKernel, SeesEveryFaultOfUtf8InEveryPlace) {
  for (const std::string_view bad :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3\xa9\xa9", "\xe2\x82\xac\x80"}) {
    for (std::size_t before = 0; before < 140; ++before) {
      for (const std::size_t after : {0, 1, 70}) {
        const std::string text = std::string(before, 'x') + std::string(bad) + std::string(after, 'x');
        ASSERT_FALSE(GetParam().is_utf8(text)) << before << " " << after << " " << bad;
      }
    }
  }
}

TEST(JsonKernels, AlwaysHaveThePortableOne) {
  ASSERT_FALSE(kernels().empty());
  EXPECT_EQ(kernels().back().name, "portable");
}

}  // namespace
}  // namespace assay::json

#include "json/utf8.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "base/random.h"

namespace assay::json {
namespace {

constexpr std::size_t kValid = std::string_view::npos;

// By the definition, not by a table: decode, then check range and shortest form.
bool is_scalar_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return false;
  const std::size_t bytes = byte(0) < 0x80       ? 1
                            : byte(0) >> 5 == 6  ? 2
                            : byte(0) >> 4 == 14 ? 3
                            : byte(0) >> 3 == 30 ? 4
                                                 : 0;
  if (bytes == 0 || text.size() != bytes) return false;
  char32_t scalar = bytes == 1 ? byte(0) : byte(0) & (0x7F >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (byte(i) >> 6 != 2) return false;
    scalar = scalar << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  return scalar >= kLeast[bytes] && scalar <= 0x10FFFF && (scalar < 0xD800 || scalar > 0xDFFF);
}

TEST(JsonUtf8, WritesAndAcceptsEveryScalarValue) {
  for (char32_t scalar = 0; scalar <= 0x10FFFF; ++scalar) {
    if (scalar >= 0xD800 && scalar < 0xE000) continue;
    char bytes[4];
    const std::string_view text(bytes, static_cast<std::size_t>(write_utf8(scalar, bytes) - bytes));
    ASSERT_TRUE(is_scalar_sequence(text)) << static_cast<std::uint32_t>(scalar);
    ASSERT_EQ(first_invalid_utf8(text), kValid) << static_cast<std::uint32_t>(scalar);
    ASSERT_EQ(utf8_sequence_bytes(text), text.size()) << static_cast<std::uint32_t>(scalar);
  }
}

TEST(JsonUtf8, JudgesEverySequenceOfThreeBytes) {
  for (unsigned a = 0x80; a < 0x100; ++a) {
    for (unsigned b = 0; b < 0x100; b += b < 0x70 ? 0x70 : 1) {
      for (unsigned c = 0; c < 0x100; c += c < 0x70 ? 0x70 : 1) {
        const char bytes[] = {static_cast<char>(a), static_cast<char>(b), static_cast<char>(c)};
        const std::string_view text(bytes, 3);
        std::size_t at = 0;
        while (at < 3) {
          std::size_t good = 0;
          for (std::size_t n = 1; n <= 3 - at; ++n) {
            if (is_scalar_sequence(text.substr(at, n))) good = n;
          }
          if (good == 0) break;
          at += good;
        }
        ASSERT_EQ(first_invalid_utf8(text), at == 3 ? kValid : at) << a << " " << b << " " << c;
      }
    }
  }
}

TEST(JsonUtf8, FindsTheFirstFaultAnywhereInALongText) {
  const std::string plain = "0123456789abcdef\u00e9\u20ac\U0001F600 0123456789abcdef 0123456789abcdef 0123456789abcdef";
  ASSERT_EQ(first_invalid_utf8(plain), kValid);
  for (std::size_t at = 0; at <= plain.size(); ++at) {
    if (at < plain.size() && (static_cast<unsigned char>(plain[at]) & 0xC0) == 0x80) continue;
    for (const char* bad :
         {"\x80", "\xc1\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x80", "\xe2\x82", "\xff"}) {
      std::string text = plain;
      text.insert(at, bad);
      ASSERT_EQ(first_invalid_utf8(text), at) << bad;
    }
  }
}

TEST(JsonUtf8, JudgesRandomTextsAsSequenceBySequence) {
  SeededRandom random(21);
  constexpr std::string_view kPieces[] = {"a",    "0123456789abcdef", "\u00e9",   "\u20ac", "\uFFFD",   "\U0001F600",
                                          "\xe2", "\x82\xac",         "\xf0\x9f", "\x80",   "\xed\xa0", "\xf4",
                                          "\xc1"};
  std::size_t valid = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t variety = random.below(2) == 0 ? 6 : std::size(kPieces);
    std::string text;
    for (std::uint64_t left = random.below(60); left > 0; --left) text += kPieces[random.below(variety)];
    if (random.below(3) == 0) text.resize(random.below(text.size() + 1));
    std::size_t expected = kValid;
    for (std::size_t at = 0; at < text.size() && expected == kValid;) {
      const std::size_t bytes = utf8_sequence_bytes(std::string_view(text).substr(at));
      if (bytes == 0) expected = at;
      at += bytes;
    }
    ASSERT_EQ(first_invalid_utf8(text), expected) << round;
    valid += expected == kValid ? 1 : 0;
  }
  EXPECT_GT(valid, 5000U);
}

TEST(JsonUtf8, MeasuresIllFormedParts) {
  EXPECT_EQ(utf8_ill_formed_bytes("\x80"), 1U);
  EXPECT_EQ(utf8_ill_formed_bytes("\xe2\x82"), 2U);
  EXPECT_EQ(utf8_ill_formed_bytes("\xe2\x82x"), 2U);
  EXPECT_EQ(utf8_ill_formed_bytes("\xed\xa0\x80"), 1U);
  EXPECT_EQ(utf8_ill_formed_bytes("\xf0\x9f\x98"), 3U);
}

}  // namespace
}  // namespace assay::json

#include "schema/bit_automaton.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <string>

#include "base/random.h"

namespace assay::schema {
namespace {

BitAutomaton automaton(std::string_view expression) {
  const auto syntax = read_pattern(expression);
  EXPECT_TRUE(syntax) << expression;
  EXPECT_LE(syntax->positions(), BitAutomaton::kPositionsMax) << expression;
  return BitAutomaton(*syntax);
}

bool found(std::string_view expression, std::string_view text) { return automaton(expression).found_in(text); }

TEST(BitAutomaton, SearchesUnanchored) {
  EXPECT_TRUE(found("b", "abc"));
  EXPECT_FALSE(found("x", "abc"));
  EXPECT_TRUE(found("a|x", "xyz"));
  EXPECT_TRUE(found("c$", "abc"));
  EXPECT_FALSE(found("b$", "abc"));
  EXPECT_TRUE(found("^a|^x|z$", "aqz"));
  EXPECT_FALSE(found("^(?:ab|c)$", "abc"));
}

TEST(BitAutomaton, KnowsTheEmptyText) {
  for (const char* everywhere : {"", "a*", "a|", "(|a)$", "^a?", "^|x"}) {
    EXPECT_TRUE(found(everywhere, "")) << everywhere;
    EXPECT_TRUE(found(everywhere, "bcd")) << everywhere;
  }
  EXPECT_TRUE(found("^$|^a$", ""));
  EXPECT_FALSE(found("^$|^a$", "b"));
  EXPECT_FALSE(found("^a+$", ""));
}

TEST(BitAutomaton, ReadsCodePoints) {
  EXPECT_TRUE(found("^[\u00E0-\u00FC]{2}$", "\u00E4\u00FC"));
  EXPECT_FALSE(found("^[\u00E0-\u00FC]+$", "\u00E4\u00FD"));
  EXPECT_TRUE(found("^[^\u4E2D]+$", "a\U0001F432"));
  EXPECT_FALSE(found("[^\u4E2D]", "\u4E2D\u4E2D"));
  EXPECT_TRUE(found("\U0001F432.\u00DF$", "x\U0001F432-\u00DF"));
  EXPECT_TRUE(found("(?i)stra[k]e", "\u017FTRA\u212AE"));
}

TEST(BitAutomaton, WorksAtTheLimitsOfItsWords) {
  for (const int positions : {1, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256}) {
    const std::string count = std::to_string(positions);
    const std::string exact(static_cast<std::size_t>(positions), 'a');
    EXPECT_TRUE(found("^a{" + count + "}$", exact)) << count;
    EXPECT_FALSE(found("^a{" + count + "}$", exact + "a")) << count;
    EXPECT_TRUE(found("^(a?){" + count + "}$", exact)) << count;
    EXPECT_FALSE(found("^(a?){" + count + "}$", exact + "a")) << count;
    EXPECT_TRUE(
        found("^(a|b){" + std::to_string((positions + 1) / 2) + "}$", exact.substr(0, exact.size() - positions / 2)));
  }
}

// Many small expressions out of everything that is read, and texts that come near them.
class Maker {
 public:
  explicit Maker(SeededRandom& random) : random_(random) {}

  std::string expression() {
    const char* flags[] = {"", "", "", "(?i)", "(?s)", "(?is)"};
    std::string text = one_of(flags);
    for (std::uint64_t count = 1 + random_.below(3); count > 0; --count) {
      if (random_.below(3) == 0) text += "^";
      text += sequence(2);
      if (random_.below(3) == 0) text += "$";
      if (count > 1) text += "|";
    }
    return text;
  }

  std::string text() {
    const char* pieces[] = {"a",  "b",      "k",      "S",      "1",      "-",         " ",
                            "\n", "\u00E4", "\u017F", "\u212A", "\u4E2D", "\U0001F432"};
    std::string made;
    for (std::uint64_t count = random_.below(8); count > 0; --count) made += one_of(pieces);
    return made;
  }

 private:
  template <std::size_t Size>
  std::string one_of(const char* (&choices)[Size]) {
    return choices[random_.below(Size)];
  }

  std::string sequence(int depth) {
    const char* repetitions[] = {"", "", "", "", "*", "+", "?", "{2}", "{0,2}", "{1,}", "{2,4}?", "*?", "+?", "{0}"};
    std::string made;
    for (std::uint64_t count = random_.below(4); count > 0; --count) made += atom(depth) + one_of(repetitions);
    return made;
  }

  std::string atom(int depth) {
    const char* atoms[] = {"a",
                           "b",
                           "k",
                           "S",
                           "1",
                           ".",
                           "\\d",
                           "\\D",
                           "\\w",
                           "\\W",
                           "\\s",
                           "\\S",
                           "[ab]",
                           "[^a]",
                           "[a-k]",
                           "[-b]",
                           "[^\\w]",
                           "[\\W1]",
                           "\\-",
                           "\u00E4",
                           "[\u00E4\u4E2D]",
                           "[^\u0100-\uFFFF]",
                           "[a-\u00E4]"};
    if (depth == 0 || random_.below(4) != 0) return one_of(atoms);
    std::string group = random_.below(2) == 0 ? "(" : "(?:";
    group += sequence(depth - 1);
    if (random_.below(2) == 0) group += "|" + sequence(depth - 1);
    return group + ")";
  }

  SeededRandom& random_;
};

TEST(BitAutomaton, AgreesWithRe2) {
  SeededRandom random(3);
  Maker maker(random);
  int read = 0;
  int hits = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::string expression = maker.expression();
    const auto syntax = read_pattern(expression);
    if (!syntax) continue;
    ++read;
    const re2::RE2 re2(expression, re2::RE2::Quiet);
    ASSERT_TRUE(re2.ok()) << expression;
    const BitAutomaton automaton(*syntax);
    for (int i = 0; i < 20; ++i) {
      const std::string text = maker.text();
      const bool expected = re2::RE2::PartialMatch(text, re2);
      EXPECT_EQ(automaton.found_in(text), expected) << expression << "\n" << text;
      hits += expected ? 1 : 0;
    }
  }
  EXPECT_GT(read, 1500);
  EXPECT_GT(hits, 5000);
}

}  // namespace
}  // namespace assay::schema

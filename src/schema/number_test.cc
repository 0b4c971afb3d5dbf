#include "schema/number.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace assay::schema {
namespace {

TEST(ShortDecimal, ReadsUpToEighteenDigitsWithoutAnExponent) {
  EXPECT_EQ(short_decimal("-12.340"), (ShortDecimal{-12340, 3}));
  EXPECT_EQ(short_decimal("0.00000000000000001")->mantissa, 1);
  EXPECT_EQ(short_decimal("-0.0")->mantissa, 0);
  EXPECT_EQ(short_decimal("999999999999999999")->mantissa, 999'999'999'999'999'999);
  EXPECT_TRUE(short_decimal("-9.99999999999999999"));
  for (const char* literal : {"1e2", "1E0", "1000000000000000000", "0.000000000000000001", "1.0e1"}) {
    EXPECT_FALSE(short_decimal(literal)) << literal;
  }
}

// The detour for long numbers is the judge of the short way.
TEST(ShortDecimal, ComparesAndDividesAsExactDecimals) {
  SeededRandom random(31);
  const auto literal = [&] {
    std::string text = random.below(3) == 0 ? "-" : "";
    text += std::to_string(random.below(3) == 0 ? random.below(1'000'000'000'000) : random.below(40));
    if (random.below(2) == 0) {
      text += '.';
      for (std::uint64_t left = 1 + random.below(6); left > 0; --left)
        text += static_cast<char>('0' + random.below(2) * 5);
    }
    return text;
  };
  int equal = 0;
  int multiples = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string left = literal();
    const std::string right = literal();
    ASSERT_TRUE(short_decimal(left)) << left;
    NumberView number(left);
    const std::strong_ordering expected = exact(left) <=> exact(right);
    EXPECT_EQ(Bound(right).compare(number), expected) << left << ' ' << right;
    EXPECT_EQ(number.is_integer(), exact(left).is_integer()) << left;
    equal += expected == 0 ? 1 : 0;
    if (right.front() == '-' || exact(right).is_zero()) continue;
    const bool is_multiple = exact(left).is_multiple_of(exact(right));
    EXPECT_EQ(Factor(right).divides(number), is_multiple) << left << ' ' << right;
    multiples += is_multiple ? 1 : 0;
  }
  EXPECT_GT(equal, 20);
  EXPECT_GT(multiples, 200);
}

TEST(NumberView, MixesShortAndLongNumbers) {
  NumberView tenth("0.1");
  EXPECT_EQ(Bound("1e-1").compare(tenth), std::strong_ordering::equal);
  EXPECT_EQ(Bound("0.1000000000000000000000001").compare(tenth), std::strong_ordering::less);
  NumberView large("1e20");
  EXPECT_TRUE(large.is_long());
  EXPECT_TRUE(Factor("0.3").divides(tenth) == false && Factor("0.1").divides(large));
}

}  // namespace
}  // namespace assay::schema

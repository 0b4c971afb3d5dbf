#include "json/decimal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/random.h"

namespace assay::json {
namespace {

Decimal dec(std::string_view literal) {
  const auto decimal = Decimal::parse(literal);
  if (!decimal) throw std::runtime_error("no decimal: " + std::string(literal));
  return *decimal;
}

Document doc(std::string text) { return *Document::parse(std::move(text), {}, Dialect::Lenient); }

TEST(JsonDecimal, EqualsWhateverTheSpelling) {
  for (const char* one : {"1", "1.0", "1.000", "10e-1", "0.1E1", "1e0", "1e-0", "100e-2"}) {
    EXPECT_EQ(dec(one), dec("1")) << one;
    EXPECT_EQ(dec(one).hash(7), dec("1").hash(7)) << one;
  }
  for (const char* zero : {"0", "-0", "0.0", "-0.0e5", "0e1024", "-0e-1024"}) {
    EXPECT_EQ(dec(zero), dec("0")) << zero;
    EXPECT_EQ(dec(zero).hash(7), dec("0").hash(7)) << zero;
    EXPECT_FALSE(dec(zero).is_negative()) << zero;
  }
  EXPECT_NE(dec("1"), dec("-1"));
  EXPECT_NE(dec("1"), dec("10"));
  EXPECT_NE(dec("9007199254740993"), dec("9007199254740992"));
}

TEST(JsonDecimal, OrdersExactly) {
  const char* ascending[] = {"-1e1024",
                             "-9007199254740993",
                             "-9007199254740992",
                             "-1.1",
                             "-1",
                             "-1e-1024",
                             "0",
                             "1e-1024",
                             "2e-1024",
                             "0.1",
                             "0.10001",
                             "0.3",
                             "1",
                             "1.5",
                             "9.99",
                             "10",
                             "99",
                             "100",
                             "100.00001",
                             "9007199254740992",
                             "9007199254740993",
                             "1e400",
                             "1.5e400",
                             "9.99e1023",
                             "1e1024"};
  for (std::size_t i = 0; i < std::size(ascending); ++i) {
    for (std::size_t j = 0; j < std::size(ascending); ++j) {
      EXPECT_EQ(dec(ascending[i]) <=> dec(ascending[j]), i <=> j) << ascending[i] << " " << ascending[j];
    }
  }
}

TEST(JsonDecimal, KnowsIntegers) {
  for (const char* integer : {"0", "-0.0", "1", "1.0", "1e2", "1.5e1", "-20", "1e1024", "12300e-2"}) {
    EXPECT_TRUE(dec(integer).is_integer()) << integer;
  }
  for (const char* fraction : {"0.1", "1.5", "1e-1", "12345e-2", "-1e-1024"}) {
    EXPECT_FALSE(dec(fraction).is_integer()) << fraction;
  }
}

TEST(JsonDecimal, DividesExactly) {
  const std::string nines(128, '9');
  struct Case {
    std::string value;
    std::string divisor;
    bool multiple;
  };
  const Case cases[] = {
      {"0.3", "0.1", true},
      {"0.0075", "0.0001", true},
      {"0.00751", "0.0001", false},
      {"35", "1.5", false},
      {"4.5", "1.5", true},
      {"-4.5", "1.5", true},
      {"4.5", "-1.5", true},
      {"0", "0.7", true},
      {"1e308", "0.123456789", false},
      {"12391239123", "1e-8", true},
      {"1e1024", "1e-1024", true},
      {"1e-1024", "1e1024", false},
      {"1e1024", "3e-1024", false},
      {"3e1024", "3e-1024", true},
      {"1e1024", "7e-1024", false},
      {"1e1024", "1024e-1024", true},
      {nines, "9", true},
      {nines, nines, true},
      {nines, "11", true},
      {nines, "7", false},
      {nines, "2", false},
      {"1e1024", nines, false},
      {"9007199254740993", "2", false},
      {"9007199254740992", "9007199254740993", false},
      {"18446744073709551616", "4294967296", true},
      {"18446744073709551616e3", "18446744073709551616", true},
      {"340282366920938463463374607431768211457", "340282366920938463463374607431768211456", false},
      {"1e30", "1073741824", true},
      {"1e29", "1073741824", false},
      {"2e29", "1073741824", true},
      {"5e29", "1073741824", false},
      {"1e31", "2147483648", true},
      {"1e13", "1220703125", true},
      {"1e12", "1220703125", false},
      {"25e11", "1220703125", true},
      {"1220703125", "1220703125e-1024", true},
      {"3e40", "3298534883328", true},
      {"3e39", "3298534883328", false},
      {"1e40", "3298534883328", false},
      {"1", "0", false},
      {"0", "0", true},
  };
  for (const Case& c : cases)
    EXPECT_EQ(dec(c.value).is_multiple_of(dec(c.divisor)), c.multiple) << c.value << " / " << c.divisor;
}

// Builds value = divisor × factor (+ 1) in decimal by school arithmetic, independent of the code under test.
std::string times(const std::string& left, const std::string& right) {
  std::string product(left.size() + right.size(), '\0');
  for (std::size_t i = left.size(); i-- > 0;) {
    int carry = 0;
    for (std::size_t j = right.size(); j-- > 0;) {
      const int digit = product[i + j + 1] + (left[i] - '0') * (right[j] - '0') + carry;
      product[i + j + 1] = static_cast<char>(digit % 10);
      carry = digit / 10;
    }
    product[i] = static_cast<char>(product[i] + carry);
  }
  for (char& c : product) c = static_cast<char>(c + '0');
  const std::size_t first = product.find_first_not_of('0');
  return first == std::string::npos ? "0" : product.substr(first);
}

std::string random_digits(Random& random, std::size_t count) {
  std::string digits(1, static_cast<char>('1' + random.below(9)));
  while (digits.size() < count) digits += static_cast<char>('0' + random.below(10));
  return digits;
}

TEST(JsonDecimal, DividesRandomProducts) {
  SeededRandom random(1);
  for (int round = 0; round < 5000; ++round) {
    const std::string divisor = random_digits(random, 1 + random.below(60));
    const std::string factor = random_digits(random, 1 + random.below(60));
    std::string product = times(divisor, factor);
    const std::string scale = "e-" + std::to_string(random.below(1000));
    EXPECT_TRUE(dec(product + scale).is_multiple_of(dec(divisor + scale))) << product << " " << divisor;
    if (product.back() == '9' || divisor == "1") continue;
    ++product.back();
    EXPECT_FALSE(dec(product + scale).is_multiple_of(dec(divisor + scale))) << product << " " << divisor;
  }
}

TEST(JsonDecimal, AgreesWithMachineArithmeticOnSmallNumbers) {
  SeededRandom random(2);
  for (int round = 0; round < 30'000; ++round) {
    const auto value = static_cast<std::int64_t>(random.next() >> random.below(63));
    const auto divisor = static_cast<std::int64_t>(random.next() >> (1 + random.below(62))) + 1;
    const Decimal left = dec(std::to_string(value));
    const Decimal right = dec(std::to_string(divisor));
    ASSERT_EQ(left.is_multiple_of(right), value % divisor == 0) << value << " " << divisor;
    ASSERT_EQ(left <=> right, value <=> divisor) << value << " " << divisor;
  }
}

TEST(JsonDecimal, RefusesWhatIsBeyondTheStrictLimits) {
  EXPECT_TRUE(Decimal::parse(std::string(128, '1')));
  EXPECT_FALSE(Decimal::parse(std::string(129, '1')));
  EXPECT_TRUE(Decimal::parse("1e1024"));
  EXPECT_TRUE(Decimal::parse("1e-0001024"));
  EXPECT_FALSE(Decimal::parse("1e1025"));
  EXPECT_FALSE(Decimal::parse("1e-1025"));
  EXPECT_FALSE(Decimal::parse("1e99999999999999999999"));
  for (const char* bad : {"", "-", "+1", "01", "1.", ".1", "1e", "1e+", "1 ", "0x1", "NaN"}) {
    EXPECT_FALSE(Decimal::parse(bad)) << bad;
  }
}

TEST(JsonToInteger, IsExactForEverySpelling) {
  EXPECT_EQ(to_int64(doc("12").root()), 12);
  EXPECT_EQ(to_int64(doc("12.0").root()), 12);
  EXPECT_EQ(to_int64(doc("1.2e1").root()), 12);
  EXPECT_EQ(to_int64(doc("-120e-1").root()), -12);
  EXPECT_EQ(to_int64(doc("-0").root()), 0);
  EXPECT_EQ(to_int64(doc("0e999999999999").root()), 0);
  EXPECT_EQ(to_int64(doc("1." + std::string(500, '0')).root()), 1);
  EXPECT_EQ(to_int64(doc("9223372036854775807").root()), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(to_int64(doc("9.223372036854775807e18").root()), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(to_int64(doc("-9223372036854775808").root()), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(to_uint64(doc("18446744073709551615").root()), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(to_uint64(doc("-0").root()), 0U);
}

TEST(JsonToInteger, RefusesTheRest) {
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "0.5", "1e-1", "1e19",
                           "1e99999999999999999999", "1e-99999999999999999999", "\"1\"", "null", "true", "[1]"}) {
    EXPECT_FALSE(to_int64(doc(text).root())) << text;
  }
  for (const char* text : {"18446744073709551616", "-1", "99999999999999999999", "1e20"}) {
    EXPECT_FALSE(to_uint64(doc(text).root())) << text;
  }
}

TEST(JsonToDouble, RoundsAndSaturates) {
  EXPECT_EQ(to_double(doc("0.1").root()), 0.1);
  EXPECT_EQ(to_double(doc("-2.5e3").root()), -2500.0);
  EXPECT_EQ(to_double(doc("1e400").root()), std::numeric_limits<double>::infinity());
  EXPECT_EQ(to_double(doc("-1e400").root()), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(to_double(doc("1e-400").root()), 0.0);
  EXPECT_TRUE(std::signbit(*to_double(doc("-1e-400").root())));
  EXPECT_FALSE(to_double(doc("\"1\"").root()));
}

}  // namespace
}  // namespace assay::json
